"""Names: what is refused and why, what all that are allowed have in common, and that no path leads out of a root."""

import errno
import os
import socket
import unicodedata
from collections.abc import Iterator
from fnmatch import fnmatchcase

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from memtui.engine import Engine
from memtui.engine.disk import fsio, handles, paths
from memtui.engine.disk.handles import RootHandle
from memtui.engine.disk.paths import Patterns, Selection, flags, fold, skeleton
from memtui.engine.model import Policy, Root
from memtui.errors import ConflictError, MemtuiError, NotFoundError, RefusedError, StorageError
from tests.examples import examples
from tests.faults.world import ME, World, at

REFUSED_EVERYWHERE = [
    ("../x.md", "E_NAME"),
    ("a/../../x.md", "E_NAME"),
    ("/etc/passwd", "E_NAME"),
    ("a//b.md", "E_NAME"),
    ("a/", "E_NAME"),
    ("", "E_NAME"),
    (".", "E_NAME"),
    ("..", "E_NAME"),
    ("a/./b.md", "E_NAME"),
    ("a\0.md", "E_NAME"),
    ("\ud800.md", "E_NAME"),
    ("é" * 128, "E_NAME_TOO_LONG"),
    ("x" * 256, "E_NAME_TOO_LONG"),
    ("/".join("x" * 21), "E_PATH_TOO_DEEP"),
    ("/".join(["x" * 240] * 5), "E_PATH_TOO_LONG"),
]
REFUSED_NEW = [
    ("~/x.md", "E_NAME"),
    ("~user/x.md", "E_NAME"),
    ("..\\x.md", "E_NAME"),
    ("C:\\x", "E_NAME"),
    ("\\\\host\\share\\x", "E_NAME"),
    ("x.md:stream", "E_NAME"),
    ("x.md::$DATA", "E_NAME"),
    ("x.md ", "E_NAME"),
    (" x.md", "E_NAME"),
    ("x.md\t", "E_NAME"),
    ('x.md"', "E_NAME"),
    ("   ", "E_NAME"),
    ("x.", "E_NAME"),
    ("...", "E_NAME"),
    ("-rf.md", "E_NAME"),
    (".hidden", "E_NAME"),
    (".memtui-0", "E_NAME"),
    ("a\nb.md", "E_NAME"),
    ("a\x1b[31m.md", "E_NAME"),
    ("a\x7f.md", "E_NAME"),
    ("a\x9b.md", "E_NAME"),
    ("\u202egpj.md", "E_NAME"),
    ("\u200b", "E_NAME"),
    ("a\u2028b.md", "E_NAME"),
    ("a\u00a0b.md", "E_NAME"),
    ("a\U000e0041.md", "E_NAME"),
    ("con.md", "E_RESERVED"),
    ("NUL", "E_RESERVED"),
    ("com1.txt", "E_RESERVED"),
    ("aux", "E_RESERVED"),
    ("LPT¹.md", "E_RESERVED"),
    ("con .md", "E_RESERVED"),
    (".git", "E_RESERVED"),
    (".GIT", "E_RESERVED"),
    (".g\u200cit", "E_RESERVED"),
    ("git~1", "E_RESERVED"),
    (".git.", "E_RESERVED"),
    ("a/.git/config", "E_RESERVED"),
    ("ｇｉｔ~1", "E_RESERVED"),
    ("a*.md", "E_NAME"),
    ("a?.md", "E_NAME"),
    ("a<b>.md", "E_NAME"),
    ("a|b.md", "E_NAME"),
    ("\udcff.md", "E_NAME"),
]
ALLOWED = [
    "x.md",
    "x" * 255,
    "/".join("x" * 20),
    "%2e%2e%2fx",
    "..x.md".replace("..", "x.."),
    "a b.md",
    "Übersicht über Café.md",
    "日本語/メモ.md",
    "🙂.md",
    "a~1.md",
    "git.md",
    "console.md",
    "com10.md",
    "e\u0301.md",
    "a'b.md",
    "a,b;c=d&e(f).md",
    "$HOME.md",
]


