"""The form for what to remember, with a live preview of what is written and of similar memories.

It writes nothing: the text becomes a task, and a secret is never repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.model import Address
from memtui.errors import MemtuiError
from memtui.features.actors import who_words
from memtui.features.recall.find import recall
from memtui.features.remember.classify import checked
from memtui.features.remember.work import KIND, NONE, Known, RememberPlan, RememberRequest, enqueue, plan_remember
from memtui.features.tasks.shown import WHILE_YOU_WORK
from memtui.features.tasks.verbs import waited
from memtui.features.transfer.view import index_details
from memtui.mask import shown_parts
from memtui.ui.draw import bars
from memtui.ui.draw.difference import DiffStyle
from memtui.ui.draw.pages import text_page, words_page
from memtui.ui.draw.text import Line, Run, both_ends
from memtui.ui.plan_screen import PlanList, PlanScreen
from memtui.ui.widgets.prompts import Question
from memtui.wire.session import Options, Session

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.task import Task
    from memtui.features.host import Host, Jobs
    from memtui.ui.action import Action

GROUP = "remember"
PLAN_DELAY = 0.1
"""Seconds after the last key before the preview is computed."""
MAX_SIMILAR = 3
"""Similar memories shown, each sharing two words."""
SCOPES = ("", "project", "global", "workspace")
"""Scopes that tab cycles through; empty: by the text."""


class ToRemember(NamedTuple):
    """The answer of the form."""

    wanted: RememberRequest
    secrets: bool = False


class Outlook(NamedTuple):
    """What a text would become."""

    found: RememberPlan | Known
    like: tuple[Address, ...]


class RememberScreen(PlanScreen["ToRemember | Address"]):
    """The form; returns what to remember, or a memory to open instead."""

    HELP = """Type what agents should know from now on; enter or ctrl+s saves it, and work goes on. Tab chooses where it
