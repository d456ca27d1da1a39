"""`memtui entries`: entries of a memory, listed and edited one at a time.

A change needs more than a number: a check, or the text that was opened.
"""

from memtui.engine.model import Address, Snapshot
from memtui.errors import UsageError
from memtui.features.edit.verbs import EditorRun
from memtui.features.entries import model
from memtui.features.entries.model import Entry, EntryFile, EntryGoneError, Fullness, Name, exact, find, read_name
from memtui.wire import outcomes, results
from memtui.wire.call import Call
from memtui.wire.outcomes import Json
from memtui.wire.output import Column
from memtui.wire.values import listing, text_or_base64


def entries(call: Call) -> int:
    """List, show, add, edit or remove entries."""
    address = call.engine.roots.resolve(call.args.need("address"))
    action = call.args.need("action")
    return {"list": _list, "show": _show, "add": _add, "edit": _edit, "rm": _remove}[action](call, address)


def _list(call: Call, address: Address) -> int:
    file, snapshot = model.read_file(call.engine, address)
    used = model.usage(file, call.engine.roots.find(address.root).policy.limit_of(address.path))
    if call.out.json:
        call.out.document(entries_json(snapshot, file, used))
        return outcomes.DONE
    rows = [(one.name, one.line, one.size, " ".join(one.tags), one.title) for one in file.entries]
    columns = (
        Column("ENTRY"),
        Column("LINE", "number", optional=True),
        Column("SIZE", "size"),
        Column("TAGS", flexible=True, optional=True),
        Column("FIRST WORDS", flexible=True),
    )
    call.out.table(columns, rows)
    if call.out.terminal:
        call.out.say(used.words + (f": {used.over:,} over the agent's limit." if used.over else "."))
        for note in file.notes:
            call.out.say(note)
    return outcomes.DONE


def _show(call: Call, address: Address) -> int:
    file, snapshot = model.read_file(call.engine, address)
    entry = find(file, _need_name(call))
    if call.out.json:
        call.out.document(entry_json(snapshot, entry, file.shown(entry)))
    elif call.out.terminal:
        text = file.text(entry) if call.out.secrets else file.shown(entry)
        call.out.text(text.decode("utf-8", "surrogateescape") + "\n")
    else:
        call.out.raw(file.text(entry))
    return outcomes.DONE


def _add(call: Call, address: Address) -> int:
    if call.args.text("entry") not in (None, "-"):
        raise UsageError("A new entry goes behind the last one, so it needs no number.", hint="Leave it out.")
    if call.args.text("entry") == "-":
        call.args.values["source"] = "-"
    model.need_format(call.engine, address)
    result = model.add(call.engine, address, call.given_text(), actor=call.actor)
    return results.saved(call.out, result, word="added an entry to")


def _edit(call: Call, address: Address) -> int:
    name = _need_name(call)
    file, snapshot = model.read_file(call.engine, address)
    if call.args.text("source") is None and call.args.text("file") is None:
        flow = EntryEditorRun(call, snapshot, file, find(file, name))
        flow.check()
        try:
            return flow.run()
        finally:
            flow.end()
    _need_check(file, name)
    result = model.replace(call.engine, address, name, call.given_text(), actor=call.actor)
    return results.saved(call.out, result)


def _remove(call: Call, address: Address) -> int:
    name = _need_name(call)
    file, _ = model.read_file(call.engine, address)
    _need_check(file, name)
    result = model.remove(call.engine, address, name, actor=call.actor)
    return results.saved(call.out, result, word=f"removed entry {name.number} of")


def _need_name(call: Call) -> Name:
    text = call.args.text("entry")
    action = call.args.need("action")
    if text is None or text == "-":
        raise UsageError(
            f"memtui entries {action} needs the entry.", hint="Write its name, as `memtui entries list` shows it."
        )
    return read_name(text)


def _need_check(file: EntryFile, name: Name) -> None:
    if not name.check:
        entry = find(file, name)
        raise UsageError(
            "A number alone may be another entry by now.",
            hint=f"Entry {name.number} begins with {entry.title[:40]!r}: write {entry.name} if it is the one.",
        )
    find(file, name)


class EntryEditorRun(EditorRun):
    """One edit of an entry in $EDITOR; if the entry changed meanwhile, it goes on with the whole file."""

    def __init__(self, call: Call, snapshot: Snapshot, file: EntryFile, entry: Entry) -> None:
        """Begin with the entry's text and a line end, which editors add anyway."""
        super().__init__(call, snapshot.address)
        self._snapshot, self._file, self._entry = snapshot, file, entry
        self._text = self._base = file.text(entry) + file.newline
        self._whole = False

    def check(self) -> None:
        """Refuse before the editor opens if nothing could be saved."""
        self.refuse_read_only()
        self.refuse_what_cannot_be_saved()

    def run(self) -> int:
        """Edit and save."""
        self._open_editor()
        if self._text == self._base:
            self._expected = self._snapshot.sha256
            return self._unchanged()
        call, address = self._call, self._address
        try:
            result = model.replace(call.engine, address, exact(self._entry), self._text, actor=call.actor)
        except EntryGoneError:
            return self._go_on_with_the_file()
        self._forget()
        return results.saved(self._out, result)

    def _go_on_with_the_file(self) -> int:
        self._text = model.with_replaced(self._file, self._entry, self._text)
        self._rebase(self._snapshot)
        self._whole = True
        self._out.say("Somebody else changed this entry meanwhile, so this goes on with the whole file.")
        status = self._save()
        return super().run() if status is None else status


def _entry_json(value: Entry) -> Json:
    return {
        "number": value.number,
        "name": value.name,
        "line": value.line,
        "bytes": value.size,
        "sha256": value.sha256,
        "title": value.title,
        "tags": list(value.tags),
    }


def entries_json(snapshot: Snapshot, file: EntryFile, used: Fullness) -> Json:
    """Convert a file of entries to JSON, without texts."""
    return listing(map(_entry_json, file.entries)) | {
        "address": str(snapshot.address),
        "sha256": snapshot.sha256,
        "format": file.format,
        "characters": used.characters,
        "limit": used.limit,
        "notes": list(file.notes),
    }


def entry_json(snapshot: Snapshot, value: Entry, text: bytes) -> Json:
    """Convert one entry with its text to JSON."""
    return {"address": str(snapshot.address)} | _entry_json(value) | text_or_base64(text)
