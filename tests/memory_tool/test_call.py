"""The edits on bytes: exactly what was asked for changes, and not one byte more."""

import json
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memtui.engine.look.roots import OFF, PLAN, READ_ONLY, READ_WRITE, Access
from memtui.memory_tool import call
from memtui.memory_tool.call import (
    COMMANDS,
    REQUIRED,
    SCOPES,
    Matches,
    NoSuchLine,
    NotText,
    NotUnique,
    Refusal,
    Request,
    Rights,
    SecretTouched,
    check_masks,
    find,
    insert,
    is_text,
    listable,
    parse_path,
    reachable,
    reachable_path,
    read_request,
    rights,
    schema,
    segment_problem,
    str_replace,
)
from tests.examples import examples
from tests.memory_tool.conftest import open_tool

TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
LINES = st.text(alphabet=st.sampled_from("ab\r\n\ufeff\u2028\x0c é"), max_size=12)


@pytest.mark.parametrize(
    ("data", "text", "matches"),
    [
        (b"aaa", b"aa", Matches(2, (1,))),
        (b"a\nb\na\n", b"a", Matches(2, (1, 3))),
        (b"a\na\na", b"a\na", Matches(2, (1, 2))),
        (b"x", b"y", Matches(0, ())),
        (b"a\n" * 50, b"a", Matches(50, tuple(range(1, 21)))),
    ],
)
def test_every_occurrence_counts_also_where_they_overlap(data: bytes, text: bytes, matches: Matches) -> None:
    assert find(data, text) == matches


@pytest.mark.parametrize(
    ("data", "old", "new", "after"),
    [
        (b"a b c", "b", "", b"a  c"),
        (b"cost: x", "x", "$& $1 $` $' \\1 \\g<0> %s {0}", b"cost: $& $1 $` $' \\1 \\g<0> %s {0}"),
        (b"one\r\ntwo\r\n", "one\ntwo", "1\n2\n3", b"1\r\n2\r\n3\r\n"),
        (b"one\r\ntwo\r\n", "one\r\ntwo", "1\n2", b"1\r\n2\r\n"),
        (b"one\r\ntwo\r\n", "one", "1\n2\r\n3", b"1\r\n2\r\n3\r\ntwo\r\n"),
        (b"one\r\ntwo\n", "one", "1\n2", b"1\n2\r\ntwo\n"),
        (b"\xef\xbb\xbfone", "one", "two", b"\xef\xbb\xbftwo"),
        (b"no end", "no", "the", b"the end"),
        ("e\u0301 \u00e9".encode(), "\u00e9", "e", "e\u0301 e".encode()),
        (b"a\xc2\xa0b\x0cc\xe2\x80\xa8d", "b\x0cc", "x", b"a\xc2\xa0x\xe2\x80\xa8d"),
    ],
)
def test_a_replacement_is_literal_and_keeps_the_rest(data: bytes, old: str, new: str, after: bytes) -> None:
    assert str_replace(data, old, new) == after


@pytest.mark.parametrize(
    ("data", "old", "times"),
    [(b"aaa", "aa", 2), (b"abc", "x", 0), (b"a\nb\r\n", "a\r\nb", 0), (b"x\ny\r\nx\r\ny\n", "x\ny", 1)],
)
def test_what_is_not_there_once_is_refused(data: bytes, old: str, times: int) -> None:
    if times == 1:
        assert str_replace(data, old, "") == data.replace(old.encode(), b"", 1)
        return
    with pytest.raises(NotUnique) as caught:
        str_replace(data, old, "y")
    assert caught.value.matches.times == times


@pytest.mark.parametrize("data", [b"\xff", b"caf\xe9", b"a\0b", "text".encode("utf-16"), b"\xed\xa0\x80"])
def test_what_is_no_text_is_never_rewritten(data: bytes) -> None:
    assert not is_text(data)
    for edit in (lambda: str_replace(data, "a", "b"), lambda: insert(data, 0, "x")):
        with pytest.raises(NotText):
            edit()


