"""Memories of other machines in the tree: a child process with a home of its own, and a real sshd."""

import json
import os
import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from memtui.config.read import load_settings, read_environment
from memtui.engine import Engine
from memtui.engine.model import Actor, Address, Root
from memtui.errors import NotFoundError
from memtui.features.hosts.machines import RemoteHost
from memtui.features.hosts.remote import list_memories
from memtui.workbench import hosts
from tests.cli.conftest import config
from tests.features.hosts.conftest import far_home, settings_of, sshd
from tests.features.hosts.test_verbs import FAKE
from tests.workbench.shown import Shown, engine_with, shown

__all__ = ["config", "far_home", "sshd"]

NAME, THERE = "@build:memtui:global/style.md", Address("memtui:global", "style.md")
OLD = "# Style\n\nUse tabs.\n\nEnd lines.\n"


def machine(far: Path) -> Engine:
    """The engine of the other machine."""
    folder = far / ".memtui" / "memory" / "global"
    return Engine.open([Root("memtui:global", str(folder))], state_dir=str(far / ".memtui"))


def put(far: Path, text: str, *, name: str = "style.md") -> None:
    """Have an agent write there."""
    address = Address("memtui:global", name)
    with machine(far) as engine:
        try:
            before = engine.read(address).sha256
        except NotFoundError:
            engine.memories.create(address, text, actor=Actor("agent:claude"))
        else:
            engine.save(address, text, expected_sha256=before, actor=Actor("agent:claude"))


def texts(far: Path) -> list[str]:
    """The versions there, newest first."""
    with machine(far) as engine:
        return [engine.history.read(THERE, one.sha256).decode() for one in engine.history.of(THERE)]


def workbench(config: Path, words: str) -> AbstractAsyncContextManager[Shown]:
    """The workbench with these settings."""
    config.write_text(words)
    return shown(engine_with(), settings={"named": load_settings(read_environment()).named})


async def opened(screen: Shown, words: str = "Use tabs.") -> None:
    """Open the memory there in the editor."""
    await screen.until(lambda: Address.parse(NAME) in screen.browser.forest.nodes)
    await screen.go(NAME)
    await screen.press("enter")
    await screen.until_text(words)
    await screen.until(lambda: screen.browser.typing)


async def test_a_memory_there_is_read_edited_and_taken_back(config: Path, far_home: Path) -> None:
    put(far_home, OLD)
    async with workbench(config, settings_of(far_home)) as screen:
        await screen.until(lambda: Address.parse(NAME) in screen.browser.forest.nodes)
        await screen.go(NAME)
        await screen.until_text("Its text is on build.")
        for key in "iHw":
            await screen.press(key)
            await screen.until_text("build is another machine; memtui --on=build does that there.")
        await opened(screen)
        await screen.type("Oh ")
        await screen.press("ctrl+s")
        await screen.until_text("Saved")
        assert texts(far_home) == [f"Oh {OLD}", OLD]
        await screen.press("escape")
        await screen.until_text("Oh # Style")
        await screen.press("u")
        await screen.until_text(f"Undid: the save of {NAME}")
        await screen.until(lambda: "Oh # Style" not in screen.text)
        assert texts(far_home)[0] == OLD
        await screen.press("U")
        await screen.until_text("Did again")
        assert texts(far_home)[0] == f"Oh {OLD}"
        put(far_home, "Theirs.\n")
        await screen.press("u")
        await screen.until_text("changed meanwhile")
        with machine(far_home) as engine:
            assert engine.read(THERE).bytes == b"Theirs.\n"
            assert [one.actor for one in engine.history.of(THERE)][-1] == "agent:claude"
            assert engine.history.of(THERE)[-2].actor.startswith("ssh:")
        with pytest.raises(NotFoundError, match="is on build: from here"):
            screen.engine.engine.memories.rename(Address.parse(NAME), Address("notes", "b.md"), actor=Actor("tui"))
        assert [root.id for root in screen.engine.engine.roots.all()] == [one.id for one in screen.engine.roots]


