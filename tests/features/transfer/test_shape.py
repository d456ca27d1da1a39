"""What another agent makes of a memory: its front matter mapped, the body never changed, and a line in its index."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memtui.engine.frontmatter import NONE, Value, read
from memtui.engine.model import Address
from memtui.features.transfer.model import ADDED, KEPT, LOST, MAPPED, SAID, Transfer
from memtui.features.transfer.shape import Hints, Mention, mentions, translate, with_lines
from memtui.pointers.links import parse_index
from tests.features.transfer.agents import POLICIES, root
from tests.growth import growth

NESTED = (
    b"---\nname: Testing\ndescription: How tests are wanted\nmetadata:\n  node_type: memory\n  type: feedback\n"
    b"originSessionId: 4f1c\n---\n\nUse the real store.\n"
)
BODY = b"\nUse the real store.\n"


def kinds(data: bytes, agent: str, path: str = "a.md", hints: Hints | None = None) -> dict[str, list[str]]:
    """Return the notes by kind."""
    found: dict[str, list[str]] = {}
    for note in translate(data, root(agent), path, hints or Hints()).notes:
        found.setdefault(note.kind, []).append(note.text)
    return found


def fields(data: bytes) -> dict[str, Value]:
    """Return the fields of a front matter."""
    return read.split(data).fields


def test_a_nested_type_goes_where_qwen_code_reads_it_and_the_rest_stays() -> None:
    found = translate(NESTED, root("qwen-code"), "a.md")
    assert fields(found.data) == {
        "name": "Testing",
        "description": "How tests are wanted",
        "metadata": {"node_type": "memory"},
        "originSessionId": "4f1c",
        "type": "feedback",
    }
    assert found.data.endswith(b"---\n" + BODY)
    said = kinds(NESTED, "qwen-code")
    assert said[MAPPED] == ["type: feedback (was metadata.type)"]
    assert said[KEPT] == ["metadata, originSessionId, which Qwen Code does not read"]


def test_a_type_is_nested_where_the_neighbours_nest_theirs() -> None:
    data = b"---\nname: A\ndescription: B\ntype: user\n---\nText\n"
    found = translate(data, root("claude-code"), "a.md", Hints(nested=True))
    assert fields(found.data) == {"name": "A", "description": "B", "metadata": {"type": "user"}}
    assert translate(data, root("claude-code"), "a.md", Hints(nested=False)).data == data
    assert translate(data, root("claude-code"), "a.md").data == data


def test_metadata_that_is_no_list_of_fields_stays_beside_a_type_that_would_be_nested() -> None:
    data = b"---\nname: A\ndescription: B\ntype: user\nmetadata: mine\n---\nText\n"
    found = translate(data, root("claude-code"), "a.md", Hints(nested=True))
    assert (found.data, [note.kind for note in found.notes]) == (data, [KEPT])


@pytest.mark.parametrize("agent", ["serena", "codex", "goose"])
def test_front_matter_is_left_behind_where_it_would_be_text_and_every_field_is_said(agent: str) -> None:
    found = translate(NESTED, root(agent), "a.txt")
    entries = agent == "goose"  # whose every paragraph is an entry of its own
    assert found.data == (BODY if entries else b"# How tests are wanted\n\n" + BODY.lstrip())
    lost = [note.text.partition(":")[0] for note in found.notes if note.kind == LOST]
    assert lost == ["name", *["description"] * entries, "metadata", "originSessionId"]


def test_a_description_is_no_second_heading_of_a_text_that_begins_with_it() -> None:
    for body in (b"# A b\n\nText\n", b"A b, and more.\n"):
        data = b"---\ndescription: A b\n---\n" + body
        assert translate(data, root("serena"), "a.md").data == body


def test_mux_reads_a_description_only_and_the_rest_is_kept_and_said() -> None:
    found = translate(NESTED, root("mux"), "a.md")
    assert found.data == NESTED
    assert kinds(NESTED, "mux")[KEPT] == ["name, metadata, originSessionId, which Mux does not read"]


def test_letta_takes_two_fields_and_no_other() -> None:
    found = translate(NESTED, root("letta"), "a.md")
    assert found.data == b"---\nname: Testing\ndescription: How tests are wanted\n---\n" + BODY
    assert len(kinds(NESTED, "letta")[LOST]) == 2


def test_what_is_required_is_made_of_the_index_or_of_the_first_line() -> None:
    plain = b"# Release freeze\n\nNo merges.\n"
    found = translate(plain, root("qwen-code"), "a.md", Hints("Freeze", "no merges after Thursday"))
    assert fields(found.data) == {"name": "Freeze", "description": "no merges after Thursday", "type": "project"}
    assert found.data.endswith(b"---\n" + plain)
    found = translate(plain, root("qwen-code", scope="global"), "a.md")
    assert fields(found.data) == {"name": "Release freeze", "description": "Release freeze", "type": "user"}
    assert {note.kind for note in found.notes} == {ADDED}


def test_plain_text_stays_plain_where_front_matter_is_optional() -> None:
    assert translate(b"Text\n", root("claude-code"), "a.md", Hints("A", "about a")).data == b"Text\n"


def test_other_names_of_fields_are_known() -> None:
    data = b"---\ntitle: Style\nsummary: Tabs\ntype: Project\n---\nText\n"
    found = translate(data, root("claude-code"), "a.md")
    assert fields(found.data) == {
        "title": "Style",
        "summary": "Tabs",
        "type": "project",
        "name": "Style",
        "description": "Tabs",
    }


def test_a_type_nobody_knows_is_kept_where_it_may_stay_and_replaced_where_it_may_not() -> None:
    data = b"---\nname: A\ndescription: B\ntype: gizmo\n---\nText\n"
    assert translate(data, root("claude-code"), "a.md").data == data
    assert kinds(data, "claude-code")[KEPT] == ["type: gizmo, which Claude Code does not know"]
    assert fields(translate(data, root("qwen-code"), "a.md").data)["type"] == "project"
    assert kinds(data, "qwen-code")[ADDED] == ["type: project (Qwen Code does not know gizmo)"]


@pytest.mark.parametrize(
    "data",
    [
        b"---\n- a list\n---\nText\n",
        b"---\na: &x 1\nb: *x\n---\nText\n",
        b"---\nnever closed\n",
        b"---\na: [\n---\nT\n",
    ],
)
@pytest.mark.parametrize("agent", ["qwen-code", "serena", "letta"])
def test_a_block_that_cannot_be_read_stays_and_is_said(data: bytes, agent: str) -> None:
    found = translate(data, root(agent), "a.md")
    assert found.data == data
    assert [note.kind for note in found.notes] == [SAID]


def test_line_ends_and_the_byte_order_mark_stay() -> None:
    data = b"\xef\xbb\xbf---\r\nname: A\r\ndescription: B\r\nmetadata:\r\n  type: user\r\n---\r\nText"
    found = translate(data, root("qwen-code"), "a.md")
    assert found.data == b"\xef\xbb\xbf---\r\nname: A\r\ndescription: B\r\ntype: user\r\n---\r\nText"
    assert translate(data, root("serena"), "a.md").data == b"\xef\xbb\xbf# B\r\n\r\nText"


FIELD = st.sampled_from(["name", "title", "description", "type", "tags", "metadata", "x"])
VALUE = st.sampled_from(["user", "gizmo", "a b", "''", "[a, b]", "\n  type: feedback", "\n  type: x\n  y: z", '"a: b"'])
HEAD = st.lists(st.tuples(FIELD, VALUE), unique_by=lambda pair: pair[0], max_size=5)
TEXT = st.text(st.characters(codec="utf-8"), max_size=40) | st.sampled_from(["---\na: b\n---\n", "", "\n---\n", "\r\n"])


@example(head=[("description", "user")], text="\r", agent="codex", marked=False, nested=None)
@given(HEAD, TEXT, st.sampled_from(sorted(POLICIES)), st.booleans(), st.sampled_from([None, True, False]))
def test_the_body_never_changes_and_a_second_time_changes_nothing(
    head: list[tuple[str, str]],
    text: str,
    agent: str,
    marked: bool,
    nested: bool | None,
) -> None:
    block = "---\n" + "".join(f"{name}: {value}\n" for name, value in head) + "---\n" if head else ""
    data = (b"\xef\xbb\xbf" if marked else b"") + (block + text).encode()
    target = root(agent)
    found = translate(data, target, "a.md", Hints("T", "h", nested))
    body = data[read.split(data).body :]
    assert found.data.endswith(body)
    if found.data != data:
        assert found.notes
    front = read.split(found.data)
    if found.data[front.body :] == body:
        again = translate(found.data, target, "a.md", Hints("T", "h", nested))
        assert again.data == found.data or read.split(body).status != NONE


CLAUDE = root("claude-code")
FEW, MANY = 300, 3_000
MOST = 30
"""How many times as long ten times as many take; a hundred when each line reads the whole index."""


def items(names: list[str]) -> list[Transfer]:
    """Return memories that arrive."""
    return [Transfer(Address("old", name), Address(CLAUDE.id, name), b"", b"Text.\n") for name in names]


def test_only_names_that_cannot_be_written_get_no_line_wherever_they_stand() -> None:
    bad = ["a\u2028b.md", "\udcff.md"]
    good = [f"m{number}.md" for number in range(20)]
    names = [bad[0], *good[:7], bad[1], *good[7:]]
    data, unwritten = with_lines(b"- [x](x.md)\n", "MEMORY.md", CLAUDE, items([*names, "x.md"]), {})
    assert [pointer.path for pointer in parse_index(data, "MEMORY.md")] == ["x.md", *good]
    assert sorted(unwritten) == sorted(bad)
    assert with_lines(data, "MEMORY.md", CLAUDE, items(good), {}) == (data, [])


def test_a_hook_that_would_swallow_the_lines_below_it_does_not() -> None:
    said = {Address("old", "m1.md"): Mention("t", "<!-- `` ``` [a](b.md) -->")}
    names = [f"m{number}.md" for number in range(4)]
    data, unwritten = with_lines(b"", "MEMORY.md", CLAUDE, items(names), said)
    found = {pointer.path for pointer in parse_index(data, "MEMORY.md")}
    assert found & {*names} == {*names} - {*unwritten}


def test_what_the_rest_of_an_index_says_counts_after_the_index() -> None:
    held = {
        "MEMORY.md": b"- [One](a.md) - of a\n",
        "MEMORY-more.md": b"- [Two](a.md) - again\n- [B](b.md) - of b\n",
        "notes-more.md": b"- [C](c.md) - of c\n",
    }
    present = dict.fromkeys((*held, "a.md", "b.md", "c.md"))
    found = mentions(held.__getitem__, CLAUDE.policy, ["a.md", "b.md", "c.md"], present)
    assert found == {"a.md": Mention("One", "of a"), "b.md": Mention("B", "of b")}


def test_the_time_grows_with_the_lines() -> None:
    coming = {size: items([f"m{number}.md" for number in range(size)]) for size in (FEW, MANY)}

    def lines(size: int) -> None:
        data, _ = with_lines(b"", "MEMORY.md", CLAUDE, coming[size], {})
        assert data.count(b"\n") == size

    assert growth(lines, FEW, MANY) < MOST