def creatable(path: str) -> tuple[str, ...]:
    parts = handles.split(path)
    paths.require_creatable(parts)
    return parts


@pytest.mark.parametrize(("path", "code"), REFUSED_EVERYWHERE)
def test_a_path_that_would_lead_elsewhere_is_refused(path: str, code: str) -> None:
    for judge in (handles.split, creatable):
        with pytest.raises(RefusedError) as caught:
            judge(path)
        assert caught.value.code == code
        assert caught.value.hint


@pytest.mark.parametrize(("path", "code"), REFUSED_NEW)
def test_a_name_that_is_unsafe_somewhere_is_not_made(path: str, code: str) -> None:
    with pytest.raises(RefusedError) as caught:
        creatable(path)
    assert caught.value.code == code
    if not path.startswith("/"):
        assert handles.split(path) == tuple(path.split("/"))  # one that exists is shown


@pytest.mark.parametrize("path", ALLOWED)
def test_an_ordinary_name_is_made_and_listed_as_it_is(path: str, world: World, engine: Engine) -> None:
    engine.memories.create(at(path), b"x\n", actor=ME)
    assert list(world.disk()) == [f"notes/{path}"]
    assert [row.address.path for row in engine.rows.list().items] == [path]
    assert engine.read(at(path)).bytes == b"x\n"


NAMES = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("./\\~-:\0 \t\n\x1b\u202e\u200bGITgitCONcon1"),
    ),
    max_size=40,
)


@given(NAMES)
@example("..")
@example("a/../b")
@settings(max_examples=examples(400))
def test_a_path_that_passes_stays_below(text: str) -> None:
    try:
        parts = handles.split(text)
    except RefusedError:
        return
    assert "/".join(parts) == text
    assert not any(part in ("", ".", "..") or "\0" in part or "/" in part for part in parts)
    assert os.path.normpath("/root/" + text).startswith("/root/")
    assert all(len(os.fsencode(part)) <= 255 for part in parts)


@given(NAMES)
@settings(max_examples=examples(400))
def test_a_name_that_may_be_made_is_plain_everywhere(text: str) -> None:
    try:
        parts = creatable(text)
    except RefusedError:
        return
    for part in parts:
        assert not set(part) & set('<>:"|?*\\/\0')
        assert not any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp", "Cn", "Co") for c in part)
        assert part[0] not in ".-~ "
        assert part[-1] not in ". "
        assert part.isascii() or unicodedata.normalize("NFKC", part).casefold() != ".git"
        part.encode()


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=12))
@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_may_be_made_is_made_under_exactly_that_name(world: World, text: str) -> None:
    try:
        creatable(text)
    except RefusedError:
        return
    with world.engine() as engine:
        engine.memories.create(at(text), text.encode(), actor=ME)
        assert os.listdir(os.fsencode(world.folder() / text.split("/")[0]).rpartition(b"/")[0])
        assert world.disk() == {f"notes/{text}": text.encode()}
        engine.memories.delete([at(text)], actor=ME)
    for parent in sorted(world.folder().rglob("*"), reverse=True):
        parent.rmdir()


@given(st.text(min_size=1, max_size=6), st.text(min_size=1, max_size=6))
def test_folding_is_stable(first: str, second: str) -> None:
    assert paths.fold(first.upper()) == paths.fold(first.upper().casefold())
    if unicodedata.normalize("NFC", first) == unicodedata.normalize("NFC", second):
        assert paths.fold(first) == paths.fold(second)


# --- handles


@pytest.fixture(params=["native", "portable"])
def handle(request: pytest.FixtureRequest, world: World) -> Iterator[RootHandle]:
    """An open root, with the kernel's own calls and without."""
    restore = fsio.without_native_calls() if request.param == "portable" else lambda: None
    opened = RootHandle(Root("notes", str(world.folder())))
    yield opened
    opened.close()
    restore()


def enter(handle: RootHandle, path: str, *, create: bool = False) -> None:
    with handle.folder(tuple(path.split("/")), create=create):
        pass


