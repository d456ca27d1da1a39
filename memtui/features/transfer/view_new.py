"""The form for a new memory: a line for each field, and a preview of the memory and its index line.

It writes by itself, so that the input stays while something is corrected. It is apart from the plan because only the
workbench draws.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from memtui.agents.table import title_of
from memtui.engine.model import TYPES, Conflict, Done, Root
from memtui.errors import MemtuiError
from memtui.features.host import WRITE
from memtui.features.transfer.fields import DESCRIPTION, NAME, TYPE
from memtui.features.transfer.new_memory import MemoryFields, NewPlan, fields_of, plan_new
from memtui.features.transfer.view import PLAN_DELAY, index_details, note_lines
from memtui.safe_text import one_line
from memtui.ui.draw import bars
from memtui.ui.draw.difference import DiffStyle
from memtui.ui.draw.pages import text_page, words_page
from memtui.ui.draw.spans import Line, Run
from memtui.ui.plan_screen import PlanList, PlanScreen
from memtui.ui.widgets.prompts import Prompt, Question

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.features.host import Jobs
    from memtui.ui.action import Action

GROUP = "new memory"
NOTHING = MemoryFields("")
LABEL = 12


class NewScreen(PlanScreen["NewPlan | None"]):
    """Asks for the fields; returns the memory that was created, or None."""

    HELP = """A new memory in the shape its agent writes: enter goes to the next field, and behind the last one
