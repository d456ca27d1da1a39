"""Transfers and new memories: planned without a write, done as one step, taken back as one; what stays is said."""

from pathlib import Path

import pytest

from memtui.agents.known.claude_code import SUBAGENTS
from memtui.engine.model import Address
from memtui.errors import ConflictError, MemtuiError, RefusedError, UsageError
from memtui.features.transfer.model import TakenNames, TransferPlan
from memtui.features.transfer.plan import MemoryFields, TransferOptions, apply, fields_of, plan, plan_new
from tests.features.transfer.agents import ME, Agents, root

TESTING = (
    "---\nname: Testing\ndescription: How tests are wanted\nmetadata:\n  type: feedback\n---\n\nSee [role](role.md).\n"
)
ROLE = "---\nname: Role\ndescription: What the user does\ntype: user\n---\n\nSQL.\n"
INDEX = "# Index\n\n- [Testing](testing.md) — no mocks\n- [Role](role.md) — SQL\n"


def world(tmp_path: Path) -> Agents:
    """Return three agents, one of which has memories."""
    agents = Agents(tmp_path, "claude-code", "qwen-code", "serena")
    agents.lay("claude-code", {"MEMORY.md": INDEX, "testing.md": TESTING, "role.md": ROLE})
    agents.lay("qwen-code", {"MEMORY.md": "* [x.md](x.md): old\n", "x.md": ROLE})
    return agents


def pair(old: str, new: str) -> tuple[Address, Address]:
    """Return the old and the new address."""
    return Address.parse(old), Address.parse(new)


def notes(wanted: TransferPlan) -> list[str]:
    """Return every note about memories."""
    return [f"{note.kind}: {note.text}" for item in wanted.items for note in item.notes]


ONE = pair("claude-code:project/testing.md", "qwen-code:project/testing.md")


def test_a_copy_is_mapped_and_named_in_the_index_in_its_own_style(tmp_path: Path) -> None:
    agents = world(tmp_path)
    before = agents.everything()
    with agents.engine() as engine:
        wanted = plan(engine, [ONE], TransferOptions())
        assert agents.everything() == before
        done = apply(engine, wanted, actor=ME)
        assert done.also == "front matter mapped, 1 line added in qwen-code:project/MEMORY.md"
        assert [str(outcome.new_address) for outcome in done.outcomes] == ["qwen-code:project/testing.md"]
        now = agents.held("qwen-code")
        assert now["testing.md"] == (
            b"---\nname: Testing\ndescription: How tests are wanted\ntype: feedback\n---\n\nSee [role](role.md).\n"
        )
        assert now["MEMORY.md"] == b"* [x.md](x.md): old\n* [testing.md](testing.md): no mocks\n"
        assert agents.held("claude-code") == before["claude-code"]
        assert "note: links that lead nowhere there: role.md" in notes(wanted)
        engine.undo.undo(actor=ME)
    assert agents.everything() == before


def test_a_move_takes_history_along_and_the_line_out_of_the_old_index(tmp_path: Path) -> None:
    agents = world(tmp_path)
    before = agents.everything()
    with agents.engine() as engine:
        engine.watch.reconcile()
        engine.pins.set([ONE[0]], pinned=True, actor=ME)
        done = apply(engine, plan(engine, [ONE], TransferOptions(moving=True)), actor=ME)
        assert all(outcome.ok for outcome in done.outcomes)
        assert agents.held("claude-code") == {
            "MEMORY.md": b"# Index\n\n- [Role](role.md) \xe2\x80\x94 SQL\n",
            "role.md": ROLE.encode(),
        }
        assert "1 link updated" in done.also
        assert engine.rows.get(ONE[1]).pinned
        kept = [engine.history.read(ONE[1], version.sha256) for version in engine.history.of(ONE[1])]
        assert TESTING.encode() in kept
        engine.undo.undo(actor=ME)
        assert agents.everything() == before
        engine.undo.redo(actor=ME)
        assert "testing.md" in agents.held("qwen-code")