@pytest.mark.parametrize(
    ("data", "line", "text", "after"),
    [
        (b"one\ntwo\n", 1, "x\n", b"one\nx\ntwo\n"),
        (b"one\ntwo\n", 2, "x\ny", b"one\ntwo\nx\ny\n"),
        (b"one\ntwo\n", 3, "x", b"one\ntwo\n\nx"),
        (b"one", 1, "x", b"one\nx"),
        (b"", 0, "x", b"x\n"),
        (b"one\n", 0, "\n", b"\none\n"),
        (b"one\r\ntwo\r\n", 1, "x\ny\r\n", b"one\r\nx\r\ny\r\ntwo\r\n"),
        (b"one\r\ntwo", 2, "x\ny", b"one\r\ntwo\r\nx\r\ny"),
        (b"one\r\ntwo\n", 1, "x", b"one\r\nx\ntwo\n"),
        (b"\xef\xbb\xbfone\n", 0, "x", b"\xef\xbb\xbfx\none\n"),
        (b"\xef\xbb\xbf", 0, "x", b"\xef\xbb\xbfx\n"),
        (b"a\rb\x0cc\xe2\x80\xa8d\n", 1, "x", b"a\rb\x0cc\xe2\x80\xa8d\nx\n"),
    ],
)
def test_lines_are_inserted_where_view_counts_them(data: bytes, line: int, text: str, after: bytes) -> None:
    assert insert(data, line, text)[0] == after


@pytest.mark.parametrize(("data", "line", "last"), [(b"", 1, 0), (b"a", 2, 1), (b"a\n", 3, 2), (b"a", 10**30, 1)])
def test_a_line_that_is_not_there_is_refused(data: bytes, line: int, last: int) -> None:
    with pytest.raises(NoSuchLine) as caught:
        insert(data, line, "x")
    assert caught.value.last == last


@given(before=TEXTS, after=TEXTS, new=TEXTS)
def test_whatever_is_put_in_comes_back(before: str, after: str, new: str) -> None:
    mark = "\u2603 the one place \u2603"
    data = (before + mark + after).encode()
    if data.count(mark.encode()) == 1:
        assert str_replace(data, mark, new) == (before + new + after).encode()


def lines(text: bytes) -> list[bytes]:
    """Lines without their ends; a CR at the very end is no line end."""
    *whole, last = text.split(b"\n")
    return [*(one.removesuffix(b"\r") for one in whole), last]


@settings(max_examples=examples(300))
@given(text=LINES, new=LINES, data=st.data())
def test_an_insertion_takes_nothing_away(text: str, new: str, data: st.DataObject) -> None:
    raw = text.encode()
    mark = b"\xef\xbb\xbf" if raw.startswith(b"\xef\xbb\xbf") else b""
    before = lines(raw.removeprefix(mark))
    line = data.draw(st.integers(0, len(before) if raw != mark else 0))
    assume(not raw.endswith(b"\r") or line < len(before))  # a CR at the very end becomes a part of the line end
    after, count = insert(raw, line, new)
    assert after.startswith(mark)
    found = lines(after.removeprefix(mark))
    assert len(found) == len(before) + count
    assert found[:line] + found[line + count :] == before
    assert b"\n".join(found[line : line + count]).replace(b"\r", b"") == (
        new.removesuffix("\n").encode().replace(b"\r", b"")
    )
    if raw.count(b"\n") == raw.count(b"\r\n") > 0:
        assert after.count(b"\n") == after.count(b"\r\n")


KEY = "-----BEGIN PRIVATE KEY-----\n" + "Qx9z" * 16 + "\n-----END PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "old", "new", "refused"),
    [
        ("token: gh" + "p_" + "a1B2" * 9, "token: ", "token: x", False),
        ("token: gh" + "p_" + "a1B2" * 9, "token: ", "the token: ", False),
        ("DB_PASSWORD=Tr0ub4dor-horse", "DB_PASSWORD=", "it = ", True),
        ("DB_PASSWORD=Tr0ub4dor-horse\nDB_PASSWORD=Hunter2-stapler", "DB_PASSWORD=Tr0ub4dor-horse\n", "", False),
        (f"a\n{KEY}\nb", "a\n-----BEGIN", "a\nBEGIN", True),
    ],
)
def test_no_edit_beside_a_secret_takes_its_mask_off(text: str, old: str, new: str, refused: bool) -> None:
    after = str_replace(text.encode(), old, new)
    assert after != text.encode()
    if refused:
        with pytest.raises(SecretTouched):
            check_masks(text.encode(), after)
    else:
        check_masks(text.encode(), after)


