"""The screens that ask where memories go and what a new memory is, with a preview of every name and byte.

Taken names are shown before anything is done, and so are front matter and index changes in another agent's root. The
plan that is shown is the very one that is done. The form for a new memory writes by itself, so that the input stays
while something is corrected.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui.agents.table import title_of
from memtui.engine.model import TYPES, Address, Conflict, Done, Root
from memtui.errors import MemtuiError
from memtui.features.host import WRITE
from memtui.features.transfer.model import ADDED, KEPT, LOST, MAPPED, IndexChange, Transfer, TransferPlan
from memtui.features.transfer.plan import MemoryFields, NewPlan, TransferOptions, fields_of, plan, plan_new, translates
from memtui.features.transfer.shape import DESCRIPTION, NAME, TYPE
from memtui.features.typed_address import Target
from memtui.safe_text import cell_width, one_line
from memtui.ui.draw import bars
from memtui.ui.draw.difference import DiffStyle, compare
from memtui.ui.draw.pages import Page, text_page, words_page
from memtui.ui.draw.text import Line, Run, both_ends, count_words
from memtui.ui.plan_screen import PlanList, PlanScreen
from memtui.ui.widgets.prompts import Prompt, Question

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.features.host import Jobs
    from memtui.ui.action import Action

PLAN_DELAY = 0.1
"""Seconds without a key before what is typed is planned."""


class Inventory(NamedTuple):
    """Queries about the places where memories may go."""

    roots: Callable[[], Mapping[str, Root]]
    memories: Callable[[], Collection[Address]]
    others: Callable[[str], bool]
    """Whether a root is another project's."""
    named: Callable[[str], str] = str


def destinations(pairs: Iterable[tuple[Address, Address]], taken: Callable[[Address], bool]) -> tuple[Transfer, ...]:
    """Return the target of each memory, and which names are taken, by a memory or by another one of these."""
    found, used = [], set()
    for old, new in pairs:
        if old == new:
            problem = "it is there already"
        elif new in used:
            problem = "another marked one has this name"
        elif taken(new):
            problem = "the name is taken"
        else:
            problem = ""
            used.add(new)
        found.append(Transfer(old, new, problem=problem))
    return tuple(found)


TARGET_HINT = "type where to; tab: roots and folders"


def completions(text: str, folders: Iterable[str]) -> tuple[str, ...]:
    """Return the folders that a text may mean: those it begins, else those that contain it."""
    typed = text.casefold()
    every = tuple(dict.fromkeys(folders))
    begin = [one for one in every if one.casefold().startswith(typed) and one != text]
    return tuple(begin or [one for one in every if typed in one.casefold() and one != text])