def test_what_is_left_behind_is_said_and_stays_in_history(tmp_path: Path) -> None:
    agents = world(tmp_path)
    new = pair("claude-code:project/role.md", "serena:project/role.md")
    with agents.engine() as engine:
        engine.watch.reconcile()
        wanted = plan(engine, [new], TransferOptions(moving=True))
        lost = [text for text in notes(wanted) if text.startswith("left behind")]
        assert [text.split()[2] for text in lost] == ["name:", "type:"]
        apply(engine, wanted, actor=ME)
        assert agents.held("serena") == {"role.md": b"# What the user does\n\nSQL.\n"}
        kept = [engine.history.read(new[1], version.sha256) for version in engine.history.of(new[1])]
        assert ROLE.encode() in kept


def test_memories_go_together_without_the_index_which_is_said(tmp_path: Path) -> None:
    agents = world(tmp_path)
    names = ("MEMORY.md", "testing.md", "role.md")
    pairs = [pair(f"claude-code:project/{name}", f"qwen-code:project/{name}") for name in names]
    with agents.engine() as engine:
        wanted = plan(engine, pairs, TransferOptions(moving=True))
        assert [item.old.path for item in wanted.staying] == ["MEMORY.md"]
        done = apply(engine, wanted, actor=ME)
        assert [outcome.ok for outcome in done.outcomes] == [True, True]
        assert not [text for text in notes(wanted) if "nowhere" in text]
        assert agents.held("claude-code") == {"MEMORY.md": b"# Index\n\n"}
        assert agents.held("qwen-code")["MEMORY.md"].count(b"\n") == 3


def test_as_is_keeps_the_bytes_and_alone_keeps_the_indexes(tmp_path: Path) -> None:
    agents = world(tmp_path)
    index = agents.held("qwen-code")["MEMORY.md"]
    with agents.engine() as engine:
        apply(engine, plan(engine, [ONE], TransferOptions(as_is=True, alone=True)), actor=ME)
    assert agents.held("qwen-code") == {"MEMORY.md": index, "testing.md": TESTING.encode(), "x.md": ROLE.encode()}


def test_a_missing_index_is_made_and_one_that_names_the_memory_stays(tmp_path: Path) -> None:
    agents = Agents(tmp_path, "serena", "claude-code", "memtui")
    agents.lay("serena", {"a.md": "# About\n\nText.\n"})
    with agents.engine() as engine:
        apply(
            engine, plan(engine, [pair("serena:project/a.md", "claude-code:project/b.md")], TransferOptions()), actor=ME
        )
        assert agents.held("claude-code") == {"MEMORY.md": b"- [B](b.md)\n", "b.md": b"# About\n\nText.\n"}
        engine.memories.delete([Address("claude-code:project", "b.md")], actor=ME)
        wanted = plan(engine, [pair("serena:project/a.md", "claude-code:project/b.md")], TransferOptions())
        assert not wanted.indexes


@pytest.mark.parametrize(
    "options",
    [
        TransferOptions(),
        TransferOptions(as_is=True),
        TransferOptions(moving=True),
        TransferOptions(moving=True, as_is=True),
    ],
)
def test_an_index_that_comes_along_as_a_file_gets_the_lines_of_the_others(
    tmp_path: Path, options: TransferOptions
) -> None:
    agents = Agents(tmp_path, "serena", "claude-code")
    agents.lay("serena", {"MEMORY.md": "---\ntitle: T\n---\n- [C](c.md)\n", "a.md": "A\n"})
    before = agents.everything()
    with agents.engine() as engine:
        pairs = [pair(f"serena:project/{name}", f"claude-code:project/{name}") for name in ("MEMORY.md", "a.md")]
        apply(engine, plan(engine, pairs, options), actor=ME)
        assert agents.held("claude-code")["MEMORY.md"].endswith(b"- [C](c.md)\n- [A](a.md)\n")
        engine.undo.undo(actor=ME)
    assert agents.everything() == before


