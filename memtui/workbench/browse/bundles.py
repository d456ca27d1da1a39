"""Exporting memories into a bundle, and importing one after showing what happens to each of its memories.

The plan shown is the plan carried out. An import that leaves something to decide opens the first conflict; what was
written is one step of undo.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from memtui.engine.model import Address
from memtui.errors import MemtuiError
from memtui.features.bundles import bundle, import_plan, tarball
from memtui.features.bundles.bundle import Exported, collect
from memtui.features.bundles.import_plan import Imported, ImportPlan
from memtui.features.bundles.view import GROUP, ImportScreen, name_of, path_of
from memtui.ui.draw.text import Line, count_words
from memtui.workbench.bridge import WRITE

if TYPE_CHECKING:
    from memtui.workbench.bridge import Engine
    from memtui.workbench.main_screen import MainScreen


def ask_about_secrets(screen: MainScreen, go_on: Callable[[str], None]) -> None:
    """Ask what to do with secrets, and call `go_on` with `keep`, `mask` or `leave`."""
    from memtui.ui.widgets.prompts import Question

    def answered(word: str) -> None:
        chosen = [one for one in ("keep", "mask", "leave") if word.strip() and one.startswith(word.strip().lower())]
        if chosen:
            go_on(chosen[0])
        else:
            screen.prompt.refuse("Type keep, mask or leave.")

    def hint(_: str) -> Line:
        return [("a secret would go along: keep it, mask it, or leave the memory out", "warning")]

    screen.prompt.ask(Question("secrets", "mask", answered, screen.prompt.close, hint=hint, over=True))


class Bundles:
    """Asks for a file, and writes or reads it."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self._over = ""

    # Export

    def export(self) -> None:
        self._ask_export(history=False)

    def export_history(self) -> None:
        self._ask_export(history=True)

    def _ask_export(self, *, history: bool) -> None:
        from memtui.ui.widgets.prompts import Question

        screen, targets = self._screen, self._screen.memories.targets()
        self._over = ""
        words = f"writes {count_words(len(targets), 'memory')}{' and their history' if history else ''} into it"

        def hint(text: str) -> Line:
            if text == self._over:
                return [("enter again writes over it", "warning")]
            return [(words, "dim")]

        screen.prompt.ask(
            Question(
                "export to",
                "~/memories.tar",
                lambda text: self._export(text, targets, history=history),
                screen.prompt.close,
                hint=hint,
            )
        )

    def _export(self, text: str, targets: tuple[Address, ...], *, history: bool, secrets: str = "") -> None:
        screen, over = self._screen, text == self._over
        path = path_of(text, screen.facts.settings.home)
        if path is None:
            screen.prompt.refuse("Type the name of a file.")
            return

        def written(found: Exported) -> None:
            screen.prompt.close()
            left = f" {found.left[0][0]} is not in it: {found.left[0][1]}" if found.left else ""
            count = count_words(len(found.bundle.memories), "memory")
            screen.say(f"Exported {count} to {text.strip()}.{left}", "warning" if left else "good")

        def refused(error: MemtuiError) -> None:
            if error.code == "E_SECRET":
                ask_about_secrets(screen, lambda word: self._export(text, targets, history=history, secrets=word))
            elif error.code == "E_EXISTS":
                self._over = text
                screen.prompt.refuse("There is a file of this name: enter again writes over it.")
            else:
                screen.not_done("export", error)

        def job(engine: Engine) -> Exported:
            if history and not screen.bridge.read_only:
                engine.watch.reconcile()  # what others wrote lately belongs to it
            rows = engine.rows.some(targets)
            found = collect(engine, [rows[one] for one in targets if one in rows], history=history, secrets=secrets)
            tarball.write_file(path, bundle.write(found.bundle), over=over)
            return found

        screen.bridge.run(job, written, what="export", otherwise=refused, latest=GROUP)

    # Import

    def take(self) -> None:
        """Ask for a bundle, show the plan, and import it."""

        def chosen(wanted: ImportPlan | None) -> None:
            if wanted is not None:
                self._take(wanted)

        screen = self._screen
        screen.app.push_screen(
            ImportScreen(screen.table, screen.bridge, screen.facts.settings.home, plain=screen.facts.ascii), chosen
        )

    def _take(self, wanted: ImportPlan) -> None:
        screen, actor, now = self._screen, self._screen.bridge.actor, self._screen.now()

        def taken(done: Imported) -> None:
            screen.bridge.refresh_drafts()
            for one in wanted.arrivals:
                screen.chrome.remember(f"{name_of(one)}: {one.what}{f' ({one.why})' if one.why else ''}")
            said = [f"Imported: {wanted.all_words}."]
            if done.done is not None:
                said.append("u takes back what was written.")
            if done.waiting:
                said.append(f"{done.waiting[0]} has a draft of its own, which stays.")
            screen.say(" ".join(said), "warning" if done.waiting or done.conflicts else "good")
            if done.conflicts:
                screen.open_editor(done.conflicts[0], then="compare")

        screen.bridge.run(
            lambda engine: import_plan.apply(engine, wanted, actor=actor, now=now),
            taken,
            what="import",
            otherwise=partial(screen.show_error, "import"),
            lane=WRITE,
        )