async def test_a_memory_there_is_pinned_renamed_made_and_moved_to_the_trash_each_with_its_undo(
    config: Path, far_home: Path
) -> None:
    put(far_home, OLD)

    def there() -> dict[str, bool]:
        with machine(far_home) as engine:
            return {one.address.path: one.pinned for one in engine.rows.list().items}

    async with workbench(config, settings_of(far_home)) as screen:
        await screen.until(lambda: Address.parse(NAME) in screen.browser.forest.nodes)
        steps = [
            ("p", "", "pinned", {"style.md": True}),
            ("r", "s/new.md", "moved to", {"s/new.md": False}),
            ("n", "more.md", "created", {"style.md": False, "more.md": False}),
            ("dt", "", "moved to the trash", {}),
        ]
        for key, typed, said, now in steps:
            await screen.go(NAME)
            await screen.press(*key)
            if typed:
                await screen.until_text({"r": "rename on build", "n": "new on build"}[key])
                await screen.press("ctrl+u")
                await screen.type(typed)
                await screen.press("enter")
            await screen.until_text(said)
            assert there() == now
            await screen.until(lambda: screen.settled)
            await screen.press("u")
            await screen.until_text("Undid")
            assert there() == {"style.md": False}
            await screen.until(lambda: Address.parse(NAME) in screen.browser.forest.nodes)
        await screen.until(lambda: screen.settled)
        await screen.go(NAME)
        put(far_home, "Theirs.\n")
        await screen.press("d", "t")
        await screen.until_text("changed meanwhile")
        assert there() == {"style.md": False}


async def test_what_is_written_there_is_shown_while_somebody_looks(
    config: Path, far_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosts, "RETRY_SECONDS", (0.05, 0.05))
    async with workbench(config, settings_of(far_home)) as screen:
        await screen.until_text("HOSTS @build")
        put(far_home, OLD)
        await screen.until_text("HOSTS @build:memtui:global")
        assert Address.parse(NAME) in screen.browser.forest.nodes


async def test_both_sides_of_a_conflict_there_are_merged_or_shown(config: Path, far_home: Path) -> None:
    put(far_home, OLD)
    async with workbench(config, settings_of(far_home)) as screen:
        await opened(screen)
        await screen.type("Oh ")
        put(far_home, OLD.replace("End lines", "End all lines"))
        await screen.press("ctrl+s")
        await screen.until_text("Merged +1 -1 saved by somebody on build")
        await screen.press("ctrl+s")
        await screen.until_text("Saved")
        assert texts(far_home)[0] == "Oh # Style\n\nUse tabs.\n\nEnd all lines.\n"
        await screen.type("Yours ")
        put(far_home, "Theirs.\n")
        await screen.press("ctrl+s")
        await screen.until_text("CONFLICT")
        with machine(far_home) as engine:
            assert engine.read(THERE).bytes == b"Theirs.\n"
        await screen.until(lambda: screen.settled)
        await screen.press("y", "ctrl+s")
        await screen.until_text("u in the tree")
        with machine(far_home) as engine:
            assert engine.read(THERE).bytes.startswith(b"Oh Yours ")


