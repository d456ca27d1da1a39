"""The form reads what is there, and what is typed becomes exactly those edits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.frontmatter.read import split
from memtui.engine.model import FieldEdit, Policy, Root
from memtui.errors import RefusedError
from memtui.features.edit.form import (
    NAMES,
    Form,
    FormField,
    apply_edits,
    edits,
    form_of,
    join_list,
    preview_parts,
    rebased,
    split_list,
)
from tests.engine.yaml_blocks import block, blocks, values

CLAUDE = Root(
    "claude-code:project", "/m", "claude-code", "project", policy=Policy(types=("user",), whole=("MEMORY.md",))
)
FULL = block("name: n\ndescription: d\nmetadata:\n  type: user\n  node: x\ntags:\n  - a\n  - 'b, c'\nmodified: 2026\n")


def field_of(form: Form, name: str) -> FormField:
    return form.fields[NAMES.index(name)]


def test_it_shows_what_is_there_and_keeps_the_rest() -> None:
    form = form_of(FULL, CLAUDE, "a.md")
    assert [field.value for field in form.fields] == ["n", "d", "user", 'a, "b, c"']
    assert field_of(form, "type").path == ("metadata", "type")
    assert form.others == (("metadata.node", "x"), ("modified", "2026"))
    assert (form.note, form.refusal, form.types) == ("", "", ("user",))


def test_only_what_was_typed_becomes_an_edit() -> None:
    form = form_of(FULL)
    assert edits(form, {}) == ()
    assert edits(form, {"name": "n", "tags": 'a,   "b, c",'}) == ()
    assert edits(form, {"name": " m ", "description": " ", "type": "project", "tags": "a, z"}) == (
        FieldEdit(("name",), "m"),
        FieldEdit(("description",), None),
        FieldEdit(("metadata", "type"), "project"),
        FieldEdit(("tags",), ("a", "z")),
    )
    assert apply_edits(form, {"tags": "a"}) == FULL.replace(b"  - 'b, c'\n", b"")


def test_tags_that_are_one_text_stay_one_text() -> None:
    form = form_of(block("tags: a, b\n"))
    assert not field_of(form, "tags").is_list
    assert apply_edits(form, {"tags": "a, b, c"}) == block("tags: a, b, c\n")
    assert apply_edits(form_of(block("tags:\n")), {"tags": "a, b"}) == block("tags: [a, b]\n")


def test_what_the_form_cannot_edit_is_shown_and_left_alone() -> None:
    form = form_of(block("tags: [a, [b]]\ntype:\n  x: y\ndescription:\n- one\n"))
    assert all(field_of(form, name).refusal for name in ("tags", "type", "description"))
    assert edits(form, {"tags": "z", "type": "z", "description": "z"}) == ()


@pytest.mark.parametrize(
    ("data", "code", "words"),
    [
        (b"---\ndescription: a: b\n---\n", "E_FRONTMATTER", "not valid YAML"),
        (b"---\na: &x b\n---\n", "E_FRONTMATTER_UNSAFE", "anchor"),
        (b"---\n" + b"a: b\n" * 5_000 + b"---\n", "E_FRONTMATTER_TOO_BIG", "larger"),
        (b"---\na: b\na: c\n---\n", "E_FRONTMATTER", "twice"),
        (b"---\na: b\n", "E_FRONTMATTER", "never closed"),
        (b"caf\xe9\n", "E_TEXT", "UTF-8"),
    ],
)
def test_a_block_that_cannot_be_edited_says_why(data: bytes, code: str, words: str) -> None:
    form = form_of(data)
    assert form.code == code
    assert words in form.refusal
    with pytest.raises(RefusedError):
        apply_edits(form, {"name": "x"})


def test_notes_say_what_will_happen() -> None:
    assert "will be added" in form_of(b"text\n").note
    assert "will be added above it" in form_of(b"---\n- a\n---\n").note
    said = form_of(b"text\n", CLAUDE, "MEMORY.md").note
    assert "claude-code reads this file whole" in said
    assert "whole" not in form_of(b"text\n", CLAUDE, "a.md").note
    made = CLAUDE._replace(policy=Policy(generated=("MEMORY.md",)))
    assert "will be overwritten" in form_of(FULL, made, "MEMORY.md").note


def test_what_was_typed_moves_to_a_newer_text() -> None:
    old = form_of(FULL)
    theirs = form_of(FULL.replace(b"name: n", b"name: theirs").replace(b"description: d", b"description: theirs"))
    found = rebased(old, {"description": "mine", "tags": "a"}, theirs)
    assert found.typed == {"name": "theirs", "description": "mine", "type": "user", "tags": "a"}
    assert found.clashes == ("description",)
    assert rebased(old, {"description": "theirs"}, theirs).clashes == ()


def test_a_preview_holds_the_block_and_a_little_below() -> None:
    body = b"".join(b"line %d\n" % number for number in range(5_000))
    before = b"---\nname: n\n---\n" + body
    first, second = preview_parts(before, apply_edits(form_of(before), {"name": "m"}))
    assert first == b"---\nname: n\n---\nline 0\nline 1\nline 2\n"
    assert second == first.replace(b"name: n", b"name: m")
    assert preview_parts(body, apply_edits(form_of(body), {"name": "m"}))[1].startswith(b"---\nname: m\n---\nline 0\n")


@given(st.lists(st.one_of(values, st.text(max_size=6)), max_size=5))
def test_a_list_on_one_line_is_read_as_it_was_written(items: list[str]) -> None:
    assert split_list(join_list(items)) == tuple(items)


def test_a_typed_list_is_read_as_people_mean_it() -> None:
    assert split_list(' a ,b,, "c, d" , e f,') == ("a", "b", "c, d", "e f")
    assert split_list('"open, a') == ('"open', "a")
    assert split_list('say "hi", b') == ('say "hi"', "b")
    assert split_list("") == ()


@given(blocks, values, values)
def test_a_form_on_any_block_changes_its_fields_or_refuses(text: str, name: str, tags: str) -> None:
    data = f"---\n{text}---\nbody".encode()
    form, before = form_of(data), split(data, plain=False)
    try:
        after = split(apply_edits(form, {"name": name, "tags": tags}), plain=False)
    except RefusedError:
        return
    kept = {key: value for key, value in before.fields.items() if key not in ("name", "tags", "metadata")}
    assert {key: value for key, value in after.fields.items() if key not in ("name", "tags", "metadata")} == kept


@pytest.mark.parametrize("text", ["tags: [a, [b]]\n", "tags:\n- a # why\n- b\n", "tags: [\n  a,\n  b\n]\n"])
def test_a_list_that_is_not_plain_is_shown_with_the_reason(text: str) -> None:
    field = field_of(form_of(f"---\n{text}---\n".encode()), "tags")
    assert (field.value, bool(field.refusal)) == ("a, b", True)
    assert not field_of(form_of(b"---\ntags: [a, b]\n---\n"), "tags").refusal
