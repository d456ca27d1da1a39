"""`memtui edit`: the user's editor on a private copy, a guarded save, and a choice on a conflict.

The copy is deleted only when its text is stored, in the memory or in history; otherwise the user is told where it is.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from memtui.diff.merge import Merge, merge3
from memtui.engine import now_ms
from memtui.engine.model import Address, Conflict, Draft, MergeOf, Snapshot
from memtui.errors import CODES, ConflictError, NotFoundError, RefusedError, StorageError
from memtui.features.edit.external import PrivateCopy, copy_of, editor_command, run_in_terminal
from memtui.wire import outcomes, results
from memtui.wire.call import Call
from memtui.wire.output import age, count

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