async def test_a_link_that_dies_keeps_the_text_and_saves_it_once_when_it_is_back(
    config: Path, far_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memtui.features.hosts.remote.RETRY_DELAYS", (0.0, 0.0))
    monkeypatch.setattr(hosts, "RETRY_SECONDS", (0.05, 0.05))
    put(far_home, OLD)
    down = tmp_path / "down"
    line = ("sh", "-c", f'test -e {down} && exit 255; "$@"; s=$?; test -e {down} && exit 255; exit $s', "sh")
    async with workbench(config, settings_of(far_home, before=line)) as screen:
        await opened(screen)
        await screen.type("Oh ")
        down.touch()
        await screen.press("ctrl+s")
        await screen.until_text("NOT SAVED")
        await screen.until_text("kept as a draft")
        assert texts(far_home) == [OLD]
        screen.browser.find_hosts()
        await screen.until(lambda: screen.browser.forest.away["build"].words.startswith("away since"))
        assert Address.parse(NAME) in screen.browser.forest.nodes
        down.unlink()
        await screen.until(lambda: not screen.browser.forest.away["build"].words)
        await screen.press("r")
        await screen.until_text("Saved")
        assert texts(far_home) == [f"Oh {OLD}", OLD]


async def test_a_draft_outlives_the_workbench(config: Path, far_home: Path) -> None:
    put(far_home, OLD)
    memories = engine_with()
    config.write_text(settings_of(far_home))
    named = load_settings(read_environment()).named
    async with shown(memories, settings={"named": named}) as screen:
        await opened(screen)
        await screen.type("Oh ")
        await screen.press("escape")
        await screen.until_text("~1 draft")
    put(far_home, OLD.replace("End lines", "End all lines"))
    async with shown(memories, settings={"named": named}) as screen:
        await screen.until_text("~1 draft")
        await opened(screen, "was never saved")
        await screen.press("r")
        await screen.until_text("The memory changed since")
        await screen.press("ctrl+s")
        await screen.until_text("Merged +1 -1")


FAILS = {
    "an unknown key": ('sys.stderr.write("Host key verification failed.\\n"); sys.exit(255)', "ssh refuses", "by hand"),
    "no memtui": ("sys.exit(127)", "no memtui there", "install this"),
}


@pytest.mark.parametrize("kind", FAILS)
async def test_a_machine_without_an_answer_says_the_one_thing_to_do(kind: str, config: Path, tmp_path: Path) -> None:
    does, row, hint = FAILS[kind]
    (tmp_path / "fake.py").write_text(FAKE + does)
    argv = [sys.executable, str(tmp_path / "fake.py")]
    async with workbench(config, f"[hosts.build]\nargv = {json.dumps(argv)}\n") as screen:
        await screen.until_text(row)
        await screen.press("G")
        await screen.until_text(hint)


async def test_who_names_no_machine_sees_nothing(config: Path) -> None:
    async with workbench(config, "") as screen:
        screen.browser.commands.run("reload")
        await screen.until_text("Reading every folder again")
        assert "HOSTS" not in screen.text


def test_hostile_rows_are_left_out(tmp_path: Path) -> None:
    good = {"root": "memtui:global", "path": "a.md", "sha256": "0" * 64, "bytes": 1}
    bad: list[dict[str, object]] = [
        {"path": "../a.md"},
        {"path": 7},
        {"root": "a/b"},
        {"sha256": "x"},
        {"path": "a\0.md"},
    ]
    rows = [good, "no row", *({**good, **one} for one in bad), {**good, "path": "b.md", "bytes": -1, "pinned": "x"}]
    answer = tmp_path / "answer"
    answer.write_text(json.dumps({"items": rows}))
    (tmp_path / "fake.py").write_text(FAKE + f"both(begin)\nprint(open({os.fspath(answer)!r}).read())")
    argv = (sys.executable, str(tmp_path / "fake.py"))
    roots, found = list_memories(RemoteHost("build", "", argv, ("memtui",), "", ""))
    assert [root.id for root in roots] == ["@build:memtui:global"]
    assert [(row.address.path, row.bytes, row.pinned) for row in found] == [("a.md", 1, False), ("b.md", 0, False)]


async def test_a_memory_is_saved_over_ssh(
    config: Path, far_home: Path, sshd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(far_home, OLD)
    loaded = load_settings(read_environment())
    monkeypatch.setattr("tests.workbench.shown.DIRECTORIES", loaded.directories)
    async with shown(engine_with(), settings={"named": loaded.named}) as screen:
        await opened(screen)
        await screen.type("Oh ")
        await screen.press("ctrl+s")
        await screen.until_text("Saved")
    assert texts(far_home) == [f"Oh {OLD}", OLD]
    assert len((sshd.parent / "calls").read_text().splitlines()) == 3 + 1  # one to see whether anybody may log in