def test_names_get_the_ending_the_agent_reads_unless_they_are_typed(tmp_path: Path) -> None:
    agents = Agents(tmp_path, "serena", "goose")
    agents.lay("serena", {"a.md": "Text.\n"})
    with agents.engine() as engine:
        wanted = plan(engine, [pair("serena:project/a.md", "goose:project/a.md")], TransferOptions())
        assert wanted.items[0].new.path == "a.txt"
        assert "note: named a.txt: Goose reads .txt" in notes(wanted)
        wanted = plan(engine, [pair("serena:project/a.md", "goose:project/a.md")], TransferOptions(fit=False))
        assert wanted.items[0].new.path == "a.md"
        assert "note: Goose reads only names that end in .txt" in notes(wanted)


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("claude-code:project/testing.md", "qwen-code:project/x.md", "E_EXISTS"),
        ("claude-code:project/none.md", "qwen-code:project/none.md", "E_NOT_FOUND"),
        ("claude-code:project/testing.md", "qwen-code:project/a:b.md", "E_NAME"),
        ("claude-code:project/MEMORY.md", "serena:project/MEMORY.md", "E_NAME"),
    ],
)
def test_what_cannot_go_stays_with_a_reason(tmp_path: Path, old: str, new: str, code: str) -> None:
    agents = world(tmp_path)
    before = agents.everything()
    with agents.engine() as engine:
        wanted = plan(engine, [pair(old, new)], TransferOptions(moving=True))
        assert len(wanted.staying) == 1
        with pytest.raises(MemtuiError) as refused:
            apply(engine, wanted, actor=ME)
    assert refused.value.code == code
    assert agents.everything() == before


def test_nothing_happens_when_something_changed_since_the_plan(tmp_path: Path) -> None:
    agents = world(tmp_path)
    with agents.engine() as engine:
        for name in ("claude-code/testing.md", "qwen-code/MEMORY.md"):
            wanted = plan(engine, [ONE], TransferOptions(moving=True))
            old = (tmp_path / name).read_bytes()
            (tmp_path / name).write_bytes(old + b"more\n")
            before = agents.everything()
            with pytest.raises(ConflictError):
                apply(engine, wanted, actor=ME)
            assert agents.everything() == before
            (tmp_path / name).write_bytes(old)


def test_a_swap_of_memories_writes_each_index_once(tmp_path: Path) -> None:
    agents = Agents(tmp_path, "claude-code", "qwen-code")
    agents.lay("claude-code", {"MEMORY.md": "- [A](a.md)\n", "a.md": ROLE})
    agents.lay("qwen-code", {"b.md": ROLE})
    pairs = [
        pair("claude-code:project/a.md", "qwen-code:project/a.md"),
        pair("qwen-code:project/b.md", "claude-code:project/b.md"),
    ]
    with agents.engine() as engine:
        apply(engine, plan(engine, pairs, TransferOptions(moving=True)), actor=ME)
    assert agents.held("claude-code")["MEMORY.md"].startswith(b"- [B](b.md)")
    assert b"a.md" not in agents.held("claude-code")["MEMORY.md"]


def test_several_that_cannot_go_are_refused_as_one(tmp_path: Path) -> None:
    agents = world(tmp_path)
    pairs = [pair(f"claude-code:project/{name}", "qwen-code:project/x.md") for name in ("testing.md", "role.md")]
    with agents.engine() as engine, pytest.raises(UsageError):
        apply(engine, plan(engine, pairs, TransferOptions()), actor=ME)


def test_a_line_below_the_cut_is_said(tmp_path: Path) -> None:
    agents = world(tmp_path)
    agents.lay("qwen-code", {"MEMORY.md": "".join(f"- [x{n}](x{n}.md) — x\n" for n in range(200))})
    with agents.engine() as engine:
        wanted = plan(engine, [ONE], TransferOptions())
    (change,) = wanted.indexes
    assert "testing.md is below the cut: Qwen Code does not load that line." in change.notes
    assert "Qwen Code makes this index anew from the memories." in change.notes


