"""From a draft and somebody else's text to one text: what opens which screen, and what each answer does.

Every way through here leaves BASE, YOURS, AGENT and the result readable: YOURS is a draft on disk or a version in
history before a screen opens, AGENT is what is under the name, and a draft is only dropped into history.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.model import Address, Conflict, Saved, Snapshot, Unchanged
from memtui.errors import MemtuiError
from memtui.tui.bridge import WRITE
from memtui.tui.edit import jobs
from memtui.tui.edit.text_form import read_form, same_text
from memtui.tui.merge.gone import GoneScreen
from memtui.tui.merge.screen import ConflictScreen
from memtui.tui.merge.session import bytes_of
from memtui.tui.merge.view import Parties

if TYPE_CHECKING:
    from memtui.tui.edit.flow import Editing
    from memtui.tui.merge.session import MergeSession

ROUNDS = 3
"""After so many writers in between, another name is offered."""


def start(editing: Editing, *, keep: bool) -> None:
    """Show both sides of the open memory.

    Args:
        editing: what is open.
        keep: put YOURS into history with a save that is bound to be refused; it is there already when False.
    """
    subject = editing.editor.subject
    if subject is None:
        return
    editor = editing.editor
    if subject.disk_sha256 == subject.base_sha256:
        editor.say("Nobody else saved: there is no other side to compare with.")
        return
    if not editor.dirty and subject.disk_sha256 is not None:
        editor.say("You changed nothing: what you see is what is on disk.")
        return
    editing.write_drafts()
    ConflictFlow(editing, subject.address, keep=keep).open()


class ConflictFlow:
    """One conflict, from the first screen to the last answer."""

    def __init__(self, editing: Editing, address: Address, *, keep: bool) -> None:
        """Take the open memory with its three texts."""
        subject = editing.editor.subject
        assert subject is not None
        self._editing = editing
        self._address = address
        self._keep = keep
        self._base, self._base_sha256 = subject.base, subject.base_sha256
        self._yours = editing.editor.data
        self._disk, self._disk_sha256 = subject.disk, subject.disk_sha256
        self._who = editing.editor.who if editing.editor.who != "agent" else ""
        self._modified_at = editing.editor.disk_at
        self._rounds = 0
        self._screen: ConflictScreen | GoneScreen | None = None

    # --- opening

    def open(self) -> None:
        """Make sure YOURS is kept, work the merge out, and show it."""
        address, base, yours, disk = self._address, self._base, self._yours, self._disk
        expected, actor, keep = self._base_sha256, self._editing.actor, self._keep

        def prepare(engine: jobs.Verbs) -> tuple[Saved | Unchanged | Conflict | None, MergeSession | None]:
            refused = jobs.keep_yours(engine, address, yours, expected, actor=actor) if keep else None
            return refused, jobs.merge(base, yours, disk)[1] if disk is not None else None

        self._editing.run(prepare, self._show, what=f"compare {address}", lane=WRITE)

    def _show(self, found: tuple[Saved | Unchanged | Conflict | None, MergeSession | None]) -> None:
        refused, session = found
        if isinstance(refused, Saved | Unchanged):
            self._took(self._yours, refused)
            return
        if self._editing.address != self._address:
            return
        if session is None:
            self._screen = GoneScreen(self._parties(), self._base, self._yours, self, table=self._editing.table)
        else:
            before = self._editing.sessions.get(self._address)
            if before is not None:
                session = before.carry_over(session)
            editable = all(read_form(data).editable for data in (self._base, self._yours, self._disk or b""))
            self._screen = ConflictScreen(self._parties(), session, self, editable=editable, table=self._editing.table)
        self._editing.show_screen(self._screen)

    def _parties(self) -> Parties:
        when = self._editing.when
        at = when(self._modified_at) if self._modified_at else ""
        return Parties(
            address=str(self._address),
            base=f"as you opened it {when(self._editing.opened_at)}" if self._base_sha256 else "none: both created it",
            yours="your unsaved draft",
            agent=f"{self._who or ('saved' if self._disk is not None else 'Somebody')} {at}".strip(),
            agent_name="AGENT" if self._who else "DISK",
            same_text=self._disk is not None and same_text(self._yours, self._disk),
        )

    # --- answers of the conflict screen

    def write_result(self, data: bytes) -> None:
        """Save the result over exactly the version that was shown."""
        address, expected, actor = self._address, self._disk_sha256, self._editing.actor
        self._editing.run(
            lambda engine: jobs.write(engine, address, data, expected, actor=actor),
            self._written,
            what=f"save {address}",
            otherwise=self._refused,
            lane=WRITE,
        )

    def _written(self, written: jobs.Written) -> None:
        if isinstance(written.result, Conflict):
            self._third_writer(written)
        else:
            self._took(written.data, written.result)

    def _took(self, data: bytes, result: Saved | Unchanged) -> None:
        """The result is in the memory: the draft goes to history, the editor shows the result."""
        editing, address = self._editing, self._address
        with_whom = f", merged with {self._who or 'what was on disk'}" if self._disk is not None else ""
        editing.sessions.pop(address, None)
        editing.close_screen(self._screen)
        if editing.address == address:
            snapshot = Snapshot(address, data, result.sha256, editing.wishes.clock())
            editing.adopt(snapshot, f"Saved{with_whom}. u in the tree takes it back.")
        editing.drop(address)

    def _refused(self, error: MemtuiError) -> None:
        if self._screen is not None:
            self._screen.say(f"Not written. {error}")

    def _third_writer(self, written: jobs.Written) -> None:
        """Somebody wrote while the conflict was decided: what still fits stays decided, the rest is asked again."""
        self._rounds += 1
        self._disk = written.disk.bytes if written.disk else None
        self._disk_sha256 = written.disk.sha256 if written.disk else None
        self._modified_at = written.disk.modified_at if written.disk else 0
        self._who = written.who or self._who
        screen = self._screen
        if self._disk is None or not isinstance(screen, ConflictScreen):
            self._editing.close_screen(screen)
            self._keep = False
            self.open()
            return
        base, yours, disk = self._base, self._yours, self._disk
        words = "Somebody wrote again while you decided. Decisions that still fit were kept; nothing was written."
        if self._rounds >= ROUNDS:
            words = (
                "It changed again. S keeps your text as a new memory under another name, if you want out of the race."
            )

        def again(found: tuple[bytes | None, MergeSession]) -> None:
            screen.take_session(self._parties(), screen.session.carry_over(found[1]), words)

        self._editing.run(lambda _: jobs.merge(base, yours, disk), again, what="merge both sides")

    def edit_whole(self) -> None:
        """Open the result with markers in the user's editor; markers left over mean it is still open."""
        from memtui.tui.edit.extras import edit_text_outside

        screen = self._screen
        if not isinstance(screen, ConflictScreen):
            return
        session = screen.session

        def edited(data: bytes) -> None:
            text = data.decode(errors="replace")
            if not read_form(data).editable:
                screen.say(f"That text cannot be used: {read_form(data).reason}.")
            elif session.has_markers(text):
                screen.say("Markers are left in the text, so it is still open. Nothing was taken.")
            else:
                screen.take_whole(text)

        edit_text_outside(self._editing, bytes_of(session.with_markers()), self._address.name, edited, screen.say)

    # --- answers of both screens

    def keep_mine(self) -> None:
        """Write YOURS again where there is no file any more."""
        self._disk, self._disk_sha256 = None, None
        self.write_result(self._yours)

    def accept_deletion(self) -> None:
        """Let the memory go; the draft's text goes to history."""
        self._editing.close_screen(self._screen)
        self._editing.drop(self._address)
        self._editing.abandon("The deletion stands; your text is in the history (H) and the trash (g t).")

    def save_as(self, path: str) -> None:
        """Keep YOURS as a new memory, and go on there; the old name stays as somebody else left it."""
        data, actor, old = self._yours, self._editing.actor, self._address
        screen = self._screen

        def create(engine: jobs.Verbs) -> Address:
            new = engine.resolve(path) if "/" in path else Address(old.root, path)
            engine.create(new, data, actor=actor)
            return new

        def created(new: Address) -> None:
            self._editing.close_screen(screen)
            self._editing.sessions.pop(old, None)
            self._editing.drop(old)
            self._editing.reopen(new)

        self._editing.run(create, created, what=f"create {path}", otherwise=self._refused, lane=WRITE)

    def leave(self) -> None:
        """Come back later: decisions stay for this run, the draft stays for any run."""
        if isinstance(self._screen, ConflictScreen):
            self._editing.sessions[self._address] = self._screen.session
        self._editing.close_screen(self._screen)
        self._editing.editor.say("Both texts are kept. f8 comes back to the conflict.")
