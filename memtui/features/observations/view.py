"""The Observed view: search while typing, who may read each card, and a person's decisions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, TypeVar

from memtui.engine.model import Address, Done
from memtui.engine.observation import NORMAL, PRIVATE, REDACTED
from memtui.engine.task import OPEN, QUEUED, Task
from memtui.errors import MemtuiError
from memtui.features.host import WRITE, Host
from memtui.features.observations import decide, view_rows
from memtui.features.observations.model import TYPES, Card, SessionScope
from memtui.features.observations.view_rows import InspectorQuery, InspectorScope, InspectorState
from memtui.features.tasks.work import workspace_of
from memtui.features.transfer.plan import NewPlan
from memtui.matching import Query
from memtui.safe_text import visible
from memtui.ui.action import Action
from memtui.ui.draw.pages import Page, PageLine, fold, text_page, words_page
from memtui.ui.draw.text import Line, RowStyle, Run, ago, both_ends, count_words, fit
from memtui.ui.list_view import ListRows, ListView
from memtui.ui.widgets.lines import Lines
from memtui.ui.widgets.prompts import Question

if TYPE_CHECKING:
    from textual.widget import Widget

    from memtui.engine import Engine
    from memtui.ui.view_screen import ViewFilter

T = TypeVar("T")
SEARCH_DELAY = 0.08
REBUILD_INTERVAL = 0.5
FILE_WIDTH, COST_WIDTH = 48, 64
GROUP = "observed"
CONFIRM_WORD = "redact"
_ONE = ("obs_open", "show_in_tree", "obs_edit", "obs_promote", "obs_redact", "obs_around", "copy_contents")
_SOME = ("obs_private", "obs_suppressed", "obs_normal", "obs_delete", "obs_restore", "mark", "range")


class ObservedView(ListView[Card]):
    """Observations and what an agent would get of each."""

    ID: ClassVar[str] = "observed"
    HELP = """Small dated cards made of what your memories say, the newest first. / looks for words in all of them as
