"""The flow of the front matter form: opened on a draft or on what is on disk, saved guarded, losing nothing typed.

With the editor open it works on the text in the editor, and the editor's own save takes it from there. Otherwise it is
one guarded save of the fields. A text somebody else wrote meanwhile is taken up when no field overlaps; else the
conflict screen shows both.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from textual.geometry import Offset

from memtui.engine.model import Address, Conflict, Draft, Root, Saved, Snapshot, Unchanged
from memtui.errors import MemtuiError, NotFoundError
from memtui.features.edit.form import Form, applied, edits, form_of, heads, moved
from memtui.ui.draw.pages import Page, PageLine, diff_page, fields_page, words_page
from memtui.workbench.bridge import WRITE
from memtui.workbench.edit.form_screen import FormScreen, Preview
from memtui.workbench.edit.opening import AT_LINE
from memtui.workbench.edit.own_draft import OwnDraft

if TYPE_CHECKING:
    from textual.app import App

    from memtui.workbench.bridge import Bridge, Engine
    from memtui.workbench.browse.browser import BrowserScreen
    from memtui.workbench.edit.flow import Editing

PREVIEW = "form-preview"
"""The group of jobs that work out what would change."""
_LINE = re.compile(r"\(line (\d+)\)")


def preview_of(form: Form, typed: dict[str, str], width: int, *, plain: bool = False) -> Preview:
    """Work out what would come of what is typed: the lines that change, then the fields that stay.

    Args:
        form: what is there.
        typed: name to what is typed.
        width: cells there are.
        plain: show hidden characters in ASCII.
    """
    kept = _kept(form, width)
    if form.refusal:
        hint = "f9 opens it as text, where it can be corrected. Nothing was changed."
        words = words_page(form.refusal, hint, f"({form.code})", style="problem", width=width)
        return Preview((*words, *kept), None, form.refusal)
    try:
        after = applied(form, typed)
    except MemtuiError as error:
        words = words_page(error.message, error.hint, f"({error.code})", style="problem", width=width)
        return Preview((*words, *kept), None, error.message)
    if after == form.data:
        return Preview((*words_page("Nothing yet.", style="dim", width=width), *kept), after)
    return Preview((*diff_page(*heads(form.data, after), width, plain=plain), *kept), after)


def _kept(form: Form, width: int) -> Page:
    if not form.others:
        return ()
    heading = words_page("", "Kept as they are", style="heading", width=width)
    return (PageLine(()), *heading[1:], *fields_page([(name, value or "-") for name, value in form.others], width))


def line_of(form: Form) -> int:
    """The line of the file that the refusal is about; 1 where it names none."""
    found = _LINE.search(form.refusal)
    return int(found.group(1)) if found else 1


class Describing(OwnDraft):
    """What both ways have in common: the screen, its previews, its draft."""

    def __init__(self, app: App[Any], bridge: Bridge, address: Address, root: Root | None) -> None:
        super().__init__(bridge, address)
        self._app = app
        self.root = root
        self.screen: FormScreen | None = None

    @property
    def read_only(self) -> bool:
        """Whether nothing can be written."""
        return self.bridge.read_only

    @property
    def is_open(self) -> bool:
        """Whether the form is on the screen."""
        return self.screen is not None and self.screen.is_running

    def show(self, screen: FormScreen) -> None:
        """Put the form on top."""
        self.screen = screen
        self._app.push_screen(screen)

    def close(self, screen: FormScreen) -> None:
        """Take the form away."""
        self.screen = None
        self._app.cursor_position = Offset(0, 0)
        screen.dismiss(None)

    def form(self, data: bytes) -> Form:
        """Read a text into a form."""
        return form_of(data, self.root, self.address.path)

    def preview(self, screen: FormScreen) -> None:
        """Work out what would change, in a thread."""
        form, typed, width = screen.form, screen.typed, screen.width
        plain = bool(getattr(self._app, "plain", False))
        self.bridge.run(
            lambda _: preview_of(form, typed, width, plain=plain),
            lambda found: screen.previewed(found, typed),
            what="compare front matter",
            latest=PREVIEW,
        )

    def base(self) -> tuple[str | None, bytes | None]:
        """The version that what is typed started from, and its text."""
        raise NotImplementedError

    def draft(self) -> Draft | None:
        """What must not be lost; None when nothing is typed."""
        screen = self.screen
        if screen is None or not screen.changed:
            return None
        try:
            text = applied(screen.form, screen.typed).decode()
        except MemtuiError:
            return None  # what is typed would be refused by a save as well, and the screen says so
        sha256, base = self.base()
        return Draft(self.address, sha256, text, (0, 0), self.bridge.now(), base)


class InEditor(Describing):
    """On the text in the editor."""

    def __init__(self, editing: Editing, address: Address) -> None:
        """Open the form on what the editor holds."""
        super().__init__(editing.app, editing.bridge, address, editing.wishes.roots().get(address.root))
        self._editing = editing
        data, root, path = editing.editor.data, self.root, address.path
        self.bridge.run(
            lambda _: form_of(data, root, path),
            self._read,
            what=f"read the front matter of {address}",
            awaited=True,
        )

    def _read(self, form: Form) -> None:
        editing = self._editing
        if editing.address == self.address and self.screen is None:
            where = "goes into your unsaved draft" if self._is_draft else ""
            self.show(FormScreen(str(self.address), form, self, editing.table, where=where))

    @property
    def _is_draft(self) -> bool:
        editor = self._editing.editor
        return editor.dirty or editor.subject is None or editor.subject.base_sha256 is None

    def base(self) -> tuple[str | None, bytes | None]:
        """The version the editor started from."""
        subject = self._editing.editor.subject
        return (None, None) if subject is None or subject.base_sha256 is None else (subject.base_sha256, subject.base)

    def save(self, screen: FormScreen) -> None:
        """Put it into the text; one that was saved is saved again, with all that follows from that."""
        if self._take(screen):
            was_draft = self._was_draft
            self._kept = None
            self.close(screen)
            self._editing.editor.text_area.focus()
            if was_draft:
                self._editing.write_drafts()
                self._editing.editor.say("The fields are in your draft: ctrl+s saves both, ctrl+z takes them out.")
            else:
                self._editing.save()

    def _take(self, screen: FormScreen) -> bool:
        """Make what is typed part of the text; False when the form stays open."""
        editing = self._editing
        if editing.address != self.address:
            screen.refused("The memory was closed meanwhile.")
            return False
        if editing.editor.data != screen.form.data:
            self._follow(screen)
            return False
        try:
            after = applied(screen.form, screen.typed)
        except MemtuiError as error:
            screen.refused(f"Not saved. {error}")
            return False
        self._was_draft = self._is_draft
        if not editing.editor.put(after):
            screen.refused("The text cannot be edited here.")
            return False
        return True

    _was_draft = False

    def _follow(self, screen: FormScreen) -> None:
        """Somebody else saved, and the clean editor followed: go on on their text."""
        form = self.form(self._editing.editor.data)
        found = moved(screen.form, screen.typed, form)
        screen.moved(form, found.typed, _moved_words(self._editing.editor.who, found.clashes))

    def leave(self, screen: FormScreen) -> None:
        """Back to the text as it was."""
        self.close(screen)
        if self._kept is not None:
            self.drop_draft()
            self._editing.look_after()
            self._editing.write_drafts()
        self._editing.editor.text_area.focus()

    def as_text(self, screen: FormScreen) -> None:
        """Back to the text, with what is typed in it."""
        form, changed = screen.form, screen.changed
        if changed and not form.refusal and not screen.preview.refusal and not self._take(screen):
            return
        self._kept = None
        self.close(screen)
        area = self._editing.editor.text_area
        area.focus()
        if form.refusal:
            area.move_cursor(area.clamp_visitable((line_of(form) - 1, 0)))
            self._editing.editor.say(form.refusal)
        elif changed:
            self._editing.write_drafts()
            self._editing.editor.say("What you typed is in the text: ctrl+s saves it.")


class OnDisk(Describing):
    """On a memory that is not open."""

    def __init__(self, browser: BrowserScreen, address: Address) -> None:
        """Open the form on what is on disk."""
        super().__init__(browser.app, browser.bridge, address, browser.forest.roots.get(address.root))
        self._browser = browser
        self._snapshot: Snapshot | None = None

        root = self.root

        def read(engine: Engine) -> tuple[Snapshot, Form]:
            snapshot = engine.read(address)
            return snapshot, form_of(snapshot.bytes, root, address.path)

        self.bridge.run(read, self._read, what=f"read {address}", awaited=True)

    def _read(self, found: tuple[Snapshot, Form]) -> None:
        self._snapshot, form = found
        if self.screen is None:
            self.show(FormScreen(str(self.address), form, self, self._browser.table))

    def base(self) -> tuple[str | None, bytes | None]:
        """The version that was read."""
        return (self._snapshot.sha256, self._snapshot.bytes) if self._snapshot is not None else (None, None)

    def save(self, screen: FormScreen) -> None:
        """Write the fields, guarded."""
        assert self._snapshot is not None
        address, actor, expected = self.address, self.bridge.actor, self._snapshot.sha256
        wanted = edits(screen.form, screen.typed)

        def write(engine: Engine) -> tuple[Saved | Unchanged | Conflict, Snapshot | None]:
            try:
                result = engine.memories.edit_fields(address, wanted, expected_sha256=expected, actor=actor)
                disk = engine.read(address) if isinstance(result, Conflict) else None
            except NotFoundError:
                return Conflict(address, None, expected, "", ""), None
            return result, disk

        self.bridge.run(
            write,
            lambda found: self._written(screen, *found),
            what=f"save {address}",
            otherwise=lambda error: screen.refused(f"Not saved. {error}"),
            lane=WRITE,
            awaited=True,
        )

    def _written(self, screen: FormScreen, result: Saved | Unchanged | Conflict, disk: Snapshot | None) -> None:
        if isinstance(result, Conflict):
            self._lost_the_race(screen, disk)
            return
        self.drop_draft()
        self.close(screen)
        words = f"Saved {self.address}. u takes it back." if isinstance(result, Saved) else "Nothing to save."
        self._browser.say(words, "good")

    def _lost_the_race(self, screen: FormScreen, disk: Snapshot | None) -> None:
        """Somebody else saved first: go on on their text, or show both."""
        form = self.form(disk.bytes) if disk is not None else None
        found = moved(screen.form, screen.typed, form) if form is not None and not form.refusal else None
        if disk is None or form is None or found is None or found.clashes:
            self._hand_over(screen, "compare")
            return
        self._snapshot = disk
        screen.moved(form, found.typed, _moved_words("somebody else", ()))

    def _hand_over(self, screen: FormScreen, then: str) -> None:
        """Make what is typed a draft, and go on in the editor."""
        draft, address, browser = self.draft(), self.address, self._browser
        self.close(screen)

        def go_on() -> None:
            browser.memories.reveal(address)
            browser.open_editor(address, then=then)

        self.hand_over(draft, go_on)

    def leave(self, screen: FormScreen) -> None:
        """Back to the tree."""
        self.close(screen)
        self.drop_draft()

    def as_text(self, screen: FormScreen) -> None:
        """Open it in the editor, with what is typed as a draft."""
        form = screen.form
        self._hand_over(screen, f"{AT_LINE}{line_of(form)}" if form.refusal else "")


def _moved_words(who: str, clashes: tuple[str, ...]) -> str:
    if clashes:
        both = " and ".join(clashes)
        return f"{who} saved meanwhile and changed {both} too. What you typed stands here: ctrl+s writes it."
    return f"{who} saved meanwhile. What you typed fits on their text: ctrl+s writes it."