applies. Below stands what will be written and where; above are memories like it: up and down go through them, ctrl+o
opens one instead. What looks like a secret is not sent without a !. Escape leaves, and the text is there when you
come back; a paste keeps its lines. `Why:` and `How to apply:` behind a sentence are kept as its reasons."""

    def __init__(self, table: tuple[Action, ...], jobs: Jobs, worker: str, typed: str, *, plain: bool) -> None:
        self.like: PlanList[Address] = PlanList(self._draw_row)
        question = Question("remember", typed, self._entered, self.leave, self._typed, self._hint, lines=True)
        super().__init__(table, self.like, question, plain=plain)
        self._jobs = jobs
        self._worker = worker
        self._scope = 0
        self._refused: MemtuiError | None = None
        self._asking = False
        """Whether a secret is to be kept is being asked."""
        self.outlook: Outlook | None = None
        """What comes of the line as it stands; None while that is not known."""
        self._stop_timer: Callable[[], None] = lambda: None

    def on_mount(self) -> None:
        """Continue with what was typed before."""
        super().on_mount()
        self._show_detailed(detailed=True)
        self._typed(self.prompt.text)

    @property
    def wanted(self) -> RememberRequest:
        """The request as typed so far."""
        return RememberRequest(self.prompt.text.strip(), SCOPES[self._scope])

    # What comes of it

    def _typed(self, text: str) -> None:
        self._stop_timer()
        self._asking = False
        self.outlook = self._refused = None
        self._jobs.drop(GROUP)
        if text.strip():
            self._stop_timer = self.set_timer(PLAN_DELAY, self._work_out).stop
        else:
            self._show()

    def _work_out(self) -> None:
        wanted = self.wanted

        def job(engine: Engine) -> Outlook:
            return outlook(engine, wanted)

        def arrived(found: Outlook) -> None:
            if self.is_attached and wanted == self.wanted:
                self.outlook = found
                self._show()

        def refused(error: MemtuiError) -> None:
            if self.is_attached and wanted == self.wanted:
                self._refused = error
                self._show()

        self._jobs.run(job, arrived, what="look at what to remember", otherwise=refused, latest=GROUP)

    def _show(self) -> None:
        self.like.show(self.outlook.like if self.outlook is not None else ())
        self.like.display = bool(self.like.rows)
        self.like.refresh(layout=True)
        self.show_details()
        self.draw()

    def show_details(self) -> None:
        """Show what would be written, or why nothing is."""
        found = self.outlook.found if self.outlook is not None else None
        error, lines = self._refused, list[Line]()
        if error is not None and error.code == "E_SECRET":
            kind = str(error.details.get("kind", "secret"))
            what = f" looks like {'an' if kind[:1] in 'AEIOaeio' else 'a'} {kind}"
            lines = [[(what, "warning"), (": e edit, ! keep anyway" if self._asking else "", "strong")]]
        elif error is not None:
            text = f"{error.message} {error.hint}".strip()
            lines = [list(line.runs) for line in words_page(text, style="warning", width=self.app.size.width - 2)]
        elif isinstance(found, Known):
            lines = [[(f" {found.address}", "heading"), (f" says it already, in line {found.line}.", "warning")]]
        elif found is not None:
            look = DiffStyle(max(self.app.size.width - 2, 20), plain=self._plain)
            made, index = found.changes[0], found.changes[1:]
            may = f"; {who_words(self._worker)} may put it into a memory like it instead"
            who = ", worker none" if self._worker == NONE else may
            span = (len(made.before) if made.after.startswith(made.before) else 0, len(made.after))
            added, (shown,) = made.after[span[0] :], shown_parts(made.after, [span])
            lines = [
                [(" lands in ", "dim"), (str(found.address), "heading")],
                [(f" type {found.fact.type}{who}", "dim")],
                *(list(line.runs) for line in text_page(added, look.width, shown=shown, plain=look.plain)),
                *index_details(index, look),
            ]
        self.details.show(lines, top=0)

    # Keys

    def _take_text(self, key: str, character: str | None) -> bool:
        """Take the answer about a secret; other keys go to the line."""
        if self._asking and character in ("!", "e"):
            self._asking = False
            if character == "!":
                self._send(secrets=True)
            else:
                self._show()
            return True
        return super()._take_text(key, character)

    def _take_key(self, key: str) -> bool:
        if key == "ctrl+s":
            self._entered(self.prompt.text)
        elif key == "tab":
            self._scope = (self._scope + 1) % len(SCOPES)
            self._typed(self.prompt.text)
        elif key == "ctrl+o":
            self._open()
        else:
            return False
        return True

    def _open(self) -> None:
        if self.like.rows:
            self.dismiss(self.like.rows[self.like.cursor])
        else:
            self.prompt.refuse("There is no memory like it.")

    def _entered(self, text: str) -> None:
        try:
            checked(text)
        except MemtuiError as error:
            self._asking = error.code == "E_SECRET"
            self._refused = error
        if self._refused is not None:
            self._show()
        elif self.outlook is not None and isinstance(self.outlook.found, Known):
            self.prompt.refuse("It is known already.")
        else:
            self._send(secrets=False)

    def _send(self, *, secrets: bool) -> None:
        self._jobs.drop(GROUP)
        text = checked(self.prompt.text, secrets=secrets).text  # what is private is not kept in a task either
        self.dismiss(ToRemember(self.wanted._replace(text=text), secrets))

    # Words

    def _draw_row(self, row: Address, room: int) -> Sequence[Run]:
        return [("like it: ", "dim"), (both_ends(str(row), max(room - 11, 16), plain=self._plain), "name")]

    def _hint(self, text: str) -> Line:
        del text
        if self._refused is not None:
            return []
        known = self.outlook is not None and isinstance(self.outlook.found, Known)
        words = ["ctrl+o opens"] * bool(self.like.rows) + ["enter saves"] * (not known)
        return [("  ".join(words), "dim")]

    def _title(self, width: int) -> list[Line]:
        words = f"scope: {SCOPES[self._scope] or 'by the text'} (tab)"
        return [bars.title("Remember", [(words, "description")], width, focused=True, plain=self._plain)]


def outlook(engine: Engine, wanted: RememberRequest) -> Outlook:
    """Preview a text; raises as `checked` and `plan_remember`."""
    text = checked(wanted.text).text
    near = recall(engine, text)
    rows = [one.row for one in near.items]  # all are looked at when it is done: that takes too long for each key
    found = plan_remember(engine, engine.roots.all(), wanted._replace(text=text), among=rows)
    like = [one.row.address for one in near.items if len(one.words) > 1][:MAX_SIMILAR]
    return Outlook(found, tuple(dict.fromkeys([found.address, *like] if isinstance(found, Known) else like)))


class RememberForm:
    """Opens the form, and keeps what was typed and not remembered while memtui runs."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._typed = ""

    def start(self, push: Callable[[RememberScreen, Callable[[ToRemember | Address | None], None]], object]) -> None:
        """Show the form; `push` shows a screen and passes on its answer."""
        host = self._host
        worker = host.settings.lifecycle_worker
        form = RememberScreen(host.shell.table, host.jobs, worker, self._typed, plain=host.shell.plain)

        def chosen(given: ToRemember | Address | None) -> None:
            self._typed = form.prompt.text
            if isinstance(given, ToRemember):
                self._send(given)
            elif given is not None:
                host.places.edit(given)

        push(form, chosen)

    def _send(self, given: ToRemember) -> None:
        host, jobs, place = self._host, self._host.jobs, self._host.surroundings
        if place is None:
            host.say("Nothing can be remembered here: memtui knows of no project.", "warning")
            return
        text, self._typed = self._typed, ""

        def job(engine: Engine) -> Task:
            session = Session(host.settings, engine.roots.all(), engine, Options(), place)
            task = enqueue(session, given.wanted, client=jobs.actor.name, secrets=given.secrets)
            return waited(session, task, lambda: jobs.closed)

        def failed(message: str) -> None:
            self._typed = self._typed or text
            host.say(f"Not remembered: {message} m has the text again.", "error")

        def done(task: Task) -> None:
            if task.error is not None:  # what was saved is said by whoever looks at the tasks
                failed(task.error[1])

        host.say(f"It is put where it belongs {WHILE_YOU_WORK}; 0 shows how far it is.", "good")
        jobs.run(job, done, what="remember", otherwise=lambda error: failed(error.message), lane=KIND)
