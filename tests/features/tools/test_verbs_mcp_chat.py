"""mcp for one chat: a process that a gateway starts sees the memory of that chat, and of no other."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from memtui.config.read import load_settings, read_environment
from memtui.engine.ledger.turns import Chat
from memtui.engine.model import Actor
from memtui.features.channels.verbs import HEAD, append, room_of
from memtui.wire.session import Options, open_session
from tests.cli.conftest import config
from tests.features.tools.test_verbs_mcp import hello, lines, memory, run

__all__ = ["config"]

TEAM = ("--channel", "team-eng", "--chat", "c1")
FILE = "/memories/channel/CHANNEL.md"


@pytest.fixture
def chats(home: Path, config: Path) -> None:
    """Two chats remember something; a gateway of the user's speaks in the channel of the first."""
    config.write_text('[gateways.bot]\nchannels = ["team-eng", "a channel with a long name, one"]\n')
    session = open_session(load_settings(read_environment()), Options(), lock_wait=5.0)
    for chat, text in ((Chat("team-eng", "c1"), "Deploys go through staging."), (Chat("team-eng", "c2"), "Other.")):
        append(session.engine, room_of(session, chat), chat, text, actor=Actor("cli"))
    session.engine.close()


def talk(*words: str, ask: Sequence[Mapping[str, object]] = ()) -> tuple[str, list[str]]:
    """Start a server; gives its instructions, and what it answered to calls of the memory tool."""
    calls = [memory(number, **fields) for number, fields in enumerate(ask, 2)]
    done = run(lines(hello("bot"), *calls), *words)
    assert (done.returncode, done.stderr) == (0, b"")
    found = {one["id"]: one["result"] for one in map(json.loads, done.stdout.splitlines()) if "id" in one}
    return found[1]["instructions"], [found[number]["content"][0]["text"] for number in range(2, len(calls) + 2)]


@pytest.mark.usefixtures("chats")
def test_a_session_gets_its_chat_once_and_can_write_there() -> None:
    edit = {"command": "str_replace", "path": FILE, "old_str": "staging", "new_str": "the canary"}
    look = {"command": "view", "path": "/memories"}
    told, (listed, edited, other) = talk(
        *(*TEAM, "--session", "s1"), ask=[look, edit, {"command": "view", "path": "/memories/channel/../c2"}]
    )
    assert told.count(f"{HEAD}\n- Deploys go through staging.") == 1
    assert "Other." not in told
    assert listed.endswith("- channel/\n  - CHANNEL.md")
    assert edited == f"Edited {FILE}"
    assert "not allowed" in other
    again, (seen,) = talk(*(*TEAM, "--session", "s1"), ask=[{"command": "view", "path": FILE}])
    assert HEAD not in again
    assert "- Deploys go through the canary." in seen
    assert "the canary" in talk(*(*TEAM, "--session", "s2"))[0]


@pytest.mark.usefixtures("chats")
def test_no_other_door_sees_a_chat() -> None:
    asked = {"command": "view", "path": FILE}
    for words in ((), ("--channel", "team-eng", "--chat", "c3", "--session", "s1")):
        told, (seen, listed) = talk(*words, ask=[asked, {"command": "view", "path": "/memories"}])
        assert HEAD not in told
        assert "staging" not in seen
        assert ("channel/" in listed) is bool(words)
    told, (seen,) = talk("--channel", "hr", "--chat", "c1", "--session", "s1", ask=[asked])
    assert "E_ACCESS" in told
    assert "E_ACCESS" in seen


@pytest.mark.usefixtures("chats")
def test_channels_that_begin_alike_are_told_apart() -> None:
    named = ("--channel", "a channel with a long name, one", "--chat", "c1", "--session", "s1")
    session = open_session(load_settings(read_environment()), Options(), lock_wait=5.0)
    alike = Chat("a channel with a long name, two", "c1")
    append(session.engine, room_of(session, alike), alike, "Two.", actor=Actor("cli"))
    session.engine.close()
    told, (made, seen) = talk(
        *named, ask=[{"command": "create", "path": FILE, "file_text": "## Remembered\n\n- One.\n"},
                     {"command": "view", "path": FILE}],
    )  # fmt: skip
    assert "Two." not in told
    assert made == f"Created {FILE}"
    assert "One." in seen


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--channel", "", "--chat", "c1", "--session", "s"), "The channel is empty."),
        (("--channel", "team-eng", "--chat", "https://x", "--session", "s"), "The chat is a URL."),
        (("--channel", "n" * 1_001, "--chat", "c1", "--session", "s"), "The channel has more than 1,000 bytes."),
        (("--channel", "team\n", "--chat", "c1", "--session", "s"), "The channel has a control character."),
        (("--channel", "team-eng", "--chat", "c1"), "The session is empty."),
        (("--thread", "t"), "The channel is empty."),
    ],
)
def test_a_chat_without_a_proper_name_is_refused(words: tuple[str, ...], said: str, home: Path) -> None:
    done = run(b"", *words)
    assert done.returncode != 0
    assert done.stdout == b""
    assert f"E_NAME: {said}" in done.stderr.decode() or said in done.stderr.decode()
    assert not [path for path in home.rglob("*") if "channel" in path.parts]
