"""A new memory: where it goes, what stands in it, and its line in the index, before and after it is made."""

from pathlib import Path

import pytest

from memtui.agents.known.claude_code import SUBAGENTS
from memtui.engine.model import Address
from memtui.errors import MemtuiError
from memtui.features.transfer.new_memory import MemoryFields, fields_of, plan_new
from tests.features.transfer.agents import ME, Agents

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
