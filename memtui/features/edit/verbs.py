"""The user's own editor on a private copy of a memory, and the verb `edit`: a guarded save, a choice on a conflict.

The copy is outside every root, so that no agent reads half-edited text. It is deleted only when its text is stored, in
the memory or in history; otherwise the user is told where it is. A terminal editor gets the whole terminal; one with
its own window runs beside the workbench.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from memtui.diff.merge import Merge, merge3
from memtui.engine import now_ms
from memtui.engine.disk import fsio, unsaved
from memtui.engine.model import Address, Conflict, Draft, MergeOf, Root, Snapshot
from memtui.errors import CODES, ConflictError, NotFoundError, RefusedError, StorageError
from memtui.wire import outcomes, results
from memtui.wire.call import Call
from memtui.wire.output import age, count

CopyOf = unsaved.TextOrigin

_WINDOWED = {
    name: option
    for option, names in {
        "--wait": "code code-insiders codium vscodium cursor windsurf zed zeditor subl sublime_text atom mate bbedit "
        "idea pycharm gedit xed pluma",
        "--standalone": "gnome-text-editor",
        "--block": "kate",
        "--disable-server": "mousepad",
        "--nofork": "gvim mvim",
        "--no-fork": "neovide",
        "--new-instance": "geany",
        "": "kwrite notepadqq",
    }.items()
    for name in names.split()
}
"""Editors with a window of their own, and the option that makes them wait until the file is closed."""

_WAITS = frozenset({"--wait", "-w", "--block", "-b", "--nofork", "-f", "--no-fork", "--standalone", "-s"})
_TERMINAL = frozenset({"vi", "vim", "nvim", "emacs", "emacsclient", "nano", "micro", "hx", "helix", "kak", "joe", "ed"})
_FALLBACKS = ("editor", "nano", "vim", "vi")
LEFT_OVER_BYTES = 4 * 1_048_576


class EditorCommand(NamedTuple):
    """An editor's command line."""

    argv: tuple[str, ...]
    windowed: bool

    @property
    def name(self) -> str:
        """The program's name."""
        return os.path.basename(self.argv[0])


def editor_command(setting: str | None) -> EditorCommand:
    """Work out the editor's command line from the setting or the fallbacks; raises `E_EDITOR` where there is none."""
    try:
        words = shlex.split(setting or "")
    except ValueError as error:
        raise _no_editor(f"The editor setting cannot be read: {error}.") from None
    if not words:
        words = next(([name] for name in _FALLBACKS if shutil.which(name)), [])
    if not words:
        raise _no_editor("No editor is set.")
    if not shutil.which(words[0]):
        raise _no_editor(f"The editor {words[0]!r} was not found.")
    name = os.path.basename(words[0])
    waits = bool(_WAITS.intersection(words[1:]))
    windowed = name in _WINDOWED or (waits and name not in _TERMINAL)
    wait = _WINDOWED.get(name, "")
    if wait and not waits:
        words.append(wait)
    return EditorCommand(tuple(words), windowed)


def _no_editor(message: str) -> RefusedError:
    hint = "Set MEMTUI_EDITOR, VISUAL or EDITOR to a command such as vim."
    return RefusedError(message, code="E_EDITOR", hint=hint)


def copy_of(root: Root, address: Address, base_sha256: str | None, base: bytes) -> CopyOf:
    """Describe which memory a copy is of, so that its text is offered again after a kill."""
    return CopyOf(fsio.real_path(root.path), address.path, base_sha256, None if base_sha256 is None else base)