P = "/memories/global/a.md"


def refusal(**given: object) -> str:
    with pytest.raises(Refusal) as caught:
        read_request(given)
    return caught.value.text


def test_the_schema_is_flat_and_asks_only_for_the_command() -> None:
    found = json.loads(json.dumps(schema()))
    assert found["required"] == ["command"]
    assert found["properties"]["command"]["enum"] == list(COMMANDS)
    others = {name: spec for name, spec in found["properties"].items() if name != "command"}
    assert set(others) == set(Request._fields) - {"command"}
    assert {name: spec["type"] for name, spec in others.items()} == {
        name: "integer" if name in call.NUMBERS else "string" for name in others
    }
    assert all(set(spec) == {"type", "description"} for spec in others.values())
    assert "description" not in found["properties"]["command"]
    limited = json.loads(json.dumps(schema("You may only read.")))
    assert limited["properties"].pop("command")["description"].endswith("You may only read.")
    assert limited["properties"] == others


@pytest.mark.parametrize(
    ("given", "field", "value"),
    [
        ({"command": "view", "path": P, "file_path": "/x"}, "path", P),
        ({"command": "create", "path": P, "file_text": None, "content": "x"}, "file_text", "x"),
        ({"command": "create", "path": P, "file_text": "", "content": "x"}, "file_text", ""),
        ({"command": "str_replace", "path": P, "old_string": "x"}, "old_str", "x"),
        ({"command": "str_replace", "path": P, "old_str": "x", "new_string": "y"}, "new_str", "y"),
        ({"command": "str_replace", "path": P, "old_str": "x", "new_str": None}, "new_str", ""),
        ({"command": "insert", "path": P, "insert_line": 0, "new_str": "y"}, "insert_text", "y"),
        ({"command": "insert", "path": P, "insert_line": 0, "insert_text": "", "new_str": "y"}, "insert_text", ""),
        ({"command": "insert", "path": P, "insert_line": 2.0, "insert_text": ""}, "insert_line", 2),
        ({"command": "rename", "path": "/y", "old_path": P, "new_path": "/x"}, "old_path", P),
        ({"command": "view", "path": P, "view_range": [3, 5]}, "offset", 3),
        ({"command": "view", "path": P, "view_range": [0, -1]}, "offset", 1),
        ({"command": "view", "path": P, "view_range": [2, -1]}, "limit", None),
        ({"command": "view", "path": P, "view_range": None, "offset": 4}, "offset", 4),
        ({"command": "view", "path": P, "new_str": [], "insert_line": "x"}, "path", P),
        ({"command": "view", "path": P, "offset": "12"}, "offset", 12),
        ({"command": "view", "path": P, "offset": 0, "limit": 0}, "offset", 1),
        ({"command": "view", "path": P, "offset": "", "limit": "0"}, "limit", None),
        ({"command": "insert", "path": P, "insert_line": " 2 ", "insert_text": "y"}, "insert_line", 2),
        ({"command": "rename", "path": P, "old_path": "", "new_path": "/x"}, "old_path", P),
    ],
)
def test_other_names_are_taken(given: dict[str, object], field: str, value: object) -> None:
    assert getattr(read_request(given), field) == value


def filled(**given: object) -> dict[str, object]:
    """A call as a host writes it whose strict schema makes every field required."""
    return {name: 0 if name in call.NUMBERS else "" for name in Request._fields} | given


@pytest.mark.parametrize(
    "given",
    [
        {"command": "view", "path": P},
        {"command": "view", "path": P, "offset": 2, "limit": 3},
        {"command": "create", "path": P, "file_text": ""},
        {"command": "str_replace", "path": P, "old_str": "x", "new_str": ""},
        {"command": "insert", "path": P, "insert_line": 0, "insert_text": "x"},
        {"command": "delete", "path": P},
        {"command": "rename", "old_path": P, "new_path": "/memories/global/b.md"},
    ],
)
def test_what_a_strict_host_fills_in_for_nothing_counts_as_absent(given: dict[str, object]) -> None:
    assert read_request(filled(**given)) == read_request(given)
    foreign = set(Request._fields).difference(given, call.REQUIRED[str(given["command"])], ("offset", "limit"))
    assert read_request(given | dict.fromkeys(foreign - {"new_str", "path"}, "nonsense")) == read_request(given)