def test_a_type_follows_the_newest_neighbour(tmp_path: Path) -> None:
    agents = Agents(tmp_path, "memtui", "claude-code")
    agents.lay("memtui", {"a.md": ROLE})
    agents.lay("claude-code", {"n.md": TESTING})
    with agents.engine() as engine:
        wanted = plan(engine, [pair("memtui:project/a.md", "claude-code:project/a.md")], TransferOptions())
    assert b"metadata:\n  type: user\n" in wanted.items[0].after


def test_a_read_only_root_refuses(tmp_path: Path) -> None:
    agents = world(tmp_path)
    with agents.engine() as engine:
        wanted = plan(engine, [ONE], TransferOptions())
        assert wanted.going
        engine.roots.add([root("letta", str(tmp_path / "letta"), read_only=True)])
        (tmp_path / "letta").mkdir()
        wanted = plan(engine, [pair("claude-code:project/role.md", "letta:project/role.md")], TransferOptions())
        with pytest.raises(RefusedError):
            apply(engine, wanted, actor=ME)


def test_nothing_is_moved_out_of_a_read_only_root_and_a_copy_is_made(tmp_path: Path) -> None:
    agents = world(tmp_path)
    agents.lay("letta", {"a.md": "a\n"})
    with agents.engine() as engine:
        engine.roots.add([root("letta", str(tmp_path / "letta"), read_only=True)])
        pairs = [pair("letta:project/a.md", "serena:project/a.md")]
        assert [item.problem for item in plan(engine, pairs, TransferOptions(moving=True)).items] == [
            "letta:project is read-only"
        ]
        assert all(outcome.ok for outcome in apply(engine, plan(engine, pairs, TransferOptions()), actor=ME).outcomes)
    assert (agents.held("letta"), agents.held("serena")) == ({"a.md": b"a\n"}, {"a.md": b"a\n"})


def test_an_index_that_is_no_text_gets_no_line(tmp_path: Path) -> None:
    agents = world(tmp_path)
    index = "* [x.md](x.md): old\n".encode("utf-16")
    agents.lay("qwen-code", {"MEMORY.md": index})
    with agents.engine() as engine:
        wanted = plan(engine, [ONE], TransferOptions())
        apply(engine, wanted, actor=ME)
    assert agents.held("qwen-code")["MEMORY.md"] == index
    assert "The index gets no line: it is not UTF-8 text." in [note for one in wanted.indexes for note in one.notes]


def test_no_control_comes_into_an_index(tmp_path: Path) -> None:
    agents = world(tmp_path)
    agents.lay("claude-code", {"MEMORY.md": "", "testing.md": '---\ndescription: "a\\0b\\e[31m"\n---\n\nText.\n'})
    with agents.engine() as engine:
        apply(engine, plan(engine, [ONE], TransferOptions()), actor=ME)
    assert agents.held("qwen-code")["MEMORY.md"] == b"* [x.md](x.md): old\n* [testing.md](testing.md): a b [31m\n"


@pytest.mark.parametrize(
    ("path", "other"),
    [
        ("README.md", ""),
        ("readme.md", "README.md"),
        ("Docs/a.md", ""),
        ("docs/a.md", "Docs"),
        ("Docs/A.md", "Docs/a.md"),
        ("Docs/README.md", ""),
        ("Docs/Deep/a.md", "Docs/deep"),
        ("new/readme.md", ""),
        ("Docs/b.md", ""),
        ("ﬁle.md", "file.md"),
    ],
)
def test_a_name_clashes_with_a_sibling_of_it_or_of_a_folder_above(path: str, other: str) -> None:
    assert TakenNames(["README.md", "Docs/a.md", "Docs/deep/x.md", "file.md"]).clash(path) == other


SHEET = MemoryFields("Build steps", "How it is built", "project")
NAMED = b"name: Build steps\ndescription: How it is built"