you type; type:decision, state:private, kind:note, agent:codex, path:src and since:2d in the same line filter, and f t,
f s and f k write the first three. Beside a card stands what it is made of and exactly what an agent gets. , p makes it
private: no agent is given it; , s hides it from you, too, until . shows it; , n takes both back. e edits title, type
and a note, P makes a memory of it, d t takes it away and r brings it back; u takes each of these back. d r clears its
text for good. Before a card stands what is decided about it: p private, s suppressed, r redacted, d deleted, b lies in
a checkout and waits for your review, e edited; ? a decision is on no entry now, so what is new in that file is
withheld until you decide."""
    QUIET = 0.3
    DEFAULT_CSS = "ObservedView #observed-asks { display: none; } ObservedView.-asks #observed-asks { display: block; }"

    def __init__(self, host: Host) -> None:
        super().__init__(host.shell, ListRows(lambda card: card.name))
        self.host, self.jobs = host, host.jobs
        self.wanted = InspectorQuery()
        self.seen: InspectorState | None = None
        self.problem = ""
        """Why nothing can be shown."""
        self._again = False
        """Whether progress is recent enough to search without looking at every file."""
        self._types: frozenset[str] = frozenset()
        self._typed = False
        """Whether the query changed, so that the cursor goes to the best match."""
        does: dict[str, Callable[[], object]] = {
            "obs_open": self._open,
            "obs_sessions": self._ask_about_sessions,
            "show_in_tree": self._show_in_tree,
            "obs_hidden": lambda: self._ask_for(self.wanted._replace(hidden=not self.wanted.hidden)),
            "obs_projects": self._toggle_projects,
            "obs_around": self._around,
            "obs_next": lambda: self.page.go_to_place(1),
            "obs_previous": lambda: self.page.go_to_place(-1),
            "obs_edit": self._edit,
            "obs_promote": self._promote,
            "obs_delete": partial(self._decide, decide.delete, "Deleted"),
            "obs_restore": partial(self._decide, decide.restore, "Restored"),
            "obs_redact": self._ask_to_redact,
            "obs_rebuild": self._rebuild,
            "copy_contents": lambda: self.host.copy(self.card.narrative, "the text of the card"),
        }
        for word in ("private", "suppressed", "normal"):
            does[f"obs_{word}"] = partial(self._decide, partial(decide.set_state, word=word), f"Now {word}")
        for name, values in (("type", TYPES), ("state", view_rows.STATE_VALUES), ("kind", view_rows.KINDS)):
            does[f"obs_by_{name}"] = partial(self._cycle, name, values)
        self.does |= does

    @property
    def card(self) -> Card:
        """The card under the cursor; actions that need one are disabled without."""
        return self.rows.shown[self.list.cursor]

    def _body(self) -> Iterable[Widget]:
        yield Lines(lambda _: [view_rows.CONSENT_LINE], id="observed-asks")
        yield from super()._body()

    # Looking

    def entered(self, within: ViewFilter | None) -> None:
        """Reload when the view is entered."""
        del within
        self.prompt.close()
        self._again = False
        self.load()

    def _read_rows(self, *, awaited: bool) -> None:
        if not self.host.settings.value("observe.enabled"):
            self.take(())
            return
        wanted, known = self.wanted, self.seen.progress if self._again and self.seen else None
        where = self.standing

        def job(engine: Engine, stop: Callable[[], bool], tell: Callable[[InspectorState], None]) -> InspectorState:
            return view_rows.follow(engine, wanted, where, known, stop, tell)

        self.jobs.stream(
            job, self._take, what="read the observations", group=GROUP, otherwise=self._failed, awaited=awaited
        )

    def _take(self, seen: InspectorState) -> None:
        self.seen, self.problem, self._again = seen, "", False
        self.set_class(seen.asks, "-asks")
        self.take(seen.cards)
        if self._typed:
            self._typed = False
            self.list.go(0)
        if self.prompt.open and self.prompt.question.label == "/":
            self.prompt.note = self._found()
            self.update("#view-footer")
        if seen.rebuild is not None and self.shell.current == self.ID:
            self.due = self.set_timer(REBUILD_INTERVAL, self.load)

    def _failed(self, error: MemtuiError) -> None:
        self.problem = f"{error.message} {error.hint}".strip()
        self.take(())

    @property
    def standing(self) -> InspectorScope:
        """The current project's roots, lane and sessions."""
        roots, around = frozenset(self.host.projects.own_roots or self.host.roots), self.host.surroundings
        if around is None:
            return InspectorScope(roots, "", None)
        known = self.seen.sessions if self.seen is not None else None
        return InspectorScope(roots, workspace_of(around).id, known or SessionScope(self.host.settings, around))

    def _ask_for(self, wanted: InspectorQuery, *, again: bool = True) -> None:
        self.wanted, self._again = wanted, again
        self.update("#listed-title")
        self.load()

    def _filter(self) -> None:
        def typed(line: str) -> None:
            self.wanted = self.wanted._replace(line=line, around=None)
            self._again = self._typed = True
            if self.due is not None:
                self.due.stop()
            self.due = self.set_timer(SEARCH_DELAY, self.load)
            self.update("#listed-title")

        def cancelled() -> None:
            self.prompt.close()
            self._ask_for(self.wanted._replace(line=""))

        line = self.wanted.line
        self.prompt.ask(Question("/", line, lambda _: self.prompt.close(), cancelled, changed=typed, over=True))

    def _cycle(self, name: str, values: tuple[str, ...]) -> None:
        if name == "type":
            if "type:" not in self.wanted.line:
                self._types = frozenset(card.type for card in self.rows.all)
            values = tuple(one for one in values if one in self._types)
        self._ask_for(self.wanted._replace(line=view_rows.cycle_value(self.wanted.line, name, values), around=None))

    def _toggle_projects(self) -> None:
        if self.wanted.everywhere:
            self._ask_for(self.wanted._replace(everywhere=False))
            return
        more = self.host.projects.more_roots
        self.say("Looking for every project.")

        def found(_: None) -> None:
            self.show_hint(None)
            self._ask_for(self.wanted._replace(everywhere=True), again=False)

        self.jobs.run(lambda engine: engine.roots.add(more()), found, what="find other projects")

    def _around(self) -> None:
        self._ask_for(self.wanted._replace(around=None if self.wanted.around is not None else self.card))

    def _step_back(self) -> bool:
        if self._in_page or self.has_class("-reading") or (self.wanted.around is None and not self.wanted.line):
            return super()._step_back()
        line = self.wanted.line if self.wanted.around is not None else ""
        self._ask_for(self.wanted._replace(around=None, line=line))
        return True

    # What is drawn

    def _draw_row(self, item: Card, width: int) -> Sequence[Run]:
        """Draw a row."""
        plain = self.ascii
        state = "d" if item.deleted else " psr"[item.state] if item.state else "b" if item.brought else " "
        signs = state + ("?" if item.adrift else "e" if item.patch else " ")
        lead: list[Run] = [
            ("*" if item.name in self.rows.marks else " ", "mark"),
            (signs + " ", "warning" if item.withheld else "agent"),
            (fit(item.type, 10, plain=plain) + " ", "agent"),
            (f"{ago(item.at, self.host.now()) if item.id else '':>4}  ", "dim"),
        ]
        tail: list[Run] = []
        if width >= FILE_WIDTH:
            room = min(30, width // 4)
            where = both_ends(visible(item.path.rpartition("/")[2]), room, plain=plain)
            tail = [(f"  {where:<{room}}"[: room + 2], "description")]
        if width >= COST_WIDTH:
            tail.append((f" {item.tokens or '':>5}", "dim"))
        room = max(width - sum(len(text) for text, _ in (*lead, *tail)), 8)
        title = "(redacted)" if item.state == REDACTED else visible(item.title) or "(deleted long ago)"
        style = "dim" if item.deleted or item.state > PRIVATE else "warning" if not item.id else "name"
        return [*lead, (fit(title, room, plain=plain), style), *tail]

    def _list_words(self) -> tuple[str, Line]:
        seen, notes = self.seen, [*self._found()]
        if self.wanted.line and self.wanted.around is None:
            notes.append((f" | /{visible(self.wanted.line)}", "agent"))
        if self.wanted.everywhere:
            notes.append((" | every project", "agent"))
        if self.rows.marks:
            notes.append((f" | {len(self.rows.marks)} marked", "mark"))
        if seen is not None:
            hidden = seen.counts.get("hidden", 0) + seen.counts.get("redacted", 0)
            words = " | hidden shown" if self.wanted.hidden else f" | {hidden:,} hidden" * bool(hidden)
            notes += [(words, "title")] * bool(words)
            lost = seen.counts.get("adrift", 0) + seen.lost
            notes += [(f" | {lost:,} unsure ?", "warning")] * bool(lost)
            if seen.rebuild is not None:
                far = seen.rebuild.progress or ("waits" if seen.rebuild.state == QUEUED else "begins")
                notes.append((f" | rebuild: {far}", "agent"))
            elif seen.progress.pending:
                notes.append((f" | {seen.progress.pending:,} behind", "warning"))
        return "Around a card" if self.wanted.around is not None else "Observed", notes

    def _found(self) -> Line:
        seen = self.seen
        if seen is None:
            return []
        if seen.asked.problem:
            return [(seen.asked.problem, "warning")]
        many = "newest " * seen.many
        found = " found" * bool(self.wanted.line and self.wanted.around is None)
        return [(f"{many}{len(self.rows.all):,}{found}", "title")]

    def _empty_lines(self) -> Sequence[Sequence[Run]]:
        """Return what is shown without rows: why, and what to do."""
        if not self.host.settings.value("observe.enabled"):
            return [
                [("  Observing is switched off: no cards are made, and none are given.", "strong")],
                [("  observe.enabled = true", "key"), (" in your settings switches it on.", "name")],
            ]
        if self.problem:
            return [[("  " + part, "problem")] for part in fold(visible(self.problem), max(self.list.room - 3, 10))]
        if not self.loaded or self.seen is None:
            return [[("  reading...", "dim")]]
        if self.wanted.line:
            return [
                [("  No card matches that; ", "name"), ("esc", "key"), (" shows all", "name")],
                [("  . shows those that are hidden, f8 looks in every project.", "description")],
            ]
        if self.jobs.read_only:
            return [[("  There are no cards, and memtui runs read-only: started without, it makes them.", "strong")]]
        if self.seen.progress.pending:
            return [[(f"  {count_words(self.seen.progress.pending, 'memory')} left to read...", "dim")]]
        return [
            [("  There are no cards yet.", "strong")],
            [("  They are made of your memories by themselves: write one in ", "name"), ("1", "key"), (",", "name")],
            [("  or keep a note: ", "name"), ("memtui observe the pool dies at night", "key")],
        ]

    @property
    def _explains(self) -> bool:
        return self.prompt.open and self.prompt.question.label != "/"

    def _read_text(self, item: Card) -> None:
        width, look = self.page.text_width, RowStyle(self.host.now(), self.ascii, self.shell.named)
        query = self.seen.query if self.seen is not None else Query(())
        self.jobs.run(
            lambda engine: view_rows.show(engine, item, query, look, width),
            lambda found: self._show_text(item, *found),
            what="draw an observation",
            latest="observed-page",
        )

    def _page_words(self) -> tuple[str, Line]:
        return ("Card" if self.item is None else f"{self.item.type} {self.item.word[:8]}"), self.page.places()

    # Keys

    def _off(self, action: Action) -> str:
        item = self.item
        if action.id == "obs_sessions":
            return "" if self.seen is not None and self.seen.asks else view_rows.ANSWERED
        if action.id in (*_ONE, *_SOME) and item is None:
            return "There is no card here."
        if action.id in ("obs_next", "obs_previous") and not self.page.starts:
            return "There is no place that was looked for."
        if item is None:
            return ""
        if action.id in _SOME and any(one.state == REDACTED for one in self._targets()):
            return "A redacted card stays as it is: its text is gone for good."
        if action.id == "obs_restore" and not all(one.deleted for one in self._targets()):
            return "It is not deleted."
        if action.id == "obs_delete" and any(one.deleted for one in self._targets()):
            return "It is deleted already; r brings it back."
        return view_rows.why_not(action.id, item)

    def _targets(self) -> tuple[Card, ...]:
        return self.rows.targets(self.list.cursor)

    def _open(self) -> None:
        card, words = self.card, self.seen.asked.words if self.seen is not None else ""
        self.jobs.run(
            lambda engine: (engine.roots.names().get(card.root, ""), view_rows.line_of(engine, card)),
            lambda found: self.host.places.open_found(Address(found[0], card.path), (found[1], 1), words),
            what="find where it stands",
        )

    def _show_in_tree(self) -> None:
        card = self.card

        def found(address: Address | None) -> None:
            if address is not None:
                self.host.places.tree(address)

        self.jobs.run(lambda engine: view_rows.address_of(engine, card), found, what="find where it stands")

    # Deciding

    def _ask(self, label: str, text: str, entered: Callable[[str], None], hint: str, style: str = "dim") -> None:
        self.prompt.ask(Question(label, text, entered, self._nothing, hint=lambda _: [(hint, style)]))

    def _write(self, job: Callable[[Engine], T], done: Callable[[T], None], what: str) -> None:
        self.jobs.run(job, done, what=what, lane=WRITE)

    def _decide(self, act: Callable[..., object], said: str) -> None:
        cards, actor, where = self._targets(), self.jobs.actor, self.standing
        name = view_rows.card_label(cards[0]) if len(cards) == 1 else count_words(len(cards), "card")

        def done(_: object) -> None:
            self.rows.marks.clear()
            self.rows.range = None
            self._tell(f"{said}: {name}. u takes it back.")

        self._write(
            lambda engine: act(engine, view_rows.marks_of(engine, cards, where), actor=actor),
            done,
            f"decide about {name}",
        )

    def _tell(self, said: str, level: str = "good") -> None:
        self.host.say(said, level)
        self._ask_for(self.wanted)

    def _edit(self) -> None:
        card, patch, actor, where = self.card, dict[str, object](), self.jobs.actor, self.standing

        def ask(name: str, value: str, hint: str, then: Callable[[], None]) -> None:
            def done(text: str) -> None:
                if name == "type" and text.strip() not in TYPES:
                    self._refuse(f"one of {', '.join(TYPES)}")
                    return
                if text.strip() != value:
                    patch[name] = text.strip()
                self.prompt.close()
                then()

            self._ask(name, value, done, hint)

        def save() -> None:
            if not patch:
                self._nothing()
                return
            self._write(
                lambda engine: decide.edit(engine, view_rows.marks_of(engine, (card,), where)[0], patch, actor=actor),
                lambda _: self._tell("Edited: its memory is as it was. u takes it back."),
                "edit an observation",
            )

        note = partial(ask, "note", card.note.replace("\n", " "), "enter: keep all three", save)
        ask("title", card.title, "enter: its type", partial(ask, "type", card.type, "enter: a note", note))
        words = view_rows.EDITING.format(visible(card.title)).splitlines()
        self.page.show(words_page(*words, width=self.page.text_width))

    def _nothing(self) -> None:
        self.prompt.close()
        self.say("Nothing was changed.")
        self._shown = None
        self.read_row()

    def _ask_to_redact(self) -> None:
        card, actor, where = self.card, self.jobs.actor, self.standing

        def reason(why: str) -> None:
            if not why.strip():
                self._refuse("a redaction needs a reason")
                return
            self.prompt.close()
            act = partial(decide.redact, actor=actor, reason=why.strip())
            self._write(
                lambda engine: act(engine, view_rows.marks_of(engine, (card,), where)[0]),
                redacted,
                "redact an observation",
            )

        def redacted(whole: bool) -> None:
            left = "Redacted for good." if whole else "Redacted; the last bytes go at the next look."
            self._tell(f"{left} Its own file still has the words.", "good" if whole else "warning")

        def ask() -> None:
            self._ask("reason", "", reason, "why; enter clears it")

        self._ask_word(CONFIRM_WORD, "clears the text of this card for good", ask)
        words = view_rows.EXPLAINED.format(visible(card.address)).splitlines()
        self.page.show(words_page(*words, style="warning", width=self.page.text_width))

    def _ask_word(self, word: str, why: str, then: Callable[[], None]) -> None:
        def typed(text: str) -> None:
            if text.strip() == word:
                then()
            else:
                self._refuse(f"type {word}, or esc")

        self._ask(f"type {word}", "", typed, why, "warning")

    # A memory of it

    def _promote(self) -> None:
        """Preview the memory, ask for its address, and write it; a private card needs a yes first."""
        card, roots = self.card, self.host.roots
        start = decide.memory_place(card, roots)
        if start is None:
            self.say("There is no folder of memtui's own or of an agent's to write it in.", "warning")
            return

        seen: NewPlan | None = None

        def shown(made: NewPlan) -> None:
            nonlocal seen
            seen = made
            self.page.show(_preview(made, self.page.text_width, plain=self.ascii))
            if self.prompt.open:
                self.prompt.note = [("enter writes what is shown", "dim")]
                self.update("#view-footer")

        def plan(text: str, then: Callable[[NewPlan], None]) -> None:
            self.jobs.run(
                lambda engine: decide.plan_memory(engine, card, text, roots),
                then,
                what="plan it",
                otherwise=lambda error: self._refuse(error.message),
            )

        def entered(text: str) -> None:
            plan(text, lambda made: write(made) if made == seen else shown(made))

        def write(made: NewPlan) -> None:
            self.prompt.close()
            actor = self.jobs.actor
            self._write(lambda engine: decide.write_memory(engine, made, actor=actor), done, f"create {made.address}")

        def done(result: Done) -> None:
            self.host.say(f"Created {result.outcomes[0].address}. u takes it back.", "good")
            self.host.operations.touched(result.addresses)
            self._ask_for(self.wanted, again=False)

        def ask() -> None:
            self._ask("new memory", start, entered, "enter shows what is written")
            plan(start, shown)

        if card.state == NORMAL:
            ask()
        else:
            self._ask_word("yes", f"it is private: agents that load {start.partition('/')[0]} would be given it", ask)

    def _refuse(self, why: str) -> None:
        self.prompt.refuse(why)

    def _ask_about_sessions(self) -> None:
        reach = self.standing.sessions
        if reach is None:
            return

        def answered(text: str) -> None:
            read = view_rows.ANSWERS.get(text.strip())
            if read is None:
                self._refuse(view_rows.CONSENT_HINT)
                return
            self.prompt.close()
            self._write(lambda engine: view_rows.store_consent(engine, reach.settings, read), done, "keep your answer")

        def done(said: str) -> None:
            self.host.say(said, "good")
            self._ask_for(self.wanted, again=False)

        self.prompt.ask(Question(view_rows.CONSENT_HINT, "", answered, self._nothing))
        self.page.show(words_page(*view_rows.consent_question(reach.settings), width=self.page.text_width))

    # Rebuilding

    def _rebuild(self) -> None:
        lane, settings, actor = self.standing.lane, self.host.settings, self.jobs.actor

        def done(task: Task) -> None:
            if task.stopping or task.state not in OPEN:
                self._tell("The rebuild ends; the present cards stay. g r continues it.", "name")
            else:
                self._tell("Rebuilding all cards; the present ones answer meanwhile. g r again stops it.")

        self._write(
            lambda engine: view_rows.toggle_rebuild(engine, lane, settings, actor), done, "rebuild the observations"
        )


def _preview(made: NewPlan, width: int, *, plain: bool) -> Page:
    """Draw every byte that would be written."""
    page: list[PageLine] = []
    for change in made.changes:
        what = "a line in" if change.before else "is written with"
        page += words_page(
            f"{change.address} {what}:" if not change.before else f"{what} {change.address}:", width=width
        )
        page += text_page(change.after, width, plain=plain)
    return tuple(page)
