"""What is forgotten: exactly the chosen lines, a file only when chosen or emptied; one undo brings all back."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine import Engine
from memtui.errors import ConflictError, NotFoundError, UsageError
from memtui.features.forget.work import Candidate, ForgetPlan, bullets, named, plan_forget, search
from tests.features.transfer.agents import ME, Agents, root

LIST = (
    b"\xef\xbb\xbf---\r\nname: Likes\r\n---\r\n# Feedback Memory\r\n\r\n- Use tabs\r\n"
    b"  - Why: habit\r\n\r\n* Use tabs in Go\r\n- Use tabs\r\n**How to apply:** always"
)


def world(tmp_path: Path) -> Agents:
    """Lists, single memories, entries, and an index that names them."""
    agents = Agents(tmp_path, "memtui", "claude-code", "qwen-code", "goose")
    agents.lay("memtui", {"likes.md": LIST, "prose.md": "Words about tabs.\n\n- and an item\n"})
    agents.lay(
        "claude-code",
        {
            "MEMORY.md": "- [Tabs](tabs.md) — tabs\n- [Role](role.md) — SQL\n",
            "tabs.md": "Use tabs\n",
            "role.md": "SQL\n",
        },
    )
    agents.lay("qwen-code", {"pinned/tabs.md": "Use tabs\n", "other.md": "- Use spaces\n- See [it](pinned/tabs.md)\n"})
    agents.lay("goose", {"development.txt": "# style\nUse tabs\n\nUse ruff\n\n"})
    return agents


def found(engine: Engine, query: str) -> list[str]:
    """The ids of what a query finds, with their titles."""
    return sorted(f"{one.id.partition('@')[0]} {one.title}" for one in search(engine, engine.roots.all(), query))


def forget(engine: Engine, chosen: tuple[Candidate, ...]) -> ForgetPlan:
    """Plan it and do it."""
    wanted = plan_forget(engine, chosen)
    engine.together.do(wanted.steps, actor=ME, label=wanted.label)
    return wanted


def test_entries_are_found_by_all_words_and_by_the_whole_query_first(tmp_path: Path) -> None:
    with world(tmp_path).engine() as engine:
        assert found(engine, "tabs USE") == [
            "claude-code:project/tabs.md Use tabs",
            "goose:project/development.txt#1 Use tabs",
            "memtui:project/likes.md#1 Use tabs",
            "memtui:project/likes.md#2 Use tabs in Go",
            "memtui:project/likes.md#3 Use tabs",
            "qwen-code:project/pinned/tabs.md Use tabs",
        ]
        assert found(engine, "go tabs") == found(engine, "tabs in go") == ["memtui:project/likes.md#2 Use tabs in Go"]
        assert found(engine, "and about") == ["memtui:project/prose.md Words about tabs."]
        assert found(engine, "tab") == found(engine, "us* tabs") == []
        assert [one.partition(" ")[0] for one in found(engine, "*")] == [
            "memtui:project/likes.md#2",
            "memtui:project/likes.md#3",
        ]
        for nothing in ("", " \n"):
            with pytest.raises(UsageError):
                found(engine, nothing)


def test_exactly_the_chosen_lines_go_and_undo_brings_them_back(tmp_path: Path) -> None:
    agents = world(tmp_path)
    before = agents.everything()
    with agents.engine() as engine:
        likes = [one for one in search(engine, engine.roots.all(), "use tabs") if one.address.name == "likes.md"]
        forget(engine, named(engine, [likes[0].id, likes[0].id]))
        assert agents.held("memtui")["likes.md"] == LIST.replace(b"- Use tabs\r\n  - Why: habit\r\n", b"")
        engine.undo.undo(actor=ME)
        assert agents.everything() == before
        forget(engine, named(engine, [likes[2].id, likes[1].id]))
        assert agents.held("memtui")["likes.md"] == LIST[: LIST.index(b"* Use tabs in Go")]
        engine.undo.undo(actor=ME)
        forget(engine, tuple(likes))
        assert set(agents.held("memtui")) == {"prose.md"}
        engine.undo.undo(actor=ME)
        assert agents.everything() == before


def test_pointers_follow_pinned_and_protected_stay_and_other_roots_are_not_touched(tmp_path: Path) -> None:
    agents = world(tmp_path)
    before = agents.everything()
    with agents.engine() as engine:
        (role,) = named(engine, ["claude-code:project/role.md"])
        engine.pins.set([role.address], pinned=True, actor=ME)
        ids = ["claude-code:project/tabs.md", "claude-code:project/role.md", "qwen-code:project/pinned/tabs.md"]
        wanted = forget(engine, named(engine, ids))
        assert [(one.address.name, one.stays) for one in wanted.staying] == [
            ("role.md", "it is pinned"),
            ("tabs.md", "its agent's layout protects it"),
        ]
        assert wanted.also == "1 link updated"
        assert agents.held("claude-code") == {"MEMORY.md": b"- [Role](role.md) \xe2\x80\x94 SQL\n", "role.md": b"SQL\n"}
        assert agents.held("qwen-code") == before["qwen-code"]
        engine.undo.undo(actor=ME)
        assert agents.everything() == before


def test_a_link_in_a_text_is_named_and_an_index_is_no_list_of_entries(tmp_path: Path) -> None:
    agents = Agents(tmp_path, "claude-code")
    agents.lay("claude-code", {"MEMORY.md": "- [A](a.md)\n- [L](l.md)\n", "a.md": "x\n", "l.md": "See [it](a.md)\n"})
    with agents.engine() as engine:
        index = named(engine, ["claude-code:project/MEMORY.md"])
        assert plan_forget(engine, index).steps == ()
        wanted = forget(engine, named(engine, ["claude-code:project/a.md"]))
        assert "l.md" in wanted.rest
        assert agents.held("claude-code") == {"MEMORY.md": b"- [L](l.md)\n", "l.md": b"See [it](a.md)\n"}


def test_what_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    agents = world(tmp_path)
    with agents.engine() as engine:
        chosen = search(engine, engine.roots.all(), "tabs in go")
        agents.lay("memtui", {"likes.md": LIST + b"\r\n- more"})
        with pytest.raises(ConflictError):
            plan_forget(engine, chosen)
        assert forget(engine, named(engine, [chosen[0].id])).going
        for gone in (chosen[0].id, "memtui:project/prose.md#1@123456", "memtui:project/none.md"):
            with pytest.raises((ConflictError, NotFoundError)):
                named(engine, [gone])


def test_what_is_no_text_is_left_alone(tmp_path: Path) -> None:
    agents = Agents(tmp_path, "memtui")
    agents.lay("memtui", {"a.md": b"gone\0\n", "b.md": b"- gone\n- \xff\n"})
    with agents.engine() as engine:
        wanted = plan_forget(engine, search(engine, engine.roots.all(), "gone"))
        assert (wanted.steps, {one.stays for one in wanted.staying}) == ((), {"it is not UTF-8 text"})


def test_files_of_instructions_are_never_taken_whole_by_a_word(tmp_path: Path) -> None:
    agents = Agents(tmp_path, "memtui")
    agents.lay("memtui", {"CLAUDE.md": "Use tabs. Always.\n", "RULES.md": "- Use tabs\n- Use ruff\n"})
    written = root("memtui", str(tmp_path / "memtui"))._replace(kind="instructions")
    with Engine.open([written], state_dir=str(tmp_path / "state")) as engine:
        assert found(engine, "use tabs") == ["memtui:project/RULES.md#1 Use tabs"]


LINES = st.sampled_from(["- one", "* two", "- one", "  more", "\tmore", "Why: so", "# H", "", "_No entries yet._"])


@given(st.lists(LINES, max_size=12), st.sampled_from(["\n", "\r\n", "\r"]), st.booleans(), st.data())
def test_no_other_byte_of_a_list_changes(lines: list[str], end: str, closed: bool, data: st.DataObject) -> None:
    from memtui.features.entries.model import EntryFile
    from memtui.features.forget.work import _without_bullets

    text = (end.join(lines) + (end if closed else "")).encode()
    entries = bullets(text)
    if len(entries) < 2:
        return
    gone = data.draw(st.sets(st.sampled_from([one.number for one in entries]), max_size=len(entries) - 1))
    left = _without_bullets(EntryFile("bullets", text, entries), gone)
    kept = [line for line in left.split(end.encode()) if line.strip()]
    cut = [text[one.start : one.end] for one in entries if one.number in gone]
    assert len(text) - len(left) <= sum(len(one) + len(end) for one in cut)
    assert sorted(kept + [line for one in cut for line in one.split(end.encode()) if line.strip()]) == sorted(
        line for line in text.split(end.encode()) if line.strip()
    )
