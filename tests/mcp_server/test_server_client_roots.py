"""A client works in the project its roots name, and nothing it does before that is known lands anywhere else."""

from pathlib import Path

import anyio
import pytest

from memtui.mcp_server import server
from memtui.mcp_server.connection import NONE
from memtui.wire.session import Options
from tests.mcp_server.talk import Store, Talk, talk

LISTED = "notifications/resources/list_changed"


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """Another project than that of the working folder, with a memory."""
    project = tmp_path / "an other"
    memory = project / ".memtui" / "memory" / "theirs.md"
    memory.parent.mkdir(parents=True)
    memory.write_text("---\ndescription: How they do it\n---\ntheir text\n")
    (project / ".git").mkdir()
    (project / "src").mkdir()
    return project


async def begin(it: Talk, *folders: Path) -> None:
    it.roots = [folder.as_uri() for folder in folders]
    await it.hello("Visual Studio Code")


async def test_the_project_of_the_roots_is_served(store: Store, other: Path) -> None:
    async with talk() as it:
        await begin(it, other / "src")
        assert await it.memory("create", path="/memories/project/new.md", file_text="one\n") == (
            True,
            "Created /memories/project/new.md",
        )
        await it.wait_told(LISTED)
        uris = [one["uri"] for one in (await it.ask("resources/list"))["resources"]]
        assert uris == ["memory:///memories/project/new.md"]  # nobody has reviewed the other one
    assert (other / ".memtui" / "memory" / "new.md").read_text() == "one\n"
    assert not (Path.cwd() / ".memtui").exists()


async def test_its_index_comes_once_with_the_first_answer(store: Store, other: Path) -> None:
    async with talk() as it:
        await begin(it, other)
        first, second = [
            await it.ask("tools/call", name="memory", arguments={"command": "view", "path": "/memories/global"})
            for _ in range(2)
        ]
    assert [len(answer["content"]) for answer in (first, second)] == [2, 1]
    assert first["content"][0] == second["content"][0]
    assert "/memories/project/theirs.md" in first["content"][1]["text"]
    assert str(other) not in str(first)


async def test_where_a_hook_gives_the_context_no_index_is_added(store: Store, other: Path) -> None:
    async with talk(context=NONE) as it:
        await begin(it, other)
        answer = await it.ask("tools/call", name="memory", arguments={"command": "view", "path": "/memories/project"})
        assert [block["text"] for block in answer["content"]] == ["Directory: /memories/project\n- theirs.md"]


async def test_what_is_asked_before_the_roots_are_known_waits_for_them(store: Store, other: Path) -> None:
    async with talk() as it:
        it.holds_back = True
        await begin(it, other)
        number = await it.begin("tools/call", name="memory", arguments={"command": "view", "path": "/memories/project"})
        await it.wait(lambda: it.asked)
        assert await it.ask("ping") == {}
        assert number not in it.answers
        await it.name_roots(it.asked[0]["id"])
        assert "theirs.md" in (await it.answer(number))["content"][0]["text"]


async def test_a_client_that_does_not_name_its_roots_works_where_it_was_started(
    store: Store, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "ROOTS_TIMEOUT", 0.05)
    async with talk() as it:
        it.holds_back = True
        await begin(it, other)
        assert (await it.memory("create", path="/memories/project/new.md", file_text="one\n"))[0]
    assert (Path.cwd() / ".memtui" / "memory" / "new.md").exists()


async def test_when_another_folder_is_opened_it_is_another_project(store: Store, other: Path) -> None:
    async with talk() as it:
        await begin(it, Path.cwd())
        assert "theirs.md" not in (await it.memory("view", path="/memories/project"))[1]
        assert [one["method"] for one in it.told] == []
        it.roots = [other.as_uri()]
        await it.say("notifications/roots/list_changed")
        await it.wait(lambda: len(it.asked) == 2)
        assert "theirs.md" in (await it.memory("view", path="/memories/project"))[1]
        await it.wait_told(LISTED)


@pytest.mark.parametrize(
    "uris",
    [
        [],
        ["nonsense"],
        ["file:///nowhere/at/all"],
        ["file://elsewhere/tmp"],
        ["file://[/tmp"],
        ["https://example.org/"],
        ["file:///%00"],
    ],
)
async def test_roots_that_name_no_folder_here_change_nothing(
    store: Store, uris: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    async with talk() as it:
        it.roots = uris
        await it.hello()
        assert (await it.memory("create", path="/memories/project/new.md", file_text="one\n"))[0]
    assert (Path.cwd() / ".memtui" / "memory" / "new.md").exists()
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


async def test_of_several_the_one_that_is_served_stays(store: Store, other: Path) -> None:
    async with talk() as it:
        await begin(it, other, Path.cwd())
        assert "theirs.md" not in (await it.memory("view", path="/memories/project"))[1]


async def test_a_project_that_was_given_by_hand_comes_first(store: Store, other: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    async with talk(options=Options(project=str(tmp_path / "mine"))) as it:
        await begin(it, other)
        assert "theirs.md" not in (await it.memory("view", path="/memories/project"))[1]


async def test_the_later_protocol_has_no_way_to_be_asked(store: Store, other: Path) -> None:
    async with talk() as it:
        it.roots = [other.as_uri()]
        await it.hello(modern=True)
        with anyio.fail_after(3):
            assert (await it.memory("view", path="/memories"))[0]
        assert it.asked == []