def test_paths_that_are_empty_are_missing() -> None:
    assert refusal(**filled(command="view")) == "view requires 'path'"
    assert refusal(**filled(command="rename", new_path=P)) == "rename requires 'old_path' and 'new_path'"


def test_a_null_path_blocks_the_other_names() -> None:
    assert refusal(command="view", path=None, file_path=P) == "view requires 'path'"


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("view", "view requires 'path'"),
        ("create", "create requires 'path' and 'file_text'"),
        ("str_replace", "str_replace requires 'path' and 'old_str'"),
        ("insert", "insert requires 'path', 'insert_line' and 'insert_text'"),
        ("delete", "delete requires 'path'"),
        ("rename", "rename requires 'old_path' and 'new_path'"),
    ],
)
def test_what_is_missing_is_named(command: str, sentence: str) -> None:
    whole: dict[str, object] = {name: 1 if name in call.NUMBERS else "x" for name in REQUIRED[command]}
    assert read_request({"command": command, **whole}).command == command
    for name in whole:
        assert refusal(command=command, **{k: v for k, v in whole.items() if k != name}) == sentence
        assert refusal(command=command, **{**whole, name: None}) == sentence


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({}, "'command' must be one of view, create"),
        ({"command": ["view"], "path": P}, "'command' must be one of"),
        ({"command": "view", "path": 5}, "'path' must be a string"),
        ({"command": "str_replace", "path": P, "old_str": "a", "new_str": []}, "'new_str' must be a string"),
        ({"command": "view", "path": P, "offset": "many"}, "'offset' must be a whole number"),
        ({"command": "view", "path": P, "offset": "9" * 5000}, "'offset' must be a whole number"),
        ({"command": "insert", "path": P, "insert_line": "", "insert_text": "x"}, "insert requires 'path'"),
        ({"command": "view", "path": P, "offset": True}, "'offset' must be a whole number"),
        ({"command": "view", "path": P, "offset": 1.5}, "'offset' must be a whole number"),
        ({"command": "view", "path": P, "offset": float("nan")}, "'offset' must be a whole number"),
        ({"command": "view", "path": P, "offset": -1}, "offset must be positive (got -1)"),
        ({"command": "view", "path": P, "limit": -(10**4999)}, "limit must be positive (got a number that is far"),
        ({"command": "insert", "path": P, "insert_line": -1, "insert_text": ""}, "insert_line must not be negative"),
        ({"command": "view", "path": P, "view_range": [1]}, "'view_range' must be two whole numbers"),
        ({"command": "view", "path": P, "view_range": "12"}, "'view_range' must be two whole numbers"),
        ({"command": "view", "path": P, "view_range": [5, 2]}, "view_range [5, 2] is empty"),
    ],
)
def test_wrong_values_are_refused_in_words(given: dict[str, object], part: str) -> None:
    assert part in refusal(**given)


def test_a_window_as_large_as_json_has_them_is_taken() -> None:
    assert read_request({"command": "view", "path": P, "offset": 10**4000}).offset == 10**4000


@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        ("/memories", "/memories"),
        ("/memories/", "/memories"),
        ("  /memories//  ", "/memories"),
        ("/memories/global", "/memories/global"),
        (" /memories/project/a b/c.md/ ", "/memories/project/a b/c.md"),
        ("/memories/workspace/it's: ü 日本.md", "/memories/workspace/it's: ü 日本.md"),
        ("/memories/global/CON", "/memories/global/CON"),
    ],
)
def test_paths_that_are_taken(given: str, canonical: str) -> None:
    place = parse_path(given)
    assert (place.canonical, place.doubt) == (canonical, "")