class PrivateCopy:
    """A text in a folder only this user can enter, while an editor has it open."""

    def __init__(self, data: bytes, *, name: str, folder: str, of: CopyOf | None = None) -> None:
        """Write the copy; raises `E_IO` or `E_DISK_FULL`. `of` names its memory, to be offered after a kill."""
        self.data = data
        try:
            unsaved.tidy(folder)
            self._copy = unsaved.begin_copy(folder, _safe_name(name), data, of)
        except OSError as error:
            raise StorageError(
                f"The copy for the editor could not be written: {error.strerror}.",
                code="E_DISK_FULL" if error.errno == 28 else "E_IO",
                unharmed="The memory and the draft are as they were.",
                hint="Free some space and try again.",
            ) from None
        self.path = self._copy.path

    def read(self) -> bytes:
        """Return what the editor left; raises `E_IO` or `E_TOO_BIG`."""
        try:
            with open(self.path, "rb") as file:
                data = file.read(LEFT_OVER_BYTES + 1)
        except OSError as error:
            raise StorageError(
                f"The editor's copy could not be read back: {error.strerror}.",
                unharmed="The memory and the draft are as they were.",
                hint="Save in the editor before leaving it.",
            ) from None
        if len(data) > LEFT_OVER_BYTES:
            raise RefusedError(
                f"The edited text is over {LEFT_OVER_BYTES:,} bytes.",
                code="E_TOO_BIG",
                unharmed="The memory and the draft are as they were.",
                hint=f"The text is still in {self.path}.",
            )
        return data

    def taken(self, data: bytes) -> None:
        """Record that this text of the editor's is stored elsewhere."""
        unsaved.taken(self._copy, data)

    def leave(self) -> None:
        """Leave the copy to be offered again."""
        unsaved.release(self._copy)

    def remove(self) -> None:
        """Delete the copy and its folder."""
        shutil.rmtree(self._copy.folder, ignore_errors=True)
        unsaved.release(self._copy)


def run_in_terminal(command: EditorCommand, path: str) -> int:
    """Run an editor in the terminal until it ends, and return its exit status."""
    return _run(command, path, None)


def run_in_window(command: EditorCommand, path: str) -> int:
    """Run an editor in its own window until the file is closed, and return its exit status."""
    return _run(command, path, subprocess.DEVNULL)


def _run(command: EditorCommand, path: str, stream: int | None) -> int:
    argv = [*command.argv, path]
    try:
        return subprocess.run(argv, check=False, stdin=stream, stdout=stream, stderr=stream).returncode
    except OSError as error:
        raise _no_editor(f"The editor {command.name!r} could not be started: {error.strerror}.") from None


def _safe_name(name: str) -> str:
    """Keep the extension and what cannot be an option or a path."""
    kept = "".join(c if c.isalnum() or c in "._- " else "_" for c in os.path.basename(name)).lstrip("-. ")
    stem, suffix = os.path.splitext(kept)
    return f"{stem[:60] or 'memory'}{suffix[:12]}"


_MERGE = ("m", "merge both texts, then look at the result")
_WRITE = ("w", "write yours, under the same name")
_EDIT = ("e", "edit yours again")
_KEEP = ("k", "keep yours as a version in history, theirs in place")
_STOP = ("s", "stop")
_GO_ON = ("g", "continue with it")
_LEAVE = ("l", "leave it, and edit what is on disk")
_DISCARD = ("d", "discard it; its text stays in the history")


def edit(call: Call) -> int:
    """Edit a memory."""
    address = call.engine.roots.resolve(call.args.need("address"))
    flow = EditorRun(call, address)
    flow.refuse_read_only()
    flow.start(new=call.args.flag("new"))
    try:
        return flow.run()
    finally:
        flow.end()


