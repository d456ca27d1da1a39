"""What takes more than a call to bring about: rights, links, odd bytes, full scopes, broken disks, other programs."""

import errno
import os
import re
import threading
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.look.library import FolderItem, FolderItems
from memtui.engine.look.roots import OFF, PLAN, READ_ONLY, Access
from memtui.engine.model import Actor, Address, Policy, Root
from memtui.errors import CODES, BusyError, MemtuiError, RefusedError, StorageError
from memtui.memory_tool import call as calls
from memtui.memory_tool import scoped
from memtui.memory_tool.call import COMMANDS, parse_path
from memtui.memory_tool.scoped import NOT_TEXT, ScopedTool, names, numbered
from tests.faults.injector import failing, hooked, meddling
from tests.memory_tool.conftest import ACTOR, GLOBAL, Tool, open_tool
from tests.test_mask import GITHUB, KEY

A, B = f"{GLOBAL}/a.md", f"{GLOBAL}/b.md"
CALLS: dict[str, dict[str, object]] = {
    "view": {"path": A},
    "create": {"path": B, "file_text": "b"},
    "str_replace": {"path": A, "old_str": "one", "new_str": "two"},
    "insert": {"path": A, "insert_line": 0, "insert_text": "x"},
    "delete": {"path": A},
    "rename": {"old_path": A, "new_path": B},
}
ERRORS = (errno.EIO, errno.ENOSPC, errno.EACCES, errno.EMFILE, errno.EROFS)
FAILED = "Memory operation failed: "


@pytest.fixture
def a(tool: Tool) -> Path:
    tool.done("create", path=A, file_text="one\n")
    return tool.folder() / "a.md"


def moved(call: dict[str, object], scope: str) -> dict[str, object]:
    return {
        key: value.replace("/global/", f"/{scope}/") if isinstance(value, str) else value for key, value in call.items()
    }


# --- who may do what


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("access", [READ_ONLY, PLAN, Access("mixed", (("global", "rw"), ("workspace", "rw")))])
def test_rights_are_said_before_anything_is_looked_at(access: Access, command: str, tmp_path: Path) -> None:
    with open_tool(tmp_path).engine as engine:
        for scope in ("global", "project", "workspace"):
            engine.memories.create(Address(f"memtui:{scope}", "a.md"), "one\n", actor=ACTOR)
    found = open_tool(tmp_path, access=access)
    with found.engine:
        for scope in ("global", "project", "workspace"):
            allowed = command == "view" or (access is not READ_ONLY and scope != "project")
            result = found(command, **moved(CALLS[command], scope))
            assert result.ok is allowed
            if not allowed:
                said = f"The {scope} memory scope is read-only for this agent; only 'view' is allowed."
                instead = "" if access is READ_ONLY else " You may write in /memories/global and /memories/workspace."
                assert result.text == said + instead


@pytest.mark.parametrize("command", COMMANDS)
def test_a_scope_that_is_not_there_says_why(command: str, tmp_path: Path) -> None:
    with open_tool(tmp_path, scopes=("global",)).engine as engine:
        tool = Tool(tmp_path, engine, ScopedTool(engine, ACTOR))
        for scope in ("project", "workspace"):
            text = f"{scope.capitalize()} memory is unavailable: no {scope} is associated with this session"
            assert tool.refused(command, **moved(CALLS[command], scope)) == text
        assert tool.done("view", path="/memories") == (
            "Directory: /memories\n- global/\n"
            "- project/\n  (unavailable: no project is associated with this session)\n"
            "- workspace/\n  (unavailable: no workspace is associated with this session)"
        )


def test_a_scope_that_is_switched_off_is_as_if_it_were_not_there(tmp_path: Path) -> None:
    found = open_tool(tmp_path, access=OFF)
    for call in CALLS.items():
        assert found.refused(call[0], **call[1]) == "Global memory is unavailable: it is switched off for this agent"


# --- what is on disk


def test_looking_makes_nothing(tool: Tool) -> None:
    for path in ("/memories", GLOBAL, A):
        tool("view", path=path)
    assert tool.on_disk() == {}
    assert not (tool.base / "state").exists()