@pytest.mark.parametrize("create", [False, True])
@pytest.mark.parametrize("depth", ["link", "a/link", "link/b", "a/link/b/c"])
@pytest.mark.parametrize("target", ["/", ".", "..", "/nowhere"])
def test_no_link_is_descended_into(handle: RootHandle, world: World, depth: str, target: str, create: bool) -> None:
    (world.folder() / "a").mkdir()
    place = world.folder() / depth.partition("link")[0] / "link"
    place.symlink_to(target)
    with pytest.raises(RefusedError) as caught:
        enter(handle, depth, create=create)
    assert caught.value.code == "E_SYMLINK"


def test_a_file_on_the_way_is_no_folder(handle: RootHandle, world: World) -> None:
    (world.folder() / "a").write_text("file")
    for path in ("a", "a/b", "a/b/c"):
        with pytest.raises(NotFoundError):
            enter(handle, path)


def test_folders_are_made_with_all_that_is_missing(handle: RootHandle, world: World) -> None:
    enter(handle, "a/b/c", create=True)
    assert (world.folder() / "a/b/c").is_dir()
    with pytest.raises(NotFoundError):
        enter(handle, "a/x/c")


def test_only_plain_files_are_opened(handle: RootHandle, world: World) -> None:
    folder = world.folder()
    os.mkfifo(folder / "fifo")
    (folder / "folder").mkdir()
    (folder / "link").symlink_to(folder / "folder")
    (folder / "big").touch()
    os.truncate(folder / "big", 5 * 1024**3)
    server = socket.socket(socket.AF_UNIX)
    os.chdir(folder)
    server.bind("socket")
    server.close()
    for name, code in (
        ("fifo", "E_NOT_REGULAR"),
        ("folder", "E_NOT_REGULAR"),
        ("socket", "E_NOT_REGULAR"),
        ("link", "E_SYMLINK"),
        ("big", "E_TOO_BIG"),
        ("none", "E_NOT_FOUND"),
    ):
        with pytest.raises(MemtuiError) as caught:
            handles.open_regular(handle.fd, name, at(name), handle.identity[0], 1_000)
        assert caught.value.code == code