EMPTY = "empty or '.' path segments are not allowed"
UP = "path traversal ('..') is not allowed"
ENCODED = "URL-encoded traversal sequences are not allowed"
CONTROL = "control characters are not allowed"
START = "paths must start with /memories/ (e.g. /memories/global/notes.md)"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("", START),
        ("memories/global/a", START),
        ("/Memories/global/a", START),
        ("/memories/global/./a", EMPTY),
        ("/memories/global/...", UP),
        ("/memories/global/.. /a", UP),
        ("/memories/global/..\\b", UP),
        ("/memories/global/a\x00b", CONTROL),
        ("/memories/global/a\x7fb", CONTROL),
        ("/memories/global/.hidden", "names that begin with '.' are hidden, and hidden files are not memories"),
        ("/memories/global/a\udcff", "it holds a character that has no UTF-8 form"),
    ],
)
def test_paths_that_are_refused(given: str, reason: str) -> None:
    with pytest.raises(Refusal) as caught:
        parse_path(given)
    echo = given.encode("utf-8", "backslashreplace").decode()
    assert caught.value.text == f"Invalid memory path '{echo}': {reason}"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("a..b.md", UP),
        ("~user.md", "'~' is not allowed in memory paths"),
        ("%2e%2e%2fx", ENCODED),
        ("<a>.md", "'<', '>' and '\"' are not allowed in memory paths"),
    ],
)
def test_names_that_nothing_is_given_but_that_may_be_there(given: str, reason: str) -> None:
    path = f"/memories/global/{given}"
    assert parse_path(path).doubt == f"Invalid memory path '{path}': {reason}"
    assert reachable(given)


@pytest.mark.parametrize("scope", ["", "Global", "channels", "notes", "global.md", " "])
def test_scopes_that_are_none(scope: str) -> None:
    with pytest.raises(Refusal) as caught:
        parse_path(f"/memories/{scope}/a.md")
    assert caught.value.text == f"Invalid memory scope '{scope}': expected one of {', '.join(SCOPES)}"


@given(st.text())
def test_whatever_is_taken_stays_below_its_scope(text: str) -> None:
    for path in (text, f"/memories/{text}", f"/memories/global/{text}"):
        try:
            place = parse_path(path)
        except Refusal as refusal:
            refusal.text.encode()
            continue
        assert place.scope in (*SCOPES, None)
        assert all(part not in ("", ".", "..") and "/" not in part and "\0" not in part for part in place.parts)
        assert parse_path(place.canonical).parts == place.parts


def test_an_absurdly_long_path_is_not_repeated_whole() -> None:
    with pytest.raises(Refusal) as caught:
        parse_path("x" * 10_000_000)
    assert len(caught.value.text) < 3_000


@pytest.mark.parametrize(
    "name", ["", ".", "..", ".hidden", "a\nb.md", "a\\b", "bad\udcff.md", " a.md", "a.md ", "\x7f"]
)
def test_names_that_cannot(name: str) -> None:
    assert not reachable(name)
    assert not reachable_path(f"folder/{name}")
    assert not reachable_path(f"{name}/a.md")


@pytest.mark.parametrize("path", ["<x>.md", "a/</memory_index>.md", 'a"b.md', ".hid/y.md"])
def test_paths_that_a_list_would_change_are_not_listed(path: str) -> None:
    assert not listable(path)


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4).map("/".join))
def test_whatever_can_be_written_is_taken_as_it_is(path: str) -> None:
    given_path = f"/memories/global/{path}"
    if reachable_path(path):
        assert parse_path(given_path).canonical == given_path
    elif any(segment_problem(part)[1] for part in path.split("/")):
        with pytest.raises(Refusal):
            parse_path(f"{given_path}/x")


ALL = ("global", "project", "workspace")


@pytest.mark.parametrize(
    ("access", "readable", "writable"),
    [
        (READ_WRITE, ALL, ALL),
        (PLAN, ALL, ("global", "workspace")),
        (READ_ONLY, ALL, ()),
        (OFF, (), ()),
        (Access("rw", (("global", "off"),)), ("project", "workspace"), ("project", "workspace")),
    ],
)
def test_they_are_the_engines(
    tmp_path: Path, access: Access, readable: tuple[str, ...], writable: tuple[str, ...]
) -> None:
    with open_tool(tmp_path, access=access).engine as engine:
        assert rights(engine) == Rights(readable, writable)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (Rights(ALL, ALL), ""),
        (Rights(("global",), ("global",)), ""),
        (Rights(ALL, ()), "You may only read memories, not change them."),
        (
            Rights(ALL, ("global", "workspace")),
            "You may write in /memories/global and /memories/workspace; /memories/project you may only read.",
        ),
        (
            Rights(ALL, ("workspace",)),
            "You may write in /memories/workspace; /memories/global and /memories/project you may only read.",
        ),
    ],
)
def test_in_words(found: Rights, said: str) -> None:
    assert found.in_words == said
