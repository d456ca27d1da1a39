"""Putting memories into a bundle and taking them out of one: a line for the file, and what comes of it before enter.

An import that leaves something to decide opens the first conflict; what was written is one step of undo.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from memtui.curation.merge import merged_alone
from memtui.engine.model import Address
from memtui.errors import MemtuiError
from memtui.transfer import bundle, bundlefile, importing, merging
from memtui.transfer.exporting import Exported, collect
from memtui.transfer.importing import Imported
from memtui.transfer.merging import Plan
from memtui.tui.bridge import WRITE
from memtui.tui.browse.bars import Line
from memtui.tui.browse.cells import count_words

if TYPE_CHECKING:
    from memtui.tui.browse.browser import BrowserScreen

GROUP = "bundle"
INTO = " --into "
"""What may stand behind the file of an import, before a root."""
AS_IS = " --as-is"
"""What may stand at the end, to keep every byte of what comes from another agent."""


class Bundling:
    """Asks for a file, and writes or reads it."""

    def __init__(self, screen: BrowserScreen) -> None:
        self._screen = screen
        self._shown: tuple[str, Plan] | None = None
        """What an import would do, for the text it was worked out from."""
        self._over = ""
        """The file that a second enter writes over."""

    # Export

    def export(self) -> None:
        """Ask where the marked memories go."""
        self._ask_export(history=False)

    def export_history(self) -> None:
        """Ask where the marked memories go, with every version of theirs."""
        self._ask_export(history=True)

    def _ask_export(self, *, history: bool) -> None:
        from memtui.tui.browse.prompts import Question

        screen, targets = self._screen, self._screen.memories.targets()
        self._over = ""
        words = f"writes {count_words(len(targets), 'memory')}{' and their history' if history else ''} into it"

        def hint(text: str) -> Line:
            if text == self._over:
                return [("enter again writes over it", "warning")]
            return [(words, "dim")]

        screen.ask(
            Question(
                "export to",
                "~/memories.tar",
                lambda text: self._export(text, targets, history=history),
                screen.close_prompt,
                hint=hint,
            )
        )

    def _export(self, text: str, targets: tuple[Address, ...], *, history: bool) -> None:
        screen, path, over = self._screen, self._path(text), text == self._over
        if path is None:
            return

        def written(found: Exported) -> None:
            screen.close_prompt()
            left = f" {found.left[0][0]} is not in it: {found.left[0][1]}" if found.left else ""
            count = count_words(len(found.bundle.memories), "memory")
            screen.say(f"Exported {count} to {text.strip()}.{left}", "warning" if left else "good")

        def refused(error: MemtuiError) -> None:
            if error.code == "E_EXISTS":
                self._over = text
                screen.refuse_prompt("There is a file of this name: enter again writes over it.")
            else:
                self._refused(error)

        def job(engine: _Engine) -> Exported:
            if history and not screen.bridge.read_only:
                engine.reconcile()  # what others wrote lately belongs to it
            rows = engine.memories(targets)
            found = collect(engine, [rows[one] for one in targets if one in rows], history=history)
            bundlefile.write(path, bundle.write(found.bundle), over=over)
            return found

        screen.bridge.run(job, written, what="export", otherwise=refused, latest=GROUP)

    # Import

    def take(self) -> None:
        """Ask for a bundle."""
        from memtui.tui.browse.prompts import Question

        self._shown = None

        def hint(text: str) -> Line:
            shown = self._shown
            if shown is not None and shown[0] == text:
                return [(f"enter again: {_words(shown[1])} (M tells which)", "strong")]
            return [(f"enter shows what it brings;{INTO}ROOT names another root", "dim")]

        self._screen.ask(Question("import from", "", self._entered, self._screen.close_prompt, hint=hint))

    def _entered(self, text: str) -> None:
        shown = self._shown
        if shown is not None and shown[0] == text:
            self._take(shown[1])
            return
        screen = self._screen
        as_is = text.rstrip().endswith(AS_IS)
        file, _, into = (text.rstrip().removesuffix(AS_IS) if as_is else text).partition(INTO)
        path = self._path(file)
        if path is None:
            return

        def made(wanted: Plan) -> None:
            if screen.prompt is None:
                return
            for one in wanted.arrivals:
                name = one.address or f"{one.packed.origin.id}/{one.packed.path}"
                screen.chrome.remember(f"{name}: {one.what}{f' ({one.why})' if one.why else ''}")
            for one in wanted.of(*merging.WRITTEN, merging.CONFLICT):
                for note in one.notes:
                    screen.chrome.remember(f"{one.address}: {note.kind}: {note.text}")
            for change in wanted.indexes:
                for sentence in (change.what, *change.notes):
                    if sentence:
                        screen.chrome.remember(f"{change.address}: {sentence}")
            if wanted.idle:
                screen.refuse_prompt(f"Nothing would be written: {wanted.words}. M tells which.")
                return
            self._shown = (text, wanted)
            screen.prompt.note = []
            screen.chrome.update("footer")

        def job(engine: _Engine) -> Plan:
            named = {"": into.strip()} if into.strip() else {}
            return merging.plan(engine, bundle.read(bundlefile.read(path)), named, merged_alone, as_is=as_is)

        screen.bridge.run(job, made, what="read the bundle", otherwise=self._refused, latest=GROUP)

    def _take(self, wanted: Plan) -> None:
        screen, actor, now = self._screen, self._screen.bridge.actor, self._screen.now()

        def taken(done: Imported) -> None:
            screen.close_prompt()
            screen.bridge.refresh(everything=True)
            screen.bridge.refresh_drafts()
            words = [f"Imported: {_words(wanted)}."]
            if done.done is not None:
                words.append("u takes back what was written.")
            if done.waiting:
                words.append(f"{done.waiting[0]} has a draft of its own, which stays.")
            screen.say(" ".join(words), "warning" if done.waiting or done.conflicts else "good")
            if done.conflicts:
                screen.open_editor(done.conflicts[0], then="compare")

        screen.bridge.run(
            lambda engine: importing.apply(engine, wanted, actor=actor, now=now),
            taken,
            what="import",
            otherwise=self._refused,
            lane=WRITE,
        )

    # Both

    def _path(self, text: str) -> str | None:
        """The file that a text means; None when it is none, which is said."""
        path, home = text.strip(), self._screen.facts.settings.home
        if home and path.startswith("~/"):
            path = home + path[1:]
        if not path or path.endswith("/"):
            self._screen.refuse_prompt("Type the name of a file.")
            return None
        return os.path.abspath(path)

    def _refused(self, error: MemtuiError) -> None:
        """Leave the line open, so that the name can be made right."""
        if not self._screen.refuse_prompt(f"{error.message} {error.hint}".strip()):
            self._screen.show_error("do it", error)


def _words(wanted: Plan) -> str:
    return f"{wanted.words}; {wanted.also}" if wanted.also else wanted.words


if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Protocol

    from memtui.engine.model import Changes, Memory

    class _Engine(importing.Writer, Protocol):
        """The part of an engine that bundles use."""

        def memories(self, addresses: Iterable[Address], /) -> dict[Address, Memory]:
            """Give rows."""
            ...

        def reconcile(self) -> Changes:
            """Look at the disk."""
            ...

        def read_version(self, address: Address, sha256: str, /) -> bytes:
            """Read a version."""
            ...
