"""Self-diagnosis of the engine: each finding with its meaning and advice.

It is apart so that only a command that uses it loads it.
"""

import os
import time

from memtui.engine.disk import fsio, unsaved
from memtui.engine.find import index
from memtui.engine.ledger.database import takes_changes
from memtui.engine.ledger.ledger import Ledger
from memtui.engine.look.library import Library
from memtui.engine.look.roots import Roots
from memtui.engine.model import Finding, RootStatus
from memtui.engine.part import EnginePart, Events, Rules
from memtui.errors import BusyError, MemtuiError

_OLDEST_SANE = 1_700_000_000
"""A clock before this second is wrong: memtui is younger."""


class Doctor(EnginePart):
    """Diagnoses problems, and repairs the ledger."""

    def __init__(self, roots: Roots, ledger: Ledger, rules: Rules, events: Events, rows: Library) -> None:
        super().__init__(roots, ledger, rules, events)
        self._rows = rows

    def findings(self) -> tuple[Finding, ...]:
        """Check the roots, the ledger, the locks, the clock and the guarantees of this platform."""
        return (
            *_roots(self._rows.status()),
            *_ledger(self._ledger),
            *_leftovers(self._roots, self._ledger),
            *_unsaved(self._roots, self._ledger),
            *_clock(self._ledger.clock() // 1_000),
            *_platform(self._ledger),
        )

    def salvage(self, file: str | None = None) -> str:
        """Repair a damaged ledger now, or recover what one that was moved aside still has; see `Ledger.salvage`."""
        self._rules.refuse_read_only()
        return self._ledger.salvage(file)


_ADVICE = {
    "E_SYMLINK": "If it is yours, --root NAME=DIR names the folder the link leads to.",
    "E_NOT_REGULAR": "A folder has to stand there.",
    "E_OTHER_DEVICE": "--root NAME=DIR names a folder on another file system.",
}
"""Advice for a folder that cannot be read, where checking permissions does not help."""


def _roots(status: tuple[RootStatus, ...]) -> list[Finding]:
    found = []
    for one in status:
        name = f"root {one.root.id}"
        if not one.exists:
            found.append(Finding("note", name, f"{one.root.path} does not exist yet.", "Creating a memory makes it."))
            continue
        faults = [problem for problem in one.problems if problem.code.startswith("E_")]
        if faults and not one.files:
            advice = _ADVICE.get(faults[0].code, "Check the owner and the permission bits.")
            found.append(Finding("warning", name, faults[0].text, advice))
            continue
        access = "read-only" if one.root.read_only else "writable" if one.writable else "not writable for you"
        level = "warning" if not one.writable and not one.root.read_only else "ok"
        advice = "Check the owner and the permission bits." if level == "warning" else ""
        found.append(
            Finding(level, name, f"{_many(one.files, 'memory', 'memories')}, {one.bytes:,} bytes, {access}.", advice)
        )
        for problem in one.problems:
            advice = f"`memtui roots --accept {one.root.id}` accepts it." if problem.code == "unreviewed" else ""
            found.append(Finding("note" if problem.code == "unreviewed" else "warning", name, problem.text, advice))
    return found


def _ledger(ledger: Ledger) -> list[Finding]:
    try:
        answer = ledger.check()
    except MemtuiError as error:
        return [Finding("error", "ledger", error.message, error.hint)]
    if ledger.mode == "memory" and not ledger.in_the_way:
        return [Finding("note", "ledger", f"{ledger.path} does not exist yet.", "The first change makes it.")]
    if ledger.mode != "normal":
        why = ledger.in_the_way or "a newer memtui wrote it, so this one only reads it"
        text = f"{ledger.path} cannot be used: {why}."
        return [Finding("error", "ledger", text, "Changes are off until it can; memories stay readable.")]
    if answer != "ok":
        advice = (
            "The change that meets the damage mends it; `memtui doctor --salvage` does it now. Memories are readable."
        )
        return [Finding("error", "ledger", f"{ledger.path} is damaged: {answer}.", advice)]
    try:
        if not ledger.read_only:
            with ledger.transaction(durable=False):
                pass
    except BusyError as error:
        return [Finding("warning", "ledger", error.message, error.hint)]
    except MemtuiError as error:
        text = f"{ledger.path} can be read and not written: {error.message}"
        return [Finding("error", "ledger", text, "Changes are off until it can; look at what is beside it.")]
    size = os.stat(ledger.path).st_size
    text = f"{ledger.path} is sound, {size:,} bytes, {_many(len(ledger.backups()), 'backup', 'backups')}."
    found = [Finding("ok", "ledger", text)]
    for path in ledger.erasure.damaged():
        text = f"{path} is damaged and kept: it may hold what the ledger lost, and texts that were redacted."
        aside = path.startswith(ledger.path)  # else a backup, which nobody need read again
        hint = f"`memtui doctor --salvage {path}` brings back what it has." if aside else "The next backups replace it."
        found.append(Finding("note", "ledger", text, hint))
    if ledger.erasure.unerased() or index.is_spilled(ledger.directory):
        text = "Of a text that was redacted freed bytes are not overwritten yet: something is in the way."
        hint = "Close other memtuis, free some space; the next start does it, and of the index the next search."
        found.append(Finding("warning", "ledger", text, hint))
    mode = os.stat(ledger.directory).st_mode & 0o777
    if mode & 0o077:
        text = f"{ledger.directory} is open to others (mode {mode:03o})."
        found.append(Finding("warning", "ledger", text, f"chmod 700 {ledger.directory}"))
    return found


def _leftovers(roots: Roots, ledger: Ledger) -> list[Finding]:
    found = []
    waiting = set(ledger.audit.roots_with_intents())
    if waiting & set(roots.names()) and takes_changes(ledger):
        try:
            count = roots.recover()
        except MemtuiError as error:
            found.append(Finding("note", "recovery", error.message, error.hint))
        else:
            text = f"{_many(count, 'interrupted change was', 'interrupted changes were')} tidied up just now."
            found.append(Finding("note", "recovery", text, "`memtui log` shows what became of them."))
        waiting = set(ledger.audit.roots_with_intents())
    if waiting:
        text = "A change was interrupted and is not tidied up yet; both its texts are in history."
        advice = "It is in a folder that is not open here: start memtui with --all-projects, or there."
        if waiting & set(roots.names()):
            advice = "The next change in that root, or the workbench, does it."
        found.append(Finding("note", "recovery", text, advice))
    return found


def _unsaved(roots: Roots, ledger: Ledger) -> list[Finding]:
    folders = {fsio.real_path(root.path): root for root in roots.all()}
    found = []
    try:
        waiting = unsaved.everything(ledger.directory)
    except OSError as error:
        text = f"Texts that were never saved cannot be listed: {error}."
        return [Finding("warning", "drafts", text, "Check the owner and the permission bits of the state folder.")]
    for one in waiting:
        text, advice = f"A text that was never saved is in {one.place}", "Take from it what you need, then delete it."
        root = folders.get(one.of.folder) if one.of is not None else None
        if root is not None and one.of is not None and one.text is not None:
            address = root.id + "/" + one.of.path
            text, advice = f"{text}: of {address}", f"memtui edit {address} offers it, and so does the workbench."
        elif one.of is not None:
            text = f"{text}: of {one.of.path} in {one.of.folder}"
            advice = f"Start memtui there to be offered it. {advice}"
        found.append(Finding("note", "drafts", f"{text}.", advice))
    return found


def _clock(now: int) -> list[Finding]:
    if now < _OLDEST_SANE:
        text = "The system clock is before 2023, so ages and retention are wrong."
        return [Finding("warning", "clock", text, "Set the clock; the order of versions does not depend on it.")]
    return [Finding("ok", "clock", time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(now)))]


def _platform(ledger: Ledger) -> list[Finding]:
    meanings = {
        "openat2": (
            "nested folders are opened in one step that cannot leave the root",
            "each folder is opened in turn",
        ),
        "rename without replacing": (
            "a new name never replaces one that appeared meanwhile",
            "a link and an unlink do it",
        ),
        "exchange": (
            "a save swaps two files in one step",
            "a save takes three renames, so the name is missing for a moment",
        ),
        "leases": (
            "memtui knows whether a replaced file is still being written",
            "replaced files are looked at again for two seconds",
        ),
    }
    found = []
    for name, present in fsio.capabilities().items():
        has, lacks = meanings[name]
        found.append(
            Finding("ok" if present else "note", f"platform: {name}", f"Yes: {has}." if present else f"No: {lacks}.")
        )
    try:
        about = ledger.sqlite_info()
    except MemtuiError:
        return found  # the ledger's own finding says why
    found.append(Finding("ok", "platform: SQLite", about))
    return found


def _many(count: int, one: str, more: str) -> str:
    return f"{count:,} {one if count == 1 else more}"
