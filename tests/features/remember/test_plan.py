"""What remembering writes: one memory in the shape of its root and a line in the index, or nothing when it is known."""

from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.model import Address, Conflict
from memtui.errors import MemtuiError, RefusedError
from memtui.features.remember.work import Known, RememberPlan, RememberRequest, plan_remember
from tests.features.transfer.agents import ME, Agents, root

TEXT = "Never mock the database in tests.\nWhy: a mock hid a broken migration"


def world(tmp_path: Path) -> Agents:
    """Three agents with memories of their own, and an empty one."""
    agents = Agents(tmp_path, "memtui", "claude-code", "qwen-code", "goose", "letta")
    agents.lay("claude-code", {"MEMORY.md": "# Index\r\n\r\n* [Role](user_role.md): SQL\r\n", "user_role.md": "SQL.\n"})
    agents.lay("qwen-code", {"feedback/x.md": "---\nname: X\ndescription: D\ntype: feedback\n---\n\n- Use pnpm.\n"})
    agents.lay("goose", {"project.txt": "# old\nKeep it.\n\n"})
    return agents


def planned(agents: Agents, text: str, scope: str = "", to: str = "") -> RememberPlan | Known:
    """Plan, and do what is planned."""
    with agents.engine() as engine:
        found = plan_remember(engine, engine.roots.all(), RememberRequest(text, scope, to))
        if isinstance(found, RememberPlan):
            engine.together.do(found.steps, actor=ME, label="remember")
        return found


def test_a_fact_becomes_a_memory_in_the_folder_of_its_type(tmp_path: Path) -> None:
    agents = world(tmp_path)
    found = planned(agents, TEXT, scope="project")
    assert isinstance(found, RememberPlan)
    assert str(found.address) == "memtui:project/feedback/never-mock-the-database-in-tests.md"
    assert agents.held("memtui") == {
        "feedback/never-mock-the-database-in-tests.md": (
            b"---\nname: Never mock the database in tests\ndescription: Never mock the database in tests\n"
            b"type: feedback\n---\n\nNever mock the database in tests.\n\nWhy: a mock hid a broken migration\n"
        )
    }


def test_it_takes_the_shape_of_an_agents_folder_and_a_line_in_its_index(tmp_path: Path) -> None:
    agents = world(tmp_path)
    before = agents.everything()
    planned(agents, TEXT, to="claude-code:project")
    held = agents.held("claude-code")
    assert held["MEMORY.md"] == (
        b"# Index\r\n\r\n* [Role](user_role.md): SQL\r\n* [Feedback never mock the database in tests]"
        b"(feedback_never-mock-the-database-in-tests.md): Never mock the database in tests\r\n"
    )
    with agents.engine() as engine:
        engine.undo.undo(actor=ME)
    assert agents.everything() == before


@pytest.mark.parametrize(
    ("agent", "path", "begins"),
    [
        ("qwen-code", "feedback/never-mock-the-database-in-tests.md", b"---\nname: Never"),
        (
            "letta",
            "feedback/never-mock-the-database-in-tests.md",
            b"---\nname: Never mock the database in tests\ndescription: Never mock the database in tests\n---\n",
        ),
        ("goose", "feedback.txt", b"# feedback\nNever mock the database in tests.\nWhy: a mock"),
    ],
)
def test_other_agents_get_it_as_they_read_it(tmp_path: Path, agent: str, path: str, begins: bytes) -> None:
    agents = world(tmp_path)
    before = agents.held(agent)
    planned(agents, TEXT, to=f"{agent}:project")
    after = agents.held(agent)
    assert {name: text for name, text in after.items() if name in before and "MEMORY" not in name} == before
    assert after[path].startswith(begins)


def test_an_entry_goes_behind_those_of_its_file(tmp_path: Path) -> None:
    agents = world(tmp_path)
    planned(agents, "Merges are frozen.", to="goose:project")
    assert agents.held("goose")["project.txt"] == b"# old\nKeep it.\n\n# project\nMerges are frozen.\n\n"


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("use  PNPM", ("qwen-code:project/feedback/x.md", 7)),
        ("SQL", ("claude-code:project/user_role.md", 1)),
        ("keep it", ("goose:project/project.txt", 1)),
        ("- Use pnpm.", ("qwen-code:project/feedback/x.md", 7)),
        ("use pnpm\nWhy: it is fast", None),
        ("use", None),
    ],
)
def test_what_a_memory_says_already_is_not_written_again(
    tmp_path: Path, text: str, known: tuple[str, int] | None
) -> None:
    agents = world(tmp_path)
    before = agents.everything()
    found = planned(agents, text)
    if known is None:
        assert isinstance(found, RememberPlan)
    else:
        assert found == Known(Address.parse(known[0]), known[1])
        assert agents.everything() == before