def test_another_file_system_is_not_entered(handle: RootHandle, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    (world.folder() / "a").mkdir()
    (world.folder() / "b.md").write_text("x")
    monkeypatch.setattr(handle, "identity", (handle.identity[0] + 1, handle.identity[1]))
    with pytest.raises(RefusedError) as caught:
        enter(handle, "a")
    assert caught.value.code == "E_OTHER_DEVICE"
    with pytest.raises(RefusedError) as caught:
        handles.open_regular(handle.fd, "b.md", at("b.md"), handle.identity[0], 1_000)
    assert caught.value.code == "E_OTHER_DEVICE"


def test_every_error_of_the_system_has_a_code_and_a_next_step() -> None:
    for number in errno.errorcode:
        error = paths.translate(OSError(number, os.strerror(number)), "Doing it")
        assert error.code in ("E_IO",) or not isinstance(error, StorageError) or error.code == "E_DISK_FULL"
        assert error.hint
        assert error.unharmed
        assert error.message.startswith("Doing it failed: ")
    assert paths.translate(OSError("without a number"), "Doing it").code == "E_IO"


@pytest.mark.parametrize(("name", "other"), [("Foo.md", "foo.md"), ("é.md", "e\u0301.md"), ("ſ.md", "s.md")])
def test_a_clash_is_found(handle: RootHandle, world: World, name: str, other: str) -> None:
    (world.folder() / name).touch()
    assert paths.clash(handle.fd, other) == name
    assert paths.clash(handle.fd, name) is None
    assert paths.clash(handle.fd, "x" + other) is None


def test_a_layout_names_files_by_pattern_and_folder() -> None:
    assert paths.matches("pinned/a.md", ("pinned/",))
    assert paths.matches("Pinned/sub/a.md", ("pinned/",))
    assert paths.matches("MEMORY.md", ("memory.*",))
    assert not paths.matches("pinned.md", ("pinned/",))
    assert not paths.matches("a.md", ())


def test_the_longest_name_leaves_room_for_a_temporary_one(world: World, engine: Engine) -> None:
    name = "x" * 255
    engine.memories.create(at(name), b"one\n", actor=ME)
    engine.save(at(name), b"two\n", expected_sha256=engine.read(at(name)).sha256, actor=ME)
    engine.memories.delete([at(name)], actor=ME)
    assert len(paths.TEMP_PREFIX) + 16 + 4 <= 40


def test_a_look_alike_by_case_is_refused_below_a_new_folder_too(world: World, engine: Engine) -> None:
    engine.memories.create(at("Notes/a.md"), b"x\n", actor=ME)
    with pytest.raises(ConflictError) as caught:
        engine.memories.create(at("notes/b.md"), b"x\n", actor=ME)
    assert caught.value.code == "E_CLASH"
    assert sorted(world.disk()) == ["notes/Notes/a.md"]


SIBLINGS = st.lists(st.text("abAB\u0430\u0435\u00e9\u0301e.", min_size=1, max_size=4), unique=True, max_size=6)


def codes(names: list[str]) -> dict[str, list[str]]:
    return {name: [problem.code for problem in found] for name, found in flags(names).items()}


@given(SIBLINGS)
def test_plain_names_are_never_called_imitations(names: list[str]) -> None:
    found = codes(names)
    for name in names:
        alike = any(skeleton(other) == skeleton(name) and fold(other) != fold(name) for other in names)
        assert ("look-alike" in found.get(name, ())) == (alike and not name.isascii())


@pytest.mark.parametrize(
    ("real", "imitation"),
    [
        ("notes.md", "n\u043etes.md"),
        ("api.md", "\u0430\u0440\u0456.md"),
        ("user.md", "us\u0435r.md"),
        ("a-b.md", "a\u2010b.md"),
        ("tau.md", "\u03c4au.md"),
    ],
)
def test_letters_of_other_alphabets_do_not_pass_for_latin_ones(real: str, imitation: str) -> None:
    assert codes([real, imitation]) == {imitation: ["look-alike"]}
    assert codes([imitation]) == {}


TEXT = st.text("ab.*?[]/-", max_size=6)


@given(patterns=st.lists(TEXT.filter(bool), max_size=4), text=TEXT)
def test_patterns_are_the_shell_s(patterns: list[str], text: str) -> None:
    whole = [pattern + "*" if pattern.endswith("/") else pattern for pattern in patterns]
    assert Patterns(patterns).match(text) == any(fnmatchcase(text, pattern) for pattern in whole)


def selected(policy: Policy, path: str) -> bool:
    """Whether a scan would come to list this path."""
    return Selection.of(policy).covers(path)


PARTS = st.sampled_from(["a", "b", ".c"])
PATHS = st.lists(PARTS, min_size=1, max_size=3).map("/".join)
ENTRIES = st.lists(st.tuples(PATHS, st.booleans()).map(lambda pair: pair[0] + "/" * pair[1]), max_size=4)


def covers(entry: str, path: str) -> bool:
    """What `Policy.include` says of one of its entries."""
    return path.startswith(entry) if entry.endswith("/") else path == entry


@given(include=ENTRIES, elsewhere=ENTRIES, path=PATHS)
def test_a_layout_s_names_select_what_they_say(include: list[str], elsewhere: list[str], path: str) -> None:
    policy = Policy(include=tuple(include), elsewhere=tuple(elsewhere))
    named = path in include
    below = [entry for entry in include if entry.endswith("/") and path.startswith(entry)]
    hidden = any("/." in path[len(entry) - 1 :] for entry in below)
    wanted = (named or bool(below)) and not any(covers(entry, path) for entry in elsewhere)
    # A folder named whole wins over a name in it, so a hidden file below it needs a name that is not below another one.
    if not hidden:
        assert selected(policy, path) == wanted
    elif not named:
        assert not selected(policy, path)