@pytest.mark.parametrize(
    ("agent", "path", "head"),
    [
        (
            "claude-code",
            "build-steps.md",
            b"name: Build steps\ndescription: How it is built\nmetadata:\n  type: project",
        ),
        ("qwen-code", "project/build-steps.md", NAMED + b"\ntype: project"),
        ("letta", "build-steps.md", NAMED),
        ("mux", "build-steps.md", b"description: How it is built"),
    ],
)
def test_it_is_as_its_agent_writes_it_and_one_undo_takes_memory_and_line_back(
    tmp_path: Path, agent: str, path: str, head: bytes
) -> None:
    agents = Agents(tmp_path, agent)
    index = {"claude-code": "role.md", "qwen-code": "feedback/role.md"}.get(agent)
    if index:
        agents.lay(agent, {"MEMORY.md": f"- [Role]({index}) - SQL\n", index: "SQL\n"})
    before = agents.everything()
    with agents.engine() as engine:
        kind = "project" if "type" in fields_of(engine.roots.all()[0]) else ""
        found = plan_new(engine, engine.roots.all()[0], "", SHEET._replace(type=kind))
        assert (found.address.path, agents.everything()) == (path, before)
        engine.together.do(found.steps, actor=ME, label="create")
        after = agents.held(agent)
        assert after[path] == b"---\n" + head + b"\n---\n\n"
        lines = after.get("MEMORY.md", b"")
        assert lines.count(b"](" + path.encode() + b")") == (agent != "mux")
        engine.undo.undo(actor=ME)
        assert agents.everything() == before


def test_what_is_made_for_codex_is_a_note_that_it_takes_up(tmp_path: Path) -> None:
    agents = Agents(tmp_path, "codex")
    with agents.engine() as engine:
        found = plan_new(engine, engine.roots.all()[0], "", SHEET)
    assert found.address.path == "extensions/ad_hoc/notes/build-steps.md"
    assert found.changes[0].after.startswith(b"# How it is built")


def test_it_follows_its_neighbours(tmp_path: Path) -> None:
    agents = Agents(tmp_path, "claude-code")
    agents.lay("claude-code", {"feedback_a.md": "---\nname: A\ntype: feedback\n---\n", "user_b.md": "B\n"})
    with agents.engine() as engine:
        memory = plan_new(engine, engine.roots.all()[0], "", SHEET).changes[0]
        assert memory.address.path == "project_build-steps.md"
        assert b"\ntype: project\n" in memory.after
        inside = plan_new(engine, engine.roots.all()[0], "deep", SHEET)
        assert [one.address.path for one in inside.changes] == ["deep/build-steps.md", "MEMORY.md"]
        exact = plan_new(engine, engine.roots.all()[0], "deep", SHEET._replace(name="Odd_name.md"))
        assert exact.address.path == "deep/Odd_name.md"
        assert b"name: Odd_name\n" in exact.changes[0].after


@pytest.mark.parametrize(
    ("name", "code"), [(" ", "E_USAGE"), ("Role", "E_EXISTS"), ("ROLE.md", "E_EXISTS"), ("a/../b.md", "E_NAME")]
)
def test_what_cannot_be_made_is_said(tmp_path: Path, name: str, code: str) -> None:
    agents = Agents(tmp_path, "claude-code")
    agents.lay("claude-code", {"role.md": "SQL\n"})
    with agents.engine() as engine, pytest.raises(MemtuiError) as caught:
        plan_new(engine, engine.roots.all()[0], "", SHEET._replace(name=name))
    assert caught.value.code == code


def test_a_subagents_memory_needs_its_folder(tmp_path: Path) -> None:
    agents = Agents(tmp_path, "claude-code")
    with agents.engine() as engine:
        several = engine.roots.find("claude-code:project")._replace(policy=SUBAGENTS)
        with pytest.raises(MemtuiError, match="several agents"):
            plan_new(engine, several, "", SHEET)
        found = plan_new(engine, several, "reviewer", SHEET)
        assert [one.address for one in found.changes] == [
            Address(several.id, "reviewer/build-steps.md"),
            Address(several.id, "reviewer/MEMORY.md"),
        ]