@contextmanager
def _interrupts_are_the_editors() -> Iterator[None]:
    """Let only the editor handle ctrl-C; unlike an ignored signal, a handler is not inherited."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class EditorRun:
    """One edit, from opening the editor to a stored text."""

    def __init__(self, call: Call, address: Address) -> None:
        self._call = call
        self._out = call.out
        self._address = address
        self._editor = editor_command(call.settings.editor)
        self._base = b""
        self._expected: str | None = None
        self._text = b""
        self._merge: Merge | None = None
        """The merge whose markers the text may still hold."""
        self._merged: MergeOf | None = None
        """The versions the text was merged from, for the audit and for undo."""
        self._copy: PrivateCopy | None = None
        self._whole = True
        """Whether the text is a whole memory, so that a killed edit can become a draft."""
        self._draft: Draft | None = None

    def start(self, *, new: bool) -> None:
        """Read the memory and offer its draft; refuse what could not be saved, and a missing memory unless `new`."""
        try:
            snapshot = self._call.engine.read(self._address)
        except NotFoundError as error:
            if error.code not in ("E_NOT_FOUND", "E_ROOT_MISSING"):
                raise
            if not new and self._waiting() is None:
                error.hint = f"To start it, write memtui edit --new {self._address}."
                raise
        else:
            self._rebase(snapshot)
            self._text = snapshot.bytes
            self.refuse_what_cannot_be_saved()
        if (draft := self._waiting()) is not None:
            self._offer(draft)

    def _waiting(self) -> Draft | None:
        return next((draft for draft in self._call.engine.drafts.all() if draft.address == self._address), None)

    def _offer(self, draft: Draft) -> None:
        """Ask whether to continue a draft of the workbench, or of an edit that was killed."""
        data = draft.text.encode("utf-8", "surrogatepass")
        if data == self._text:
            return
        known = set(self._text.splitlines())
        lines = count(sum(line not in known for line in data.splitlines()), "line")
        since = ", and the memory changed since" if draft.base_sha256 != self._expected else ""
        old = age(draft.at, now_ms())
        self._out.say(f"A draft of {self._address} from {old} ago was never saved: {lines} of yours{since}.")
        if not self._out.interactive or self._out.json:
            self._out.say("It stays, and is offered in a terminal.")
            return
        answer = self._ask(_GO_ON, _LEAVE, _DISCARD)
        if answer == "d":
            self._call.engine.drafts.drop(self._address, own=(draft.text,))
        elif answer == "g":
            self._draft, self._text, self._expected = draft, data, draft.base_sha256
            self._base = self._started_from(draft)

    def _started_from(self, draft: Draft) -> bytes:
        """The text a draft started from; empty when it is no longer known."""
        if draft.base is not None or draft.base_sha256 is None:
            return draft.base or b""
        try:
            return self._call.engine.history.read(self._address, draft.base_sha256)
        except NotFoundError:
            return b""

    def refuse_read_only(self) -> None:
        """Refuse to edit when memtui was started with --read-only."""
        if self._call.session.options.read_only:
            raise RefusedError(
                "memtui was started with --read-only.",
                code="E_READ_ONLY",
                hint="Use memtui view, or leave --read-only out.",
            )

    def refuse_what_cannot_be_saved(self) -> None:
        """Refuse before the editor opens, not after an hour in it."""
        if self._call.engine.roots.find(self._address.root).read_only:
            raise RefusedError(
                f"{self._address.root} is read-only.", code="E_READ_ONLY", hint=f"memtui view {self._address} shows it."
            )
        for problem in self._call.engine.rows.get(self._address).problems:
            if problem.code in CODES:
                raise RefusedError(
                    problem.text, code=problem.code, hint=f"memtui view {self._address} shows it as it is."
                )

    def run(self) -> int:
        """Edit and save until the text is stored or the user stops."""
        while True:
            self._open_editor()
            if self._text == self._base:
                return self._unchanged()
            status = self._decide(None) if self._marked() else self._save()
            if status is not None:
                return status

    def end(self) -> None:
        """Say where the text is, unless it is stored."""
        if self._copy is not None and self._left_over(self._copy):
            again = f"; memtui edit {self._address} offers it again" if self._whole else ""
            self._out.say(f"memtui: the edited text is in {self._copy.path}{again}")
            self._copy.leave()
            self._copy = None
        self._forget()

    def _left_over(self, copy: PrivateCopy) -> bool:
        try:
            return copy.read() != self._base
        except RefusedError:
            return True  # too big to be read: certainly not what it started from
        except StorageError:
            return False  # the editor removed it

    def _open_editor(self) -> None:
        self._forget()
        root = self._call.engine.roots.find(self._address.root)
        self._copy = PrivateCopy(
            self._text,
            name=self._address.name,
            folder=self._call.settings.state_dir,
            of=copy_of(root, self._address, self._expected, self._base) if self._whole else None,
        )
        with _interrupts_are_the_editors():
            status = run_in_terminal(self._editor, self._copy.path)
        self._text = self._copy.read()
        if status != 0:
            raise RefusedError(
                f"{self._editor.name} ended with status {status}.",
                code="E_EDITOR",
                unharmed="The memory is as it was.",
                hint="Leave the editor without an error to save.",
                details={"status": status},
            )

    def _decide(self, conflict: Conflict | None) -> int | None:
        """Ask what to do about a conflict or left markers; None: edit again."""
        if conflict is None:
            self._out.say("There are conflict markers left.")
            if self._ask(_EDIT, _STOP) == "e":
                return None
            raise ConflictError("The merge is not finished.", unharmed="The memory is as it was.")
        refusal = results.conflict(conflict)
        gone = conflict.current_sha256 is None
        if not self._out.interactive or self._out.json:
            self._forget()
            raise refusal
        self._out.say(refusal.message)
        answer = self._ask(_WRITE if gone else _MERGE, _EDIT, _KEEP, _STOP)
        if answer == "w":
            self._base, self._expected = b"", None
            return self._save()
        if answer == "m":
            return self._put_together(conflict)
        if answer == "e":
            return None
        if answer == "k":
            self._settle()
            sha = conflict.yours_sha256 or ""
            self._out.fact(
                {"result": "kept", "address": str(self._address), "sha256": sha},
                f"kept yours as {self._address}@{sha[:12]}",
            )
            return outcomes.DONE
        self._forget()
        raise refusal

    def _put_together(self, conflict: Conflict) -> int | None:
        """Merge both texts; conflicts go to the editor with markers."""
        theirs = self._call.engine.read(self._address)
        try:
            merge = merge3(self._base.decode(), self._text.decode(), theirs.bytes.decode())
        except UnicodeDecodeError:
            self._out.say("One of the texts is not UTF-8, so they cannot be merged.")
            return self._decide(conflict)
        if conflict.yours_sha256 is not None:
            self._merged = MergeOf(self._expected, conflict.yours_sha256, theirs.sha256)
        self._rebase(theirs)
        self._text = merge.text().encode()
        if merge.conflicts:
            self._merge = merge
            return None
        self._out.say("Both texts go together without a conflict.")
        answer = self._ask(("w", "write the merged text"), ("e", "look at it in the editor first"), _STOP)
        if answer == "s":
            self._forget()
            raise ConflictError("The merge was not written.", unharmed="Both texts are in history.")
        return self._save() if answer == "w" else None

    def _save(self) -> int | None:
        """Save the text, or ask what to do about a conflict; None: edit again."""
        result = self._call.engine.save(
            self._address,
            self._text,
            expected_sha256=self._expected,
            actor=self._call.actor,
            merge=self._merged,
        )
        if isinstance(result, Conflict):
            return self._decide(result)
        self._settle()
        return results.saved(self._out, result)

    def _unchanged(self) -> int:
        self._forget()
        fields: dict[str, object] = {"result": "unchanged", "address": str(self._address), "sha256": self._expected}
        self._out.fact(fields, f"unchanged {self._address}")
        return outcomes.DONE

    def _ask(self, *choices: tuple[str, str]) -> str:
        """Ask until a choice is made; no answer is `s`."""
        letters = [letter for letter, _ in choices]
        question = "".join(f"  {letter}  {text}\n" for letter, text in choices) + f"[{'/'.join(letters)}] "
        while True:
            answer = self._out.ask(question)
            if answer is None:
                return "s"
            if answer.strip().lower() in letters:
                return answer.strip().lower()

    def _marked(self) -> bool:
        return self._merge is not None and self._merge.has_markers(self._text.decode("utf-8", "replace"))

    def _rebase(self, snapshot: Snapshot) -> None:
        self._base, self._expected = snapshot.bytes, snapshot.sha256

    def _settle(self) -> None:
        """Delete the copy and the draft of a stored text."""
        self._forget()
        if self._draft is not None:
            saved = self._text.decode("utf-8", "replace")
            self._call.engine.drafts.drop(self._address, own=(self._draft.text, saved), trace=False)
            self._draft = None

    def _forget(self) -> None:
        if self._copy is not None:
            self._copy.remove()
            self._copy = None
