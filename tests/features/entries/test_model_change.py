"""One entry is added, replaced or removed, and every other byte stays; on disk guarded, as one step of undo."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memtui.engine import Engine
from memtui.engine.model import Actor, Address, Conflict, Policy, Root, Saved, Unchanged
from memtui.errors import RefusedError
from memtui.features.entries import model
from memtui.features.entries.formats import FORMATS
from memtui.features.entries.model import EntryFile, EntryGoneError, Name, exact, parse
from tests.features.entries.files import DIVIDED, GOOSE, HERMES, NEW, PLAIN, REAL
from tests.features.entries.test_model import FILES, texts


def refused(error: RefusedError) -> None:
    """It is refused for what the format asks, and nothing else."""
    assert error.code == "E_ENTRY"


def test_an_entry_is_replaced_and_no_other_byte() -> None:
    file = parse(HERMES, "hermes")
    after = model.with_replaced(file, file.entries[1], b"Another.\n")
    assert after == HERMES.replace(b"Tests run with pytest -q.\nTwo lines.", b"Another.")


@pytest.mark.parametrize("kind", DIVIDED)
@given(FILES, FILES, st.integers(0, 9))
def test_replacing_changes_one_span_or_is_refused(kind: str, data: bytes, text: bytes, at: int) -> None:
    file = parse(data, kind)
    assume(file.entries)
    entry = file.entries[at % len(file.entries)]
    before, behind = data[: entry.start], data[entry.end :]
    try:
        after = model.with_replaced(file, entry, text)
    except RefusedError as error:
        refused(error)
        return
    assert after.startswith(before)
    assert after.endswith(behind)
    assert len(after) >= len(before) + len(behind)
    wanted = [file.text(one) for one in file.entries]
    wanted[entry.number - 1] = after[len(before) : len(after) - len(behind)]
    assert texts(after, kind) == wanted


@pytest.mark.parametrize("kind", FORMATS)
@given(FILES, FILES)
def test_adding_keeps_every_byte_or_is_refused(kind: str, data: bytes, text: bytes) -> None:
    file = parse(data, kind)
    try:
        after = model.with_added(file, text)
    except RefusedError as error:
        refused(error)
        return
    found = parse(after, kind)
    assert [found.text(one) for one in found.entries[:-1]] == texts(data, kind)
    entry = found.entries[-1]
    places = [at for at in range(len(data) + 1) if after.startswith(data[:at]) and after.endswith(data[at:])]
    assert places, "bytes that were there were changed"
    assert entry.end <= len(after)


@pytest.mark.parametrize("kind", DIVIDED)
@given(FILES, st.integers(0, 9))
def test_removing_takes_one_entry_and_only_a_separator(kind: str, data: bytes, at: int) -> None:
    file = parse(data, kind)
    assume(file.entries)
    entry = file.entries[at % len(file.entries)]
    try:
        after = model.without(file, entry)
    except RefusedError as error:
        refused(error)
        return
    kept = texts(data, kind)
    del kept[entry.number - 1]
    assert texts(after, kind) == kept
    at_start = (
        entry.number > 1 and data[: file.entries[entry.number - 2].end] == after[: file.entries[entry.number - 2].end]
    )
    assert entry.number == 1 or at_start


@pytest.mark.parametrize("kind", REAL)
@pytest.mark.parametrize("ends", [b"\n", b"\r\n"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_what_was_added_is_removed_again_without_a_trace(kind: str, ends: bytes, bom: bytes) -> None:
    data = bom + REAL[kind].replace(b"\n", ends)
    file = parse(model.with_added(parse(data, kind), NEW[kind]), kind)
    assert file.text(file.entries[-1]) == NEW[kind].replace(b"\n", ends)
    assert model.without(file, file.entries[-1]) == data
    assert file.newline == ends
    assert not file.mixed


@pytest.mark.parametrize("kind", DIVIDED)
def test_all_entries_can_go_and_new_ones_come(kind: str) -> None:
    data = REAL[kind]
    while (file := parse(data, kind)).entries:
        data = model.without(file, file.entries[0])
    assert not data.replace(b"---\ndescription: Shop\n---\n", b"").strip()
    for count in (1, 2, 3):
        data = model.with_added(parse(data, kind), NEW[kind])
        assert texts(data, kind) == [NEW[kind]] * count


def test_what_is_added_is_written_as_the_agent_writes_it() -> None:
    assert model.with_added(parse(GOOSE, "goose"), b"# t\nx\n") == GOOSE + b"# t\nx\n\n"
    assert model.with_added(parse(b"a", "goose"), b"b") == b"a\n\nb\n\n"
    assert model.with_added(parse(b"a\n", "goose"), b"b") == b"a\n\nb\n\n"
    assert model.with_added(parse(b"a\n\n\n", "goose"), b"# t\nb") == b"a\n\n\n\n# t\nb\n\n"
    assert model.with_added(parse(b"", "goose"), b"b") == b"b\n\n"
    assert model.with_added(parse(HERMES, "hermes"), b" b \n") == HERMES + "\n§\nb".encode()
    assert model.with_added(parse(b"a\n", "hermes"), b"b") == "a\n§\nb\n".encode()
    assert model.with_added(parse(b"", "hermes"), b"b") == b"b"
    assert model.with_added(parse(b"# a\n", "codex"), b"# b\nx") == b"# a\n\n# b\nx\n"
    assert model.with_added(parse(b"", "codex"), b"# b") == b"# b\n"
    assert model.with_added(parse(PLAIN, "plain"), b"x") == PLAIN.rstrip() + b"\n\nx\n"
    assert model.with_added(parse(b"---\na: b\n---\n", "plain"), b"x") == b"---\na: b\n---\n\nx\n"


def test_goose_can_go_on_behind_what_was_left() -> None:
    """Goose appends without looking: the file has to end with a blank line after each change."""
    file = parse(GOOSE, "goose")
    for entry in file.entries:
        assert model.without(file, entry).endswith(b"\n\n")
        assert model.with_replaced(file, entry, b"x").endswith(b"\n\n")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("goose", b"two\n\nentries"),
        ("hermes", "two\n§\nentries".encode()),
        ("hermes", "two\r\n§\r\nentries".encode()),
        ("codex", b"no heading"),
        ("codex", b"# two\n# headings"),
        ("codex", b"# open\n```\nfence"),
        ("plain", b"two\n\nblocks"),
        ("plain", b"```\nopen"),
    ],
)
def test_a_text_that_is_not_one_entry_is_refused_with_the_rule(kind: str, text: bytes) -> None:
    file = parse(REAL[kind], kind)
    with pytest.raises(RefusedError, match="would not be one entry: ") as caught:
        model.with_replaced(file, file.entries[0], text)
    assert FORMATS[kind].rule in caught.value.message
    if not text.endswith((b"fence", b"open")):  # at the end of a file an open fence swallows nobody
        with pytest.raises(RefusedError, match="would not be one entry: "):
            model.with_added(file, text)


def test_a_block_without_its_heading_is_refused_also_where_it_would_come_first() -> None:
    for data in (b"", b"# a\n"):
        with pytest.raises(RefusedError, match="begins with a heading"):
            model.with_added(parse(data, "codex"), b"no heading")
    file = parse(b"Preface\n\n# a\n", "codex")
    assert model.with_replaced(file, file.entries[0], b"Other words") == b"Other words\n\n# a\n"


@pytest.mark.parametrize("text", [b"", b"\n\n", b" \r\n\t"])
def test_an_entry_is_never_empty(text: bytes) -> None:
    file = parse(GOOSE, "goose")
    with pytest.raises(RefusedError, match="cannot be empty") as caught:
        model.with_replaced(file, file.entries[0], text)
    assert caught.value.code == "E_ENTRY"


def test_removing_what_holds_the_rest_apart_is_refused() -> None:
    file = parse(b"first\n\n---\na: b\n---\n\nlast", "plain")
    with pytest.raises(RefusedError, match="the others would be read otherwise"):
        model.without(file, file.entries[0])


def test_a_file_of_mixed_line_ends_takes_a_text_as_it_is() -> None:
    file = parse(b"a\r\n\nb\n", "plain")
    assert file.mixed
    assert model.with_replaced(file, file.entries[1], b"c\r\nd\n") == b"a\r\n\nc\r\nd\n"
    assert model.fitted(EntryFile("plain", b"a\r\nb", ()), b"\n x\ny \n\n") == b" x\r\ny "


@given(st.lists(st.sampled_from(["## Remembered", "- a", "* b", "-", "text", "  more", "", "```", "# x", "## y"])))
def test_bullets_of_a_section_change_one_at_a_time(lines: list[str]) -> None:
    data = "\n".join(["## Remembered", "- first", *lines]).encode()
    file = parse(data, "remembered")
    try:
        added = model.with_added(file, b"- new")
    except RefusedError as error:
        refused(error)
        return
    assert texts(added, "remembered") == [*texts(data, "remembered"), b"- new"]
    end = file.entries[-1].end
    assert (added[:end], added[len(added) - len(data) + end :]) == (data[:end], data[end:])
    kept = texts(data, "remembered")[1:]
    assert texts(model.without(file, file.entries[0]), "remembered") == kept
    assert texts(model.with_replaced(file, file.entries[0], b"- other"), "remembered") == [b"- other", *kept]


ME = Actor("cli")
TEXT = b"alpha\n\nbeta\n\ngamma\n\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "notes"
    path.mkdir()
    (path / "a.txt").write_bytes(TEXT)
    (path / "b.md").write_bytes(TEXT)
    return path


@pytest.fixture
def engine(folder: Path, tmp_path: Path) -> Engine:
    policy = Policy(entries=(("*.txt", "goose"), ("*.new", "something-new")))
    return Engine.open([Root("notes", str(folder), policy=policy)], state_dir=str(tmp_path / "state"))


AT = Address("notes", "a.txt")


def test_the_layout_says_what_holds_entries(engine: Engine, folder: Path) -> None:
    root = engine.roots.find("notes")
    assert model.format_of(root, "x.txt") == "goose"
    assert model.format_of(root, "x.md") is None
    assert model.format_of(root, "x.new") is None
    with pytest.raises(RefusedError, match="is one memory, not a file of entries") as caught:
        model.read_file(engine, Address("notes", "b.md"))
    assert caught.value.code == "E_ENTRY"


def test_each_change_is_one_step_of_undo(engine: Engine, folder: Path) -> None:
    path = folder / "a.txt"
    file, snapshot = model.read_file(engine, AT)
    assert snapshot.bytes == TEXT
    assert isinstance(model.replace(engine, AT, exact(file.entries[1]), b"BETA", actor=ME), Saved)
    assert path.read_bytes() == b"alpha\n\nBETA\n\ngamma\n\n"
    assert isinstance(model.add(engine, AT, b"delta", actor=ME), Saved)
    assert isinstance(model.remove(engine, AT, Name(1, "alpha"), actor=ME), Saved)
    assert path.read_bytes() == b"BETA\n\ngamma\n\ndelta\n\n"
    assert isinstance(model.replace(engine, AT, Name(1), b"BETA", actor=ME), Unchanged)
    for _ in range(3):
        engine.undo.undo(actor=ME)
    assert path.read_bytes() == TEXT


def test_what_an_agent_wrote_meanwhile_stays(engine: Engine, folder: Path) -> None:
    file, _ = model.read_file(engine, AT)
    (folder / "a.txt").write_bytes(b"# new\nfirst\n\n" + TEXT + b"last\n\n")
    model.replace(engine, AT, exact(file.entries[2]), b"GAMMA", actor=ME)
    assert (folder / "a.txt").read_bytes() == b"# new\nfirst\n\nalpha\n\nbeta\n\nGAMMA\n\nlast\n\n"


def test_an_entry_that_an_agent_changed_is_left_alone(engine: Engine, folder: Path) -> None:
    file, _ = model.read_file(engine, AT)
    theirs = TEXT.replace(b"beta", b"beta, and more")
    (folder / "a.txt").write_bytes(theirs)
    with pytest.raises(EntryGoneError):
        model.remove(engine, AT, exact(file.entries[1]), actor=ME)
    with pytest.raises(EntryGoneError):
        model.replace(engine, AT, exact(file.entries[1]), b"x", actor=ME)
    assert (folder / "a.txt").read_bytes() == theirs


class Busy:
    """Somebody who writes between each reading of an engine and the write that follows."""

    def __init__(self, engine: Engine, path: Path, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path, self.times, self.real = path, times, engine.memories.edit
        monkeypatch.setattr(engine.memories, "edit", self.edit)

    def edit(
        self, address: Address, change: Callable[[bytes], str | bytes], *, actor: Actor
    ) -> Saved | Unchanged | Conflict:
        """Edit, and let the other one write as long as there are times left."""

        def slow(data: bytes) -> str | bytes:
            made = change(data)
            if self.times:
                self.times -= 1
                self.path.write_bytes(data + b"theirs\n\n")
            return made

        return self.real(address, slow, actor=actor)


def test_a_write_in_between_makes_it_look_again(engine: Engine, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Busy(engine, folder / "a.txt", 2, monkeypatch)
    result = model.replace(engine, AT, Name(2, "beta"), b"BETA", actor=ME)
    assert isinstance(result, Saved)
    assert (folder / "a.txt").read_bytes() == b"alpha\n\nBETA\n\ngamma\n\ntheirs\n\ntheirs\n\n"


def test_who_writes_without_end_leaves_a_conflict(
    engine: Engine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy = Busy(engine, folder / "a.txt", 1_000, monkeypatch)
    assert isinstance(model.remove(engine, AT, Name(1, "alpha"), actor=ME), Conflict)
    assert (folder / "a.txt").read_bytes() == TEXT + b"theirs\n\n" * model.TRIES
    assert busy.times == 1_000 - model.TRIES