creates it; ctrl+s creates it from any. Tab goes through the types. Below stand the file as it will be, and the line
that the index gets in the same step. A name that ends in .md is the name of the file. Escape leaves, and what is
typed is there when you come back."""

    def __init__(
        self,
        table: tuple[Action, ...],
        jobs: Jobs,
        root: Root,
        folder: str,
        typed: MemoryFields = NOTHING,
        *,
        plain: bool,
    ) -> None:
        self._jobs, self._root, self._folder = jobs, root, folder
        self._kind = next((one for one in folder.split("/") if one in TYPES), "")
        self._kind = self._kind or ("user" if root.scope == "global" else "project")
        values = {NAME: typed.name, DESCRIPTION: typed.description, TYPE: typed.type or self._kind}
        self.prompts = {field: self._prompt(field, values[field]) for field in fields_of(root)}
        self.fields: PlanList[str] = PlanList(self._draw_row)
        self.fields.rows = tuple(self.prompts)
        super().__init__(table, self.fields, self.prompts[NAME].question, plain=plain)
        self.prompt = self.prompts[NAME]
        self.plan: NewPlan | None = None
        self._refused: MemtuiError | None = None
        self._entered = self._busy = False
        self._stop_timer: Callable[[], None] = lambda: None

    def _prompt(self, field: str, value: str) -> Prompt:
        question = Question(f"{field:<{LABEL - 1}}", value, self._next, self.leave, self._typed, over=field == TYPE)
        return Prompt(question)

    def on_mount(self) -> None:
        """Show the preview."""
        super().on_mount()
        self._show_detailed(detailed=True)
        self._typed("")

    @property
    def sheet(self) -> MemoryFields:
        """The contents of the fields."""
        return MemoryFields(**{field: prompt.text for field, prompt in self.prompts.items()})

    @property
    def typed(self) -> bool:
        """Whether anything is typed."""
        return self.sheet._replace(type="") != NOTHING or self.sheet.type not in ("", self._kind)

    # What comes of it

    def _typed(self, text: str) -> None:
        del text
        self._stop_timer()
        self._entered = False
        self.plan = self._refused = None
        self._jobs.drop(GROUP)
        self._stop_timer = self.set_timer(PLAN_DELAY, self._work_out).stop
        self.fields.repaint()

    def _work_out(self) -> None:
        sheet, root, folder = self.sheet, self._root, self._folder

        def done() -> None:
            self.show_details()
            if self._entered:
                self._entered = False
                self._make()

        def arrived(found: NewPlan) -> None:
            if self.is_attached and sheet == self.sheet:
                self.plan = found
                done()

        def refused(error: MemtuiError) -> None:
            if self.is_attached and sheet == self.sheet:
                self._refused = error
                done()

        self._jobs.run(
            lambda engine: plan_new(engine, root, folder, sheet),
            arrived,
            what="work out a new memory",
            otherwise=refused,
            latest=GROUP,
        )

    def show_details(self) -> None:
        """Go to the field under the cursor, and show the preview."""
        self.prompt = self.prompts[self.fields.rows[self.fields.cursor]]
        look = DiffStyle(max(self.app.size.width - 2, 20), plain=self._plain)
        lines: list[Line] = [[], *note_lines(self._root, look)]
        if self._refused is not None and self.prompts[NAME].text.strip():
            text = f"{self._refused.message} {self._refused.hint}".strip()
            lines += [list(line.runs) for line in words_page(text, style="warning", width=look.width)]
        elif self.plan is not None:
            memory, index = self.plan.changes[0], self.plan.changes[1:]
            lines.append([(f" {self.plan.address}", "heading")])
            lines += [list(line.runs) for note in memory.notes for line in words_page(note, width=look.width)]
            lines += [list(line.runs) for line in text_page(memory.after, look.width, plain=look.plain)]
            lines += index_details(index, look)
        self.details.show(lines, top=0)
        self.fields.repaint()

    # Keys

    def _take_key(self, key: str) -> bool:
        """Create the memory, or step through types and fields."""
        if key == "ctrl+s":
            self._make()
        elif key in ("tab", "shift+tab") and self._at == TYPE:
            types, now = self._root.policy.types, self.prompt.text
            at = types.index(now) + (1 if key == "tab" else -1) if now in types else 0
            self.prompt.text = types[at % len(types)]
            self.prompt.cursor = len(self.prompt.text)
            self._typed("")
        elif key in ("tab", "shift+tab"):
            self._go(1 if key == "tab" else -1)
        else:
            return False
        return True

    @property
    def _at(self) -> str:
        return self.fields.rows[self.fields.cursor]

    def _go(self, by: int) -> None:
        self.fields.move(by)
        self.show_details()

    def _next(self, text: str) -> None:
        del text
        if self.fields.cursor + 1 < len(self.fields.rows):
            self._go(1)
        else:
            self._make()

    def _make(self) -> None:
        plan = self.plan
        if self._busy:
            return
        if self._refused is not None:
            self.say(f"{self._refused.message} {self._refused.hint}".strip(), "error")
        elif plan is None:
            self._entered = True  # done as soon as it is known what is done
        else:
            self._busy = True
            actor, label = self._jobs.actor, f"create {plan.address}"

            def write(engine: Engine) -> Done:
                return engine.together.do(plan.steps, actor=actor, label=label)

            self._jobs.run(
                write, lambda done: self._made(plan, done), what=label, otherwise=self._failed, lane=WRITE, awaited=True
            )

    def _made(self, plan: NewPlan, done: Done) -> None:
        changed = [one.address for one in done.outcomes if isinstance(one.result, Conflict)]
        if not changed:
            self.dismiss(plan)
            return
        self._busy = False
        self._typed("")
        self.say(f"{changed[0]} changed meanwhile; nothing was written. ctrl+s tries again.", "warning")

    def _failed(self, error: MemtuiError) -> None:
        self._busy = False
        self.say(f"{error.message} {error.hint}".strip(), "error")

    # Words

    def _draw_row(self, row: str, room: int) -> Sequence[Run]:
        prompt = self.prompts[row]
        if prompt is not self.prompt:
            value = one_line(prompt.text, room - LABEL - 4, ascii_tokens=self._plain)
            return [(f" {row:<{LABEL - 1}} ", "dim"), (value, "name")]
        line, column = prompt.line(room - 2, plain=self._plain)
        if self.is_current:
            self._put_caret(column + 2, self.fields.region.y + self.fields.cursor)
        return line

    def _line(self, width: int) -> list[Line]:
        last = self._at == self.fields.rows[-1]
        keys = [("enter", "creates it" if last else "next field"), ("ctrl+s", "creates it")][1 if last else 0 :]
        keys = [("tab", "next type")] * (self._at == TYPE) + keys + [("esc", "back")]
        if self._said:
            return [bars.message(self._said, width, plain=self._plain)]
        return [[run for key, does in keys for run in ((f" {key} ", "key"), (f"{does} ", "dim"))]]

    def _title(self, width: int) -> list[Line]:
        words = f"New memory of {title_of(self._root.agent)}"
        where = "/".join(part for part in (self._root.id, self._folder) if part)
        return [bars.title(words, [(one_line(where, width // 2), "dim")], width, focused=True, plain=self._plain)]