@pytest.mark.parametrize("target", ["outside", "inside", "nowhere", "folder"])
@pytest.mark.parametrize("command", COMMANDS)
def test_links_are_never_followed(command: str, target: str, tool: Tool, a: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("one\n")
    lead = {"outside": secret, "inside": a, "nowhere": tmp_path / "none", "folder": tmp_path}[target]
    (tool.folder() / "link").symlink_to(lead)
    call = {
        key: value.replace("/a.md", "/link") if isinstance(value, str) else value
        for key, value in CALLS[command].items()
    }
    if command == "create":
        call["path"] = f"{GLOBAL}/link"
    before = tool.on_disk()
    assert tool.refused(command, **call) == calls.ESCAPES
    assert tool.refused(command, **{k: v + "/x.md" if k.endswith("path") else v for k, v in call.items()})  # type: ignore[operator]
    assert tool.on_disk() == before
    assert secret.read_text() == "one\n"
    assert "link" not in tool.done("view", path=GLOBAL)


@pytest.mark.parametrize("data", [b"caf\xe9\n", b"a\0b\n", "one\n".encode("utf-16")])
def test_what_is_no_text_is_shown_and_never_rewritten(data: bytes, tool: Tool) -> None:
    tool.folder().mkdir(parents=True)
    (tool.folder() / "a.md").write_bytes(data)
    assert tool.done("view", path=A).endswith(scoped.NOT_TEXT)
    for command in ("str_replace", "insert"):
        assert tool.refused(command, **CALLS[command]) == f"{A} is not a UTF-8 text file; cannot edit it"
    assert (tool.folder() / "a.md").read_bytes() == data
    tool.done("rename", old_path=A, new_path=B)
    assert (tool.folder() / "b.md").read_bytes() == data


@pytest.mark.parametrize("size", [102_401, 1_048_577])
def test_a_file_over_the_cap_is_not_read_whole(size: int, tool: Tool, a: Path) -> None:
    a.write_bytes(b"x" * size)
    sentence = calls.about(calls.OVER_CAP, parse_path(A))
    for command, fields in [("view", {}), ("view", {"limit": 1}), ("str_replace", {}), ("insert", {})]:
        assert tool.refused(command, **{**CALLS[command], **fields}) == sentence
    if size > 1_048_576:
        assert "too large to be kept in history" in tool.refused("delete", path=A)
        assert a.exists()
    else:
        tool.done("delete", path=A)


def test_a_file_over_the_cap_can_be_read_through_a_window_and_made_smaller(tool: Tool, a: Path) -> None:
    a.write_bytes(b"".join(b"line %d\n" % number for number in range(20_000)) + b"begin" + b"x" * 60_000 + b"end")
    assert tool.refused("view", path=A) == calls.about(calls.OVER_CAP, parse_path(A))
    assert tool.done("view", path=A, offset=3, limit=2) == "3\tline 2\n4\tline 3"
    assert tool.refused("view", path=A, limit=19_999) == calls.about(calls.OVER_CAP, parse_path(A))
    assert tool.refused("str_replace", path=A, old_str="line 7\n") == calls.about(calls.OVER_CAP, parse_path(A))
    a.write_bytes(b"line\n" * 10_000 + b"begin" + b"x" * 60_000 + b"end")
    tool.done("str_replace", path=A, old_str="begin" + "x" * 60_000 + "end", new_str="short")
    assert a.read_bytes() == b"line\n" * 10_000 + b"short"


@pytest.mark.parametrize(
    ("command", "field"), [("create", "file_text"), ("str_replace", "new_str"), ("insert", "insert_text")]
)
def test_a_nul_is_refused_before_it_locks_the_agent_out(command: str, field: str, tool: Tool, a: Path) -> None:
    before = a.read_bytes()
    path = B if command == "create" else A
    said = tool.refused(command, **{**CALLS[command], "path": path, field: "one\0two"})
    assert said == "Memory operation failed: the text holds a NUL character, at position 3; remove it"
    assert a.read_bytes() == before
    assert not (tool.folder() / "b.md").exists()


def test_a_clash_is_called_what_it_is(tool: Tool) -> None:
    tool.done("create", path="/memories/global/caf\u00e9.md", file_text="x")
    said = tool.refused("create", path="/memories/global/cafe\u0301.md", file_text="x")
    assert said.endswith("only by upper and lower case or in its Unicode form exists already; use that name or another")


def test_mode_bits_and_bytes_survive_an_edit(tool: Tool, a: Path) -> None:
    a.write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\nno end")
    a.chmod(0o640)
    tool.done("str_replace", path=A, old_str="two", new_str="2")
    tool.done("insert", path=A, insert_line=1, insert_text="mid")
    assert a.read_bytes() == b"\xef\xbb\xbfone\r\nmid\r\n2\r\nno end"
    assert a.stat().st_mode & 0o777 == 0o640


def test_a_fifo_is_refused_and_not_waited_for(tool: Tool, a: Path) -> None:
    os.mkfifo(tool.folder() / "b.md")
    assert tool.refused("view", path=B) == f"{B} is neither a file nor a directory; use another path"
    assert tool.refused("create", path=B, file_text="x").startswith("A file already exists")


def test_names_that_may_not_be_given_can_be_reached_where_they_are(tool: Tool, a: Path) -> None:
    for name in ("a..b.md", "~x.md", "100%2e.md"):
        (tool.folder() / name).write_text("one\n")
        path = f"{GLOBAL}/{name}"
        assert f"- {name}" in tool.done("view", path=GLOBAL)
        assert tool.done("view", path=path) == "1\tone\n2\t"
        tool.done("str_replace", path=path, old_str="one", new_str="two")
        assert "not allowed" in tool.refused("rename", old_path=A, new_path=path)
        tool.done("delete", path=path)
        assert "allowed" in tool.refused("view", path=path)
        assert "allowed" in tool.refused("delete", path=path)
        assert "allowed" in tool.refused("create", path=path, file_text="")


@pytest.mark.parametrize("name", ["a b.md", "it's.md", "ü日本.md", "e\u0301.md", "x-", "no-ending", "x" * 255])
def test_every_name_that_can_be_created_is_listed_and_reached(name: str, tool: Tool) -> None:
    path = f"{GLOBAL}/{name}"
    tool.done("create", path=path, file_text="x")
    assert f"- {name}" in tool.done("view", path=GLOBAL).split("\n")
    assert tool.done("view", path=path) == "1\tx"
    tool.done("delete", path=path)
    assert tool.on_disk() == {"global": None}


def test_an_over_full_scope_lists_what_it_has_and_says_what_it_leaves_out(tool: Tool) -> None:
    for folder, count in (("a", 1_005), ("z", 3)):
        (tool.folder() / folder).mkdir(parents=True)
        for number in range(count):
            (tool.folder() / folder / f"{number:04}.md").write_bytes(b"")
    lines = tool.done("view", path=GLOBAL).split("\n")
    assert lines[1:3] == ["- a/", "  - 0000.md"]
    assert len(lines) == 1_002
    assert "- z/" in lines
    assert lines[-1] == "(10 more not shown: view a directory further in to list it)"
    assert tool.done("view", path=f"{GLOBAL}/z") == f"Directory: {GLOBAL}/z\n- 0000.md\n- 0001.md\n- 0002.md"
    full = "The global memory scope is full (1000 files); delete unused files first"
    assert tool.refused("create", path=A, file_text="x") == full
    tool.done("rename", old_path=f"{GLOBAL}/z", new_path=f"{GLOBAL}/y")


def test_a_folder_with_what_cannot_be_deleted_is_deleted_in_part_and_says_so(tool: Tool, a: Path) -> None:
    tool.done("create", path=f"{GLOBAL}/f/a.md", file_text="x")
    (tool.folder() / "f" / "link.md").symlink_to(a)
    text = tool.refused("delete", path=f"{GLOBAL}/f")
    assert text == f"Deleted 1 of 2 files in {GLOBAL}/f. {calls.ESCAPES}"


# --- uses and history


def test_uses_are_counted_for_files_and_not_for_failures(tool: Tool, a: Path) -> None:
    def uses(path: str) -> int:
        return tool.engine.rows.get(Address("memtui:global", path)).uses

    assert uses("a.md") == 1
    for fields in ({"path": A}, {"path": A, "offset": 2}):
        tool.done("view", **fields)
    tool.done("view", path=GLOBAL)
    tool.refused("view", path=A, offset=99)
    tool.refused("str_replace", path=A, old_str="none")
    assert uses("a.md") == 3
    tool.done("str_replace", path=A, old_str="one", new_str="two")
    tool.done("insert", path=A, insert_line=0, insert_text="")
    tool.done("rename", old_path=A, new_path=B)
    assert uses("b.md") == 6
    row = tool.engine.rows.get(Address("memtui:global", "b.md"))
    assert row.actor == ACTOR.name
    assert row.last_written_at


def test_a_ledger_that_cannot_count_does_not_hide_a_memory(
    tool: Tool, a: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*given: object, **named: object) -> None:
        raise StorageError("no", code="E_STORE")

    monkeypatch.setattr(tool.engine.pins, "record_use", broken)
    assert tool.done("view", path=A) == "1\tone\n2\t"


# --- faults


@pytest.mark.parametrize("command", COMMANDS)
def test_a_broken_disk_is_a_sentence_without_a_path(command: str, tmp_path: Path) -> None:
    at, a_file = 0, "global/a.md"
    while True:
        at += 1
        world = open_tool(tmp_path / str(at))
        with world.engine:
            world.done("create", path=A, file_text="one\n")
            world.done("create", path=f"{GLOBAL}/sub/c.md", file_text="c\n")
            before = world.on_disk()
            with hooked(failing(at, ERRORS[at % len(ERRORS)])) as calls:
                result = world(command, **CALLS[command])
            assert str(tmp_path) not in result.text
            assert os.path.expanduser("~") not in result.text
            assert "memtui:" not in result.text
            if not result.ok and not any(".memtui-" in name for name in world.on_disk()):
                gone = command == "delete" and a_file not in world.on_disk()  # done, but it may not survive a power cut
                assert world.on_disk() == {k: v for k, v in before.items() if not (gone and k == a_file)}
        if len(calls) < at:
            assert result.ok
            return


@pytest.mark.parametrize("code", CODES)
def test_every_code_is_a_sentence_of_its_own(code: str, tool: Tool, a: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = str(tool.base)

    def refuse(*given: object, **named: object) -> None:
        raise MemtuiError(f"{secret} memtui:global/a.md is in the way", code=code, hint=secret)

    monkeypatch.setattr(tool.engine, "read_bytes", refuse)
    for name in ("edit", "create", "delete", "rename"):
        monkeypatch.setattr(tool.engine.memories, name, refuse)
    for command, fields in CALLS.items():
        text = tool.refused(command, **fields)
        assert secret not in text
        assert "memtui:" not in text
        assert len(text) > 20


def test_another_program_that_is_always_faster_ends_in_a_sentence(
    tool: Tool, a: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memtui.memory_tool.scoped._pause", lambda attempt: None)
    count = 0

    def intrude() -> None:
        nonlocal count
        count += 1
        a.write_text(f"one {count}\n")

    with hooked(meddling("exchange", intrude, time=1)):
        tool.done("str_replace", path=A, old_str="one", new_str="two")
    assert a.read_text() == "two 1\n"

    def always(number: int, name: str, call: object, arguments: object) -> object:
        if name == "exchange":
            a.write_text(f"two {number}\n")
        return call(*arguments)  # type: ignore[operator, misc]

    with hooked(always):
        text = tool.refused("str_replace", path=A, old_str="two", new_str="three")
    assert text == f"{FAILED}another program keeps changing {A}; view it, then try again"


def test_a_busy_scope_ends_in_a_sentence(tool: Tool, a: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(*given: object, **named: object) -> None:
        raise BusyError("tui (process 1) is writing")

    monkeypatch.setattr(tool.engine.memories, "edit", busy)
    said = tool.refused("insert", path=A, insert_line=0, insert_text="x")
    assert said == f"{FAILED}another program is writing to this scope; try again in a moment"


@pytest.mark.parametrize(
    ("command", "said"), [("rename", f"Destination {B} already exists"), ("create", "A file already exists")]
)
def test_a_name_taken_in_the_last_moment_is_not_overwritten(command: str, said: str, tool: Tool, a: Path) -> None:
    theirs = tool.folder() / "b.md"
    with hooked(meddling("rename_noreplace", lambda: theirs.write_text("theirs"))):
        assert tool.refused(command, **CALLS[command]).startswith(said)
    assert (a.read_text(), theirs.read_text()) == ("one\n", "theirs")


def test_two_clients_that_edit_one_file_both_land(tool: Tool, a: Path) -> None:
    a.write_text("".join(f"line {n}: 0\n" for n in range(8)))
    failures: list[str] = []

    def edit(line: int) -> None:
        mine = open_tool(tool.base)
        with mine.engine:
            for count in range(20):
                old, new = f"line {line}: {count}\n", f"line {line}: {count + 1}\n"
                result = mine("str_replace", path=A, old_str=old, new_str=new)
                if not result.ok:
                    failures.append(result.text)

    threads = [threading.Thread(target=edit, args=(line,)) for line in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert a.read_text() == "".join(f"line {n}: {20 if n < 4 else 0}\n" for n in range(8))


def test_refusals_of_names_hold_the_reason_and_no_root(tool: Tool) -> None:
    path = f"{GLOBAL}/{'x' * 300}.md"
    assert tool.refused("create", path=path, file_text="") == (
        f"Invalid memory path '{path}': a component is longer than 255 bytes"
    )
    deep = GLOBAL + "/d" * 30
    assert "levels deep" in tool.refused("create", path=deep, file_text="")
    with pytest.raises(RefusedError):
        tool.engine.memories.create(Address("memtui:global", "d/" * 30 + "x"), "", actor=ACTOR)


# --- secrets


def test_what_a_client_sees_is_masked_line_by_line_and_stays_whole(tool: Tool) -> None:
    tool.done("create", path=A, file_text=f"# Keys\n{KEY}\ntoken {GITHUB} for\nlast\n")
    seen = tool.done("view", path=A)
    assert (
        seen == "1\t# Keys\n2\t[masked: private key]\n3\t\n4\t\n5\t\n6\ttoken [masked: GitHub token] for\n7\tlast\n8\t"
    )
    assert tool.done("view", path=A, offset=3, limit=1) == "3\t"
    assert GITHUB not in tool.done("create", path=f"{GLOBAL}/{GITHUB}.md", file_text="x")
    assert "[masked: GitHub token].md" in tool.done("view", path="/memories")
    for call in (
        {"command": "str_replace", "path": A, "old_str": "[masked: GitHub token] for", "new_str": "it"},
        {"command": "str_replace", "path": A, "old_str": f"{GITHUB[20:]} for", "new_str": "it"},
        {"command": "str_replace", "path": A, "old_str": "token " + GITHUB[:6], "new_str": ""},
        {"command": "str_replace", "path": A, "old_str": GITHUB, "new_str": "[masked: GitHub token]"},
        {"command": "insert", "path": A, "insert_line": 3, "insert_text": "in the key"},
    ):
        before = tool.on_disk()
        assert "(E_MASKED)" in tool.tool.call(call).text
        assert tool.on_disk() == before


def test_what_is_around_a_secret_is_edited_and_a_mask_is_a_text(tool: Tool) -> None:
    tool.done("create", path=A, file_text=f"token {GITHUB} for\n")
    tool.done("str_replace", path=A, old_str=" for", new_str=" of [masked: x]")
    tool.done("insert", path=A, insert_line=1, insert_text="[masked: GitHub token]")
    tool.done("str_replace", path=A, old_str="token]", new_str="token], again")
    assert "old_str was not found" in tool.refused("str_replace", path=A, old_str="[masked: y]", new_str="")
    tool.done("str_replace", path=A, old_str=GITHUB, new_str="(in the vault)")
    kept = "token (in the vault) of [masked: x]\n[masked: GitHub token], again\n"
    assert (tool.folder() / "a.md").read_text() == kept


@pytest.mark.parametrize(
    ("data", "offset", "limit", "text"),
    [
        (b"", 1, 5, ""),
        (b"one", 1, None, "1\tone"),
        (b"one\r\ntwo\r\n", 2, 1, "2\ttwo\r"),
        (b"a\x0cb\xe2\x80\xa8c\rd", 1, None, "1\ta\x0cb\u2028c\rd"),
        (b"one\ntwo\n", 3, 99, "3\t"),
        (b"\xef\xbb\xbfone", 1, None, "1\t\ufeffone"),
        (b"caf\xe9", 1, None, f"1\tcaf\ufffd\n{NOT_TEXT}"),
    ],
)
def test_lines_are_numbered(data: bytes, offset: int, limit: int | None, text: str) -> None:
    assert numbered(data, offset, limit) == text


def item(path: str, kind: str = "memory", *, shown: bool = True, filled: bool = True) -> FolderItem:
    return FolderItem(path, kind, 0, shown, filled)


def test_only_what_can_be_opened_is_listed() -> None:
    found = FolderItems(
        (
            item("a.md"),
            item(".hidden", shown=False),
            item("bare", "folder", filled=False),
            item("bare/.x", shown=False),
            item("f", "folder"),
            item("f/b.md"),
            item("f/link", "link"),
            item("new\nline.md"),
            item("odd\\", "folder"),
            item("odd\\/c.md"),
            item("pipe", "other"),
        ),
        0,
    )
    assert names(found) == ["- a.md", "- f/", "  - b.md", "(2 with a name that cannot be used here)"]
    assert names(found, indent=1)[:2] == ["  - a.md", "  - f/"]


def test_what_is_further_in_is_left_out_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoped, "NAMES", 3)
    found = FolderItems((item("a", "folder"), item("a/b.md"), item("a/c.md"), item("z.md")), 2)
    assert names(found) == ["- a/", "  - b.md", "- z.md", "(3 more not shown: view a directory further in to list it)"]


D = Address("memtui:global", "d")
TRUE = [
    r"No memory file or directory at /memories/global/d",
    r"Destination /memories/global/e\d+-\d+ already exists",
    r"Memory operation failed: another program keeps changing /memories/global/d; view it, then try again",
]


def engine(base: Path) -> Engine:
    root = Root("memtui:global", str(base / "memory"), "memtui", "global", policy=Policy(102_400, 1_000))
    return Engine.open([root], state_dir=str(base / "state"), lock_wait=20)


def test_what_is_said_while_others_create_in_a_folder_is_true(tmp_path: Path) -> None:
    said: list[tuple[bool, str]] = []
    making = threading.Event()
    made: list[bool] = []

    def create(number: int) -> None:
        with engine(tmp_path) as one:
            tool = ScopedTool(one, Actor("agent:maker"))
            for count in range(60):
                path = f"/memories/global/d/{number}-{count}.md"
                made.append(tool.call({"command": "create", "path": path, "file_text": "x"}).ok)

    def meddle(number: int) -> None:
        with engine(tmp_path) as one:
            tool = ScopedTool(one, Actor("agent:meddler"))
            count = 0
            while not making.is_set():
                count += 1
                call = {"command": ("delete", "rename", "view")[number % 3], "path": "/memories/global/d"}
                if number % 3 == 1:
                    call["new_path"] = f"/memories/global/e{number}-{count}"
                result = tool.call(call)
                said.append((result.ok, result.text))

    makers = [threading.Thread(target=create, args=(number,)) for number in range(3)]
    meddlers = [threading.Thread(target=meddle, args=(number,)) for number in range(5)]
    for thread in (*makers, *meddlers):
        thread.start()
    for thread in makers:
        thread.join()
    making.set()
    for thread in meddlers:
        thread.join()
    assert made == [True] * 180
    false = {text for ok, text in said if not ok and not any(re.fullmatch(true, text) for true in TRUE)}
    assert false == set()


@pytest.mark.parametrize("command", ["delete", "rename"])
def test_a_folder_of_hidden_files_is_called_what_it_is(command: str, tmp_path: Path) -> None:
    (tmp_path / "memory/d").mkdir(parents=True)
    (tmp_path / "memory/d/.keep").write_text("mine")
    with engine(tmp_path) as one:
        assert scoped.at(one, D) == scoped.OTHERS
        call = {"command": command, "path": D.path, "new_path": "/memories/global/e"}
        result = ScopedTool(one, Actor("agent:x")).call(call | {"path": "/memories/global/d"})
    words = "/memories/global/d holds no memories, only hidden or other files, which are left alone; use another path"
    assert (result.ok, result.text) == (False, words)
    assert (tmp_path / "memory/d/.keep").read_text() == "mine"
