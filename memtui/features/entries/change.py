"""Adding, replacing and removing one entry without changing another byte.

The result is parsed again; a text that would split or join entries is refused.
"""

from memtui.errors import RefusedError
from memtui.features.entries.formats import BOM, FORMATS
from memtui.features.entries.model import Entry, EntryFile, parse

_NOT_ONE = "The text would not be one entry"


def add(file: EntryFile, text: bytes) -> bytes:
    """Append an entry.

    Raises:
        RefusedError: `E_ENTRY`, when it would not be one entry, or the agent refuses the file as it is.
    """
    if why := FORMATS[file.format].refused(file.data):
        raise RefusedError(f"{why}.", code="E_ENTRY", hint="Correct it as text with memtui edit.")
    text = _headed(file, fitted(file, text))
    return _checked(file, _behind_last(file, text), [*map(file.text, file.entries), text])


def replace(file: EntryFile, entry: Entry, text: bytes) -> bytes:
    """Replace an entry; see `add`."""
    if text == file.text(entry):
        return file.data
    heading = FORMATS[file.format].heading
    text = fitted(file, text)
    if file.text(entry).startswith(heading):
        text = _headed(file, text)
    data = draft(file, entry, text)
    kept = [text if one.number == entry.number else file.text(one) for one in file.entries]
    return _checked(file, data, kept)


def remove(file: EntryFile, entry: Entry) -> bytes:
    """Remove an entry with one adjacent separator."""
    entries, at = file.entries, entry.number - 1
    start, end = entry.start, entry.end
    if at + 1 < len(entries):
        end = entries[at + 1].start
    elif at == 0 or not FORMATS[file.format].keeps_tail:
        end = entry.end if FORMATS[file.format].enclosed else len(file.data)
    else:
        start = entries[at - 1].end
    kept = [file.text(one) for one in entries if one.number != entry.number]
    message = "Without this entry the others would be read otherwise"
    return _checked(file, file.data[:start] + file.data[end:], kept, message)


def draft(file: EntryFile, entry: Entry | None, text: bytes) -> bytes:
    """Return the whole file with an unfinished text as this entry, or as a new one; nothing is checked."""
    if entry is not None:
        new = FORMATS[file.format].put(file.data[entry.start : entry.end], text)
        return file.data[: entry.start] + new + file.data[entry.end :]
    return _behind_last(file, text)


def _behind_last(file: EntryFile, text: bytes) -> bytes:
    last = file.entries[-1].end if file.entries else 0
    at, before, behind = FORMATS[file.format].joint(file.data, last, file.newline)
    return file.data[:at] + before + FORMATS[file.format].put(b"", text) + behind + file.data[at:]


def fitted(file: EntryFile, text: bytes) -> bytes:
    """Trim blank lines and use the file's line ends; raises RefusedError (`E_ENTRY`) for an empty text."""
    lines = text.removeprefix(BOM).replace(b"\r\n", b"\n").split(b"\n")
    filled = [number for number, line in enumerate(lines) if line.strip()]
    if not filled:
        raise RefusedError(
            "An entry cannot be empty.", code="E_ENTRY", hint="To take it out, remove it: memtui entries rm."
        )
    if file.mixed:
        return text.strip(b"\r\n")
    text = b"\n".join(lines[filled[0] : filled[-1] + 1])
    if FORMATS[file.format].trims:
        text = text.decode("utf-8", "surrogateescape").strip().encode("utf-8", "surrogateescape")
    return text.replace(b"\n", file.newline)


def _headed(file: EntryFile, text: bytes) -> bytes:
    if not text.startswith(FORMATS[file.format].heading):
        raise _not_one(file, _NOT_ONE)
    return text


def _checked(file: EntryFile, data: bytes, wanted: list[bytes], message: str = _NOT_ONE) -> bytes:
    """Parse a changed file, and refuse it unless it has exactly the wanted entries."""
    found = parse(data, file.format)
    if [found.text(entry) for entry in found.entries] != wanted:
        raise _not_one(file, message)
    return data


def _not_one(file: EntryFile, message: str) -> RefusedError:
    return RefusedError(
        f"{message}: {FORMATS[file.format].rule}.",
        code="E_ENTRY",
        hint="Write it as several entries, or edit the whole file with memtui edit.",
    )