class CopyScreen(PlanScreen["tuple[tuple[Address, Address], ...] | TransferPlan"]):
    """Asks for the target; returns what is to be done, or None."""

    HELP = """Type the folder the memories go to; an address that begins with a root goes to that root. Tab goes through
the roots and folders there are. Names that are taken are shown, and stay as they are. In the root of another agent a
memory gets the front matter that agent reads, and its index a line: below the list is what becomes of the one under the
cursor. Shift with up and down scrolls it."""

    def __init__(
        self,
        table: tuple[Action, ...],
        jobs: Jobs,
        there: Inventory,
        verb: str,
        targets: tuple[Address, ...],
        start: Target,
        *,
        folder: str | None = None,
        typed: str = "",
        plain: bool = False,
    ) -> None:
        """Show where memories would be moved or copied to (`verb`), or the folder that is moved whole."""
        question = Question(
            verb + " to",
            typed or start.text,
            self._done,
            self.leave,
            self._typed,
            self._hint,
            None if typed else start.cursor,
        )
        self.lands = PlanList(self._draw_row)
        self.unmoved = False
        """Whether the line is unchanged and means no other place."""
        super().__init__(table, self.lands, question, plain=plain)
        self._jobs = jobs
        self._there = there
        self._folder = folder
        self.plan: TransferPlan | None = None
        """The plan for the line; None while it is computed, or when only bytes are copied."""
        self._mapped = False
        self._entered = False
        self._stop_timer: Callable[[], None] = lambda: None
        self._verb = verb
        self._targets = targets
        self._start = start
        self._target = start
        self._sure = False
        self._tabbed: tuple[tuple[str, ...], int] | None = None

    def on_mount(self) -> None:
        """Show the initial targets."""
        super().on_mount()
        self._typed(self.prompt.text)

    def _draw_row(self, row: Transfer, room: int) -> Sequence[Run]:
        was, becomes = self._there.named(str(row.old)), self._there.named(str(row.new))
        if self.unmoved:
            return [(both_ends(was, max(room - 3, 16), plain=self._plain), "name")]
        note = f"  ! {row.problem}" if row.problem else ""
        room = max(room - 6 - cell_width(note), 16)
        # Where it lands has the room that what the user chose does not need.
        new = both_ends(becomes, room - min(cell_width(was), room // 3), plain=self._plain)
        old = both_ends(was, room - cell_width(new), plain=self._plain)
        style = "missing" if row.problem else "name"
        return [(old, "description"), (" -> ", "dim"), (new, style), (note, "conflict")]

    # What is typed

    def _take_key(self, key: str) -> bool:
        if key not in ("tab", "shift+tab"):
            return False
        self._complete(-1 if key == "shift+tab" else 1)
        return True

    def _typed(self, text: str) -> None:
        self._sure, self._tabbed = False, None
        self._show(text)

    def _show(self, text: str) -> None:
        self._target = self._start.read(text, self._there.roots())
        pairs = () if self._target.problem else self._target.pairs(self._targets, self._folder)
        self.unmoved = text == self._start.text and all(old == new for old, new in pairs)
        self._show_rows(destinations(pairs, self._there.memories().__contains__))
        self.plan, self._entered = None, False
        self._mapped = translates(pairs, self._there.roots())
        self._stop_timer()
        if self._mapped:
            self._stop_timer = self.set_timer(PLAN_DELAY, self._work_out).stop
        self._show_detailed(detailed=self._mapped)
        self.draw()

    def _show_rows(self, rows: tuple[Transfer, ...]) -> None:
        self.lands.show(rows)
        self.lands.go(next((index for index, row in enumerate(rows) if row.problem), self.lands.cursor))

    # What becomes of them

    def _work_out(self) -> None:
        """Plan the transfer; a result for another line is dropped."""
        pairs = self._target.pairs(self._targets, self._folder)
        text = self.prompt.text
        fit = self._target.kind != "one" or pairs[0][0].name == pairs[0][1].name

        def arrived(found: TransferPlan) -> None:
            if not self.is_attached or self.prompt.text != text:
                return
            self.plan = found
            self._show_rows(found.items)
            self.show_details()
            self.draw()
            if self._entered:
                self._entered = False
                self._done(text)

        moving = self._verb == "move"
        self._jobs.run(
            lambda engine: plan(engine, pairs, TransferOptions(moving, fit=fit)),
            arrived,
            what="work out what is mapped",
            latest=GROUP,
        )

    def show_details(self) -> None:
        """Show what happens to the memory under the cursor."""
        found, at = self.plan, self.lands.cursor
        if found is None:
            self.details.show([[(" working out what is mapped", "dim")]] if self._mapped else [], top=0)
            return
        look = DiffStyle(max(self.app.size.width - 2, 20), plain=self._plain, named=self._there.named)
        lines = details(found, found.items[at] if at < len(found.items) else None, look)
        self.details.show([*note_lines(self._root, look), *lines], top=0)

    @property
    def _root(self) -> Root | None:
        return self._there.roots().get(self._target.address.root)

    def _complete(self, step: int) -> None:
        if self._tabbed is None:
            typed = "" if self.prompt.text == self._start.text else self.prompt.before_end
            found = completions(typed, self._folders())
            if not found:
                self.prompt.refuse("no root or folder has this name")
                return
            self._tabbed = (found, 0 if step > 0 else len(found) - 1)
        else:
            found, at = self._tabbed
            self._tabbed = (found, (at + step) % len(found))
        found, at = self._tabbed
        self.prompt.text = found[at]
        self.prompt.cursor = len(found[at])
        self.prompt.note, self._sure = [], False
        self._show(found[at])

    def _folders(self) -> tuple[str, ...]:
        """Return every root, the project's own first, then every folder; unread roots come last."""
        there, found = self._there, set[str]()
        roots = [root for root in there.roots().values() if not root.read_only]
        # What people write for agents comes last: such a root mostly takes files of certain names alone.
        roots.sort(key=lambda root: (root.kind != "memories", there.others(root.id), root.scope != "project", root.id))
        roots.sort(key=lambda root: bool(root.switched_off))
        names = {root.id: min((root.id, *root.aliases), key=len) for root in roots}
        for address in there.memories():
            parts = address.path.split("/")[:-1]
            for end in range(1, len(parts) + 1):
                folder = "/".join(parts[:end]) + "/"
                if address.root in names:
                    found.add(f"{names[address.root]}/{folder}")
                if address.root == self._start.address.root:
                    found.add(folder)
        return (*(f"{name}/" for name in names.values()), *sorted(found))

    def _hint(self, text: str) -> Line:
        del text
        if self.unmoved or (self._target.problem and not self.prompt.before_end):
            return [(TARGET_HINT + " ", "dim")]
        if self._target.problem:
            return [(self._target.problem, "warning")]
        keys: Line = [("  tab ", "key"), ("places  ", "dim"), ("esc ", "key"), ("back ", "dim")]
        off: Line = [("switched off  ", "warning")] if self._off else []
        return [*off, ("enter ", "key"), (self._words, "dim"), *keys]

    @property
    def _off(self) -> str:
        root = self._root
        return root.switched_off if root is not None and root.id != self._start.address.root else ""

    @property
    def _words(self) -> str:
        able = len(self._able)
        left = len(self.lands.rows) - able
        words = f"{'moves' if self._verb == 'move' else 'copies'} {able}"
        if self._mapped:
            pairs = self._target.pairs(self._targets, self._folder)
            words += f" {reader_words(pairs, self._there.roots())}"
        return f"{words}, {left} stay" if left else words

    @property
    def _able(self) -> tuple[Transfer, ...]:
        return tuple(row for row in self.lands.rows if not row.problem)

    def _done(self, text: str) -> None:
        del text
        able, every = self._able, self.lands.rows
        if self._target.problem:
            self.prompt.refuse(self._target.problem)
        elif self.unmoved:
            self.prompt.refuse(TARGET_HINT)
        elif self._mapped and self.plan is None:
            self._entered = True  # done as soon as it is known what is done
            self._work_out()
        elif not able:
            self.prompt.refuse("every name is taken there")
        elif len(able) < len(every) and not self._sure:
            self._sure = True
            name = count_words(len(every) - len(able), "memory")
            self.prompt.refuse(f"{name} cannot go there and stays; enter again does the other {len(able)}")
        elif self._off and not self._sure:
            self._sure = True
            self.prompt.refuse(f"it is not read there: switched off {self._off}; enter again does it")
        else:
            self.dismiss(self.plan or tuple((row.old, row.new) for row in every if not row.problem))

    def _title(self, width: int) -> list[Line]:
        words = f"{self._verb.capitalize()} {count_words(len(self._targets), 'memory')}"
        taken = 0 if self.unmoved else len(self.lands.rows) - len(self._able)
        notes: Line = [(f"{taken} of {len(self.lands.rows)} cannot go there", "conflict")] if taken else []
        return [bars.title(words, notes, width, focused=True, plain=self._plain)]


GROUP = "transfer"
_STYLES = {MAPPED: "good", ADDED: "good", KEPT: "description", LOST: "warning"}


def reader_words(pairs: Iterable[tuple[Address, Address]], roots: Mapping[str, Root]) -> str:
    """Return whose format they get: `in the shape of Serena`."""
    titles = dict.fromkeys(title_of(roots[new.root].agent) for _, new in pairs if new.root in roots)
    return f"in the shape of {' and '.join(titles)}"


def note_lines(root: Root | None, look: DiffStyle) -> list[Line]:
    """Draw a root's note: who writes there, or that its agent reads none of it."""
    if root is None or not root.note:
        return []
    style = "warning" if root.switched_off else "dim"
    return page_lines(words_page(root.note, style=style, width=look.width))


def details(wanted: TransferPlan, item: Transfer | None, look: DiffStyle) -> list[Line]:
    """Draw what happens to one memory, and what else is written."""
    lines: list[Line] = []
    if item is not None and not item.problem:
        for note in item.notes:
            for number, part in enumerate(words_page(f"{note.kind}: {note.text}", width=look.width)):
                text = part.runs[0][0]
                lines.append([(text if not number else "  " + text, _STYLES.get(note.kind, "dim"))])
        if any(note.kind == LOST for note in item.notes):
            keeps = "history keeps it (H)" if wanted.moving else "the original keeps it"
            lines.append([(f" What is left behind is not lost: {keeps}.", "dim")])
        if not item.changed:
            lines.append([(" The text stays as it is.", "dim")])
        lines += _difference(item.before, item.after, look)
    lines += index_details(wanted.indexes, look)
    if wanted.rest:
        lines += [[], *page_lines(words_page(wanted.rest, style="warning", width=look.width))]
    return lines


def index_details(indexes: Iterable[IndexChange], look: DiffStyle) -> list[Line]:
    """Draw the changes of indexes."""
    lines: list[Line] = []
    for change in indexes:
        lines += [[], [(f" {look.named(str(change.address))}", "heading"), (f"  {change.what}", "good")]]
        lines += page_lines(words_page(*change.notes, width=look.width))
        lines += _difference(change.before, change.after, look)
    return lines


def _difference(before: bytes, after: bytes, look: DiffStyle) -> list[Line]:
    return page_lines(compare(before, after, look)[1]) if before != after else []


def page_lines(page: Page) -> list[Line]:
    """Return the runs of a page, for the details of a plan."""
    return [list(line.runs) for line in page]


NEW_MEMORY = "new memory"
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
        return Prompt(question, self.draw)

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
        self._jobs.drop(NEW_MEMORY)
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
            latest=NEW_MEMORY,
        )

    def show_details(self) -> None:
        """Go to the field under the cursor, and show the preview."""
        self.prompt = self.prompts[self.fields.rows[self.fields.cursor]]
        look = DiffStyle(max(self.app.size.width - 2, 20), plain=self._plain)
        lines: list[Line] = [[], *note_lines(self._root, look)]
        if self._refused is not None and self.prompts[NAME].text.strip():
            text = f"{self._refused.message} {self._refused.hint}".strip()
            lines += page_lines(words_page(text, style="warning", width=look.width))
        elif self.plan is not None:
            memory, *indexes = self.plan.changes
            lines.append([(f" {self.plan.address}", "heading")])
            lines += page_lines(words_page(*memory.notes, width=look.width))
            lines += page_lines(text_page(memory.after, look.width, plain=look.plain))
            lines += index_details(indexes, look)
        self.details.show(lines, top=0)
        self.fields.repaint()

    # Keys

    def _take_key(self, key: str) -> bool:
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
