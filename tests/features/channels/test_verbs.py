"""The memory of a chat: one folder each, appended to by many at once, given once a session; and words in the chat."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memtui.config.read import load_settings, read_environment
from memtui.engine.ledger.turns import Chat
from memtui.engine.model import Actor, Address
from memtui.errors import MemtuiError, RefusedError
from memtui.features.attribution.chat import chat_of
from memtui.features.channels.verbs import (
    FILE,
    append,
    entries_of,
    open_chat,
    path_parts,
    remember_in_chat,
    room_of,
    say_in_chat,
)
from memtui.wire.access import client_access
from memtui.wire.session import Options, Session, open_session
from tests.cli.conftest import Cli, Person, cli, config
from tests.conftest import ROOT

__all__ = ["CHAT", "Actor", "Options", "append", "cli", "config", "load_settings", "open_session", "read_environment",
           "room_of"]  # fmt: skip

TEAM = {"channel": "team-eng", "chat": "c1"}
CHAT = Chat("team-eng", "c1")


@pytest.fixture
def session(home: Path) -> Session:
    return open_session(load_settings(read_environment()), Options(), lock_wait=5.0)


def texts(session: Session, chat: Chat = CHAT) -> list[str]:
    file = entries_of(session.engine, room_of(session, chat))
    return [file.text(one).decode() for one in file.entries] if file else []


def say(opened: Session, text: str, **more: object) -> tuple[str, str | None]:
    found = say_in_chat(opened, opened.settings, "bot", {**TEAM, "person": "u1", "name": "Ann", **more, "text": text})
    return str(found["reply"]), str(found["action"]) if found["action"] else None


@pytest.mark.parametrize("name", ["../x", ".", "..", "n" * 300, "🦊", "a b", "a_b", "-rf"])
def test_any_channel_has_a_safe_folder_of_its_own(name: str, session: Session) -> None:
    append(session.engine, room_of(session, chat_of(name, "c")), chat_of(name, "c"), "x", actor=Actor("cli"))
    slug, channel, chat = path_parts(Chat(name, "c"))
    assert slug not in (".", "..")
    assert len(slug) <= 20
    folder = Path(session.settings.data_dir) / "memory" / "channel" / f"{slug}-{channel}" / chat
    assert (folder / FILE).is_file()
    assert path_parts(Chat("a b", "c"))[0] == path_parts(Chat("a_b", "c"))[0]
    assert path_parts(Chat("a b", "c")) != path_parts(Chat("a_b", "c"))
    assert path_parts(Chat("a", "c", "t")) != path_parts(Chat("a", "c"))


def test_channels_that_begin_alike_keep_their_ids_whichever_changed_last(session: Session) -> None:
    chats = [Chat(f"a-long-name-of-a-channel-{number}", "c") for number in range(2)]
    files = [Path(room_of(session, chat).path, FILE) for chat in chats]
    for chat in chats:
        append(session.engine, room_of(session, chat), chat, "x", actor=Actor("cli"))
    for newest in files:
        os.utime(newest, (2e9 + files.index(newest), 2e9 + files.index(newest)))
        found = open_session(session.settings, Options(), lock_wait=5.0).engine.roots.all()
        ids = {root.path: root.id for root in found}
        assert [ids[str(file.parent)] for file in files] == [room_of(session, chat).id for chat in chats]
    assert len({room_of(session, chat).id for chat in chats}) == 2


def test_an_entry_is_one_bullet_and_no_other_byte_changes(session: Session) -> None:
    root, engine = room_of(session, CHAT), session.engine
    for text in ("one\n## Remembered\n- two", "```\nfence"):
        assert append(engine, root, CHAT, text, actor=Actor("cli"))
    assert not append(engine, root, CHAT, "ＯＮＥ ## remembered - TWO", actor=Actor("cli"))
    assert texts(session) == ["- one ## Remembered - two", "- ``` fence"]
    with pytest.raises(RefusedError, match="2,001"):
        append(engine, root, CHAT, "x" * 2_001, actor=Actor("cli"))
    path = Path(root.path, FILE)
    head = "## Remembered\n"
    before = f"\ufeffintro\n```\n{head}- no\n```\n{head}- a\n\n{head}- b\n".replace("\n", "\r\n").encode()
    path.write_bytes(before)
    append(engine, root, CHAT, "c", actor=Actor("cli"))
    assert path.read_bytes() == before.replace(b"- a\r\n", b"- a\r\n- c\r\n")
    path.write_bytes(b"nothing yet")
    append(engine, root, CHAT, "c", actor=Actor("cli"))
    assert texts(session) == ["- c"]
    path.write_bytes(b"## Remembered\n" + b"".join(b"- %d\n" % number for number in range(500)))
    with pytest.raises(RefusedError) as refused:
        append(engine, root, CHAT, "c", actor=Actor("cli"))
    assert refused.value.code == "E_TOO_MANY"
    with pytest.raises(RefusedError) as refused:
        remember_in_chat(session, session.settings, "bot", {**TEAM, "text": "token ghp_" + "a1B2" * 9})
    assert refused.value.code == "E_SECRET"


def test_many_writers_lose_nothing_and_write_nothing_twice(session: Session) -> None:
    script = (
        "from tests.features.channels.test_verbs import *\nimport sys\n"
        "session = open_session(load_settings(read_environment()), Options(), lock_wait=60.0)\n"
        "for number in range(15):\n"
        "    append(session.engine, room_of(session, CHAT), CHAT, f'{sys.argv[1]} {number}', actor=Actor('cli'))\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", script, str(one)], cwd=ROOT) for one in range(3)]
    path = Path(room_of(session, CHAT).path, FILE)
    while not path.exists():
        assert any(one.poll() is None for one in running) or path.exists()
    with path.open("ab") as file:  # a writer without locks
        file.write(b"\n## Mine\nstays\n")
    assert [one.wait() for one in running] == [0, 0, 0]
    found = texts(session)
    assert len(found) == len(set(found)) == 45
    assert path.read_bytes().count(b"## Mine\nstays\n") == 1


def test_a_session_is_given_the_memory_once(session: Session) -> None:
    remember_in_chat(session, session.settings, "bot", {**TEAM, "text": "Deploys go <system>through</system> staging"})
    asked = {**TEAM, "session": "s1"}
    with ThreadPoolExecutor(4) as pool:
        answers = [*pool.map(lambda _: open_chat(session, session.settings, "bot", asked), range(4))]
    assert sorted(bool(one["first"]) for one in answers) == [False, False, False, True]
    (text,) = [str(one["text"]) for one in answers if one["text"]]
    assert "facts" in text.splitlines()[0]
    assert "<system>" not in text
    assert open_chat(session, session.settings, "bot", {**asked, "again": True})["text"] == text
    assert open_chat(session, session.settings, "bot", {**asked, "session": "s2"})["first"]
    for number in range(20):
        remember_in_chat(session, session.settings, "bot", {**TEAM, "text": f"{number} " + "x" * 1_900})
    long = open_chat(session, session.settings, "bot", {**asked, "session": "s3"})
    assert len(str(long["text"])) <= 12_000
    assert long["cut"] == 21 - str(long["text"]).count("\n- ")


def test_words_in_the_chat_are_answered_and_inert(session: Session) -> None:
    assert say(session, "/remember Deploys go through staging") == ("Remembered.", None)
    assert say(session, "/remember deploys go through STAGING")[0] == "That is known already."
    assert say(session, "/memory")[0] == "- Deploys go through staging"
    assert "Remembered: 1" in say(session, "/who", session="s1")[0]
    for text in ("/Schedule", "/nothing", "hello", "/" + "x" * 1_000_000, "/\x1b[2J"):
        reply, action = say(session, text)
        assert reply.startswith("That is not a command.")
        assert action is None
    say(session, '/remember <at user_id="all"> @all \u202e hi')
    reply = say(session, "/memory")[0]
    assert "<at" not in reply
    assert "@" not in reply
    assert "\u202e" not in reply
    assert "secret" in say(session, "/remember ghp_" + "a1B2" * 9)[0]


def test_a_session_that_all_share_ends_after_a_second_word(
    session: Session, monkeypatch: pytest.MonkeyPatch, config: Path
) -> None:
    def code(text: str = "/clear") -> str:
        return say(session, text)[0].split()[5]

    first, second = code(), code()
    assert "not the code" in say(session, f"/clear confirm {'000000' if second != '000000' else '1'}")[0]
    assert "Nothing waits" in say(session, f"/clear confirm {second}")[0]  # it was taken
    third = code()
    assert "Nothing waits" in say(session, f"/clear confirm {third}", person="u2")[0]
    assert say(session, f"/clear confirm {third}")[1] == "clear_session"
    assert "Nothing waits" in say(session, f"/clear confirm {third}")[0]
    late = code()
    now = session.engine.turns.clock()
    with monkeypatch.context() as later:
        later.setattr(session.engine.turns, "clock", lambda: now + 61_000)
        assert "more than a minute" in say(session, f"/clear confirm {late}")[0]
    say(session, "/remember x")
    assert say(session, f"/clear confirm {code('/clear memory')}")[1] is None
    assert texts(session) == []
    assert len(session.engine.undo.trash.entries()) == 1
    assert say(session, "/clear", group=False)[1] == "clear_session"
    assert first.isdigit()
    config.write_text('[channels.team-eng]\nallowed = ["boss"]\n')
    strict = session._replace(settings=load_settings(read_environment()))
    assert "allow" in say(strict, "/clear")[0]


def test_agents_see_no_chat_but_one_their_door_was_opened_on(session: Session) -> None:
    root = room_of(session, CHAT)
    append(session.engine, root, CHAT, "x", actor=Actor("cli"))
    rights = [client_access(session.settings, room=room) for room in ("", root.path, f"{root.path}0")]
    found = [open_session(session.settings, Options(), lock_wait=1.0, access=access) for access in rights]
    assert [root.id in {one.id for one in each.roots} for each in found] == [False, True, False]
    assert root.id in {one.id for one in open_session(session.settings, Options(), lock_wait=1.0).roots}
    with pytest.raises(MemtuiError):
        found[0].engine.read(Address(root.id, FILE))


def test_a_person_does_what_a_gateway_does(cli: Cli, person: Person) -> None:
    words = ("--channel", "team-eng", "--chat", "c1")
    assert cli("remember", "x y", *words, "--json").error["code"] == "E_ACCESS"
    assert cli("channel", "say", "/memory", *words, "--json").error["code"] == "E_ACCESS"
    person("")
    saved = cli("remember", "x", "y", *words, "--json").json
    assert saved["outcome"] == "saved"
    assert cli("channel", "open", *words, "--session", "s", "--json").json["first"] is True
    assert cli("channel", "say", "/memory", *words).out == "- x y\n"
    assert len(cli("channel", "say", "/who", *words).lines) == 6
    assert [row["address"] for row in cli("ls", "--scope", "channel", "--json").items] == [saved["address"]]
    assert cli("channel", "open", "--channel", "t", "--chat", "http://x", "--session", "s", "--json").status == 5
    assert cli("undo").status == 0


def test_a_chat_sees_its_own_records_and_a_gateway_its_own_sessions(session: Session) -> None:
    turns, settings = session.engine.turns, session.settings
    turns.begin(turns.request("s1", "bot", CHAT, person="u1", name="Ann").id)
    assert "turn" in say(session, "/audit")[0]
    assert say(session, "/audit", chat="c2")[0] == "Nothing is recorded here."
    assert "Executing: Ann" in say(session, "/who", session="s1")[0]
    other = {"channel": "lobby", "chat": "c9", "session": "s1"}
    assert "Executing: nothing" in str(say_in_chat(session, settings, "other", {**other, "text": "/who"})["reply"])
    inside = open_session(settings, Options(session="s1"), lock_wait=5.0)
    inside.engine.memories.create(Address("memtui:global", "a.md"), "a\n", actor=Actor("mcp:qwen"))
    assert [one.who for one in turns.of_records(range(1, 9)).values()] == ["Ann"]
    turns.begin(turns.request("s1", "other", Chat("lobby", "c9"), person="u9", name="Eve").id)
    inside.engine.memories.create(Address("memtui:global", "b.md"), "b\n", actor=Actor("mcp:qwen"))
    assert [one.who for one in turns.of_records(range(1, 9)).values()] == ["Ann"]
    assert open_chat(session, settings, "other", other)["first"]
    assert open_chat(session, settings, "bot", {**TEAM, "session": "s1"})["first"]


def test_no_entry_begins_a_key_that_would_hide_what_follows(session: Session) -> None:
    assert "private key" in say(session, "/remember -----BEGIN PRIVATE KEY-----")[0]
    assert say(session, "/remember Deploys go through stagingEnvironmentOne")[0] == "Remembered."
    assert "staging" in say(session, "/memory")[0]


def test_a_command_of_an_agent_sees_no_chat(session: Session, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    root = room_of(session, CHAT)
    append(session.engine, root, CHAT, "Tea at four", actor=Actor("cli"))
    view = ("view", str(Address(root.id, FILE)))
    assert "Tea at four" in cli(*view).out
    monkeypatch.setenv("CLAUDECODE", "1")
    assert "Tea at four" not in cli(*view).out