def test_what_is_known_is_found_in_any_width_and_case_and_no_text_gets_an_entry(tmp_path: Path) -> None:
    agents = world(tmp_path)
    agents.lay("memtui", {"wide.md": "Ｓｔｒａßｅ ｆｉｒｓｔ.\n"})
    assert planned(agents, "STRASSE first", "project") == Known(Address("memtui:project", "wide.md"), 1)
    agents.lay("goose", {"feedback.txt": b"\xff\n\n"})
    with pytest.raises(RefusedError, match="not UTF-8"):
        planned(agents, TEXT, to="goose:project")


def test_clean_looks_at_no_memory_and_takes_a_free_name(tmp_path: Path) -> None:
    agents = world(tmp_path)
    first = planned(agents, TEXT, scope="project")
    assert isinstance(first, RememberPlan)
    assert planned(agents, TEXT, scope="project") == Known(first.address, 7)
    with agents.engine() as engine:
        request = RememberRequest(TEXT, "project", clean=True)
        again = plan_remember(engine, engine.roots.all(), request)
    assert isinstance(again, RememberPlan)
    assert again.address.path == "feedback/never-mock-the-database-in-tests-2.md"


def test_it_is_looked_for_in_the_chosen_root_alone(tmp_path: Path) -> None:
    found = planned(world(tmp_path), "Use pnpm", to="claude-code:project")
    assert isinstance(found, RememberPlan)


def test_a_place_that_takes_none_is_refused(tmp_path: Path) -> None:
    agents = world(tmp_path)
    for scope, to in (("global", ""), ("", "nobody:project")):
        with pytest.raises(MemtuiError) as caught:
            planned(agents, TEXT, scope, to)
        assert caught.value.code == "E_NO_ROOT"
    only = root("memtui", str(tmp_path / "memtui"))
    only = only._replace(policy=only.policy._replace(include=("CLAUDE.md",)))
    with (
        Engine.open([only], state_dir=str(tmp_path / "state")) as engine,
        pytest.raises(RefusedError, match=r"holds only CLAUDE\.md"),
    ):
        plan_remember(engine, engine.roots.all(), RememberRequest(TEXT, "project"))


def test_an_index_that_an_agent_writes_meanwhile_is_left_as_it_is_and_both_texts_are_kept(tmp_path: Path) -> None:
    agents = world(tmp_path)
    theirs = "# Index\n\n- [Other](user_role.md)\n"
    with agents.engine() as engine:
        found = plan_remember(engine, engine.roots.all(), RememberRequest(TEXT, to="claude-code:project"))
        assert isinstance(found, RememberPlan)
        agents.lay("claude-code", {"MEMORY.md": theirs})
        before = agents.everything()
        done = engine.together.do(found.steps, actor=ME, label="remember")
        (conflict,) = [one.result for one in done.outcomes if isinstance(one.result, Conflict)]
        assert agents.everything() == before
        assert conflict.yours_sha256 is not None
        assert engine.history.read(conflict.address, conflict.yours_sha256) == found.changes[1].after


def test_what_nobody_reviewed_says_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "checkout"
    folder.mkdir()
    (folder / "planted.md").write_text("Use pnpm\n")
    brought = root("memtui", str(folder))._replace(id="brought:project", in_checkout=True)
    (tmp_path / "own").mkdir()
    own = root("memtui", str(tmp_path / "own"))
    with Engine.open([brought, own], state_dir=str(tmp_path / "state")) as engine:
        found = plan_remember(engine, engine.roots.all(), RememberRequest("use pnpm"))
    assert isinstance(found, RememberPlan)


def test_a_text_that_would_be_two_entries_is_refused(tmp_path: Path) -> None:
    agents = world(tmp_path)
    before = agents.everything()
    with pytest.raises(RefusedError) as caught:
        planned(agents, "one\n\n# two\nthree", to="goose:project")
    assert caught.value.code == "E_ENTRY"
    assert agents.everything() == before
