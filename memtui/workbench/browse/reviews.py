"""What agents are given: reviewing what a checkout brought, pins, memtui's hook, and index lines above the cut.

A review covers exactly the version shown; a later one waits again. For a root or folder, each waiting version is listed
first, with its difference from what agents were given so far. A pin is a mark of memtui's own and changes no file.
It is apart so that no first frame waits for what agents are given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.model import BROUGHT, Address, Done, Memory
from memtui.errors import MemtuiError, how_to_add
from memtui.safe_text import cell_width
from memtui.ui.action import shown_keys
from memtui.ui.draw import bars
from memtui.ui.draw.difference import DiffStyle, difference
from memtui.ui.draw.pages import Page, text_page, words_page
from memtui.ui.draw.text import Line, Run, both_ends, count_words, fit, size_words
from memtui.ui.keys.fence import BRIEF_HOLD
from memtui.ui.keys.keyed import KeyedScreen
from memtui.ui.plan_screen import PlanList, PlanScreen
from memtui.ui.widgets.prompts import Question
from memtui.workbench.bridge import WRITE
from memtui.workbench.browse.operations import MemoryOperations
from memtui.workbench.tree.nodes import MEMORY
from memtui.workbench.tree.tree import named

if TYPE_CHECKING:
    from memtui.agents.agent import KnownAgent
    from memtui.clients.install import CarriedOut, FileChange
    from memtui.features.hygiene.memory_scan import NamedFinding
    from memtui.features.pins.effect import PinEffect
    from memtui.workbench.bridge import Engine
    from memtui.workbench.main_screen import MainScreen


class Reviews:
    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen

    def accept(self, root: str = "", then: Callable[[], None] = lambda: None) -> None:
        """Review the memory under the cursor or the marked ones; of a root or folder, show first what waits in it."""
        screen, tree = self._screen, self._screen.memories
        targets, node = tree.targets(), tree.current
        if not root and (tree.marks or (node is not None and node.kind == MEMORY)):
            rows = (screen.forest.nodes[address].memory for address in targets if address in screen.forest.nodes)
            self.review([(row.address, row.sha256) for row in rows if row is not None and row.trust == BROUGHT], then)
            return

        def listed(engine: Engine) -> list[Unreviewed]:
            return unreviewed(engine, engine.rows.list([root]).items if root else engine.rows.some(targets).values())

        def show(found: list[Unreviewed]) -> None:
            def chosen(rows: tuple[Memory, ...] | None) -> None:
                if rows:
                    self._keep([(row.address, row.sha256) for row in rows], then)

            if found:
                screen.app.push_screen(ReviewScreen(screen, found), chosen)
            else:
                self._nothing()

        screen.bridge.run(listed, show, what="show what waits for a review", awaited=True)

    def review(self, versions: Iterable[tuple[Address, str | None]], then: Callable[[], None]) -> None:
        """Review versions, whatever is stored under their names by now; a finding of severity E is named first."""
        chosen = tuple(versions)

        def looked(found: list[NamedFinding]) -> None:
            if not found:
                self._keep(chosen, then)
                return
            one = found[0]
            what = "it" if len(chosen) == 1 else count_words(len(chosen), "memory")
            where = f"line {one.hazard.line:,}{f' of {one.row.address.name}' if len(chosen) > 1 else ''}"
            more = f" (and {len(found) - 1:,} more)" if len(found) > 1 else ""
            said = f"reviews {what}; {where}{more}: {one.hazard.rule.what}"
            confirm(
                self._screen, fit(said, self._screen.app.size.width - _ROUND, plain=self._screen.facts.ascii), kept, ""
            )

        def kept() -> None:
            self._keep(chosen, then)

        def look(engine: Engine) -> list[NamedFinding]:
            from memtui.features.hygiene.memory_scan import grave

            return grave(engine, [address for address, _ in chosen])

        self._screen.bridge.run(look, looked, what="look through what waits", awaited=True)

    def _keep(self, versions: Iterable[tuple[Address, str | None]], then: Callable[[], None]) -> None:
        screen, actor = self._screen, self._screen.bridge.actor
        known = [(address, sha) for address, sha in versions if sha is not None]
        if not known:
            self._nothing()
            return
        name = str(known[0][0]) if len(known) == 1 else count_words(len(known), "memory")

        def job(engine: Engine) -> int:
            count = engine.history.review(known, actor=actor)
            decided = [one for one in engine.changes.unseen() if (one.address, one.after) in known]
            screen.part(MemoryOperations).seeing.steps.mark(engine, decided)
            return count

        def done(_: int) -> None:
            screen.say(f"Reviewed {name}: agents are given this text from their next session on.", "good")
            screen.bridge.refresh(everything=True)
            then()

        screen.bridge.run(job, done, what=f"review {name}", lane=WRITE)

    def _nothing(self) -> None:
        self._screen.say("Nothing waits for a review here.", "warning")


GROUP = "reviewing"


class Unreviewed(NamedTuple):
    """A version that was neither written here nor reviewed."""

    row: Memory
    before: str | None
    grave: int = 0


def unreviewed(engine: Engine, rows: Iterable[Memory]) -> list[Unreviewed]:
    """Return the unreviewed rows, each with what it is compared with."""
    known = [row for row in rows if row.trust == BROUGHT]
    from memtui.features.hygiene.memory_scan import grave  # its rules take time to load, and no start waits for them

    counts = Counter(one.row.address for one in grave(engine, [row.address for row in known]))
    return [Unreviewed(row, engine.history.trusted_version(row.address), counts[row.address]) for row in known]


def unreviewed_page(engine: Engine, one: Unreviewed, look: DiffStyle) -> Page:
    """Draw the waiting version: whole if agents were given none before, else the difference."""
    address, sha = one.row.address, one.row.sha256
    found = engine.read(address)
    if sha is None or found.sha256 != sha:
        words = "It was written again since it was listed; what is there now waits for another review."
        return words_page(words, style="warning", width=look.width)
    if one.before is None:
        return text_page(found.bytes, look.width, plain=look.plain)
    return difference(engine.history.read(address, one.before), found.bytes, look)


class ReviewScreen(PlanScreen["tuple[Memory, ...] | None"]):
    """Lists versions and their differences; returns those that are reviewed, or None."""

    HELP = """These versions came with a checkout: nobody wrote them here, and nobody has reviewed them, so agents are
given none of them unasked. Below the list is the one under the cursor: what changed since the version agents were given
last, or all of it. Type a part of a name to list only these. Enter reviews what is listed, exactly these versions; what
a commit brings later waits again. Shift with up and down scrolls the text."""

    def __init__(self, browser: MainScreen, found: Sequence[Unreviewed]) -> None:
        self.waiting = PlanList(self._draw_row)
        question = Question("names with", "", self._done, self.leave, self._typed, self._hint)
        super().__init__(browser.table, self.waiting, question, plain=browser.facts.ascii)
        self._browser = browser
        self._found = found

    def on_mount(self) -> None:
        super().on_mount()
        self._typed("")

    def _draw_row(self, row: Unreviewed, room: int) -> Sequence[Run]:
        what = "new     " if row.before is None else "changed "
        note = f"  {size_words(row.row.bytes)}"
        found = f"  {count_words(row.grave, 'finding')} E" if row.grave else ""
        name = both_ends(str(row.row.address), max(room - 10 - cell_width(note + found), 16), plain=self._plain)
        return [(what, "warning"), (name, "name"), (note, "description"), (found, "conflict")]

    def _typed(self, text: str) -> None:
        words = text.casefold().split()
        shown = [one for one in self._found if all(word in str(one.row.address).casefold() for word in words)]
        self.waiting.show(shown)
        self._show_detailed(detailed=bool(shown))

    def _done(self, text: str) -> None:
        if self.waiting.rows:
            self.dismiss(tuple(one.row for one in self.waiting.rows))
        else:
            self.prompt.refuse(f"Nothing that waits has {text.strip()} in its name.")

    def show_details(self) -> None:
        at, rows = self.list.cursor, self.waiting.rows
        self.details.show([], top=0)
        if at >= len(rows):
            return
        look = DiffStyle(max(self.app.size.width - 2, 20), plain=self._plain)

        def show(page: Page) -> None:
            if self.is_attached:
                self.details.show([list(line.runs) for line in page], top=0)

        def refused(error: MemtuiError) -> None:
            show(words_page(error.message, style="problem", width=look.width))

        self._browser.bridge.run(
            lambda engine: unreviewed_page(engine, rows[at], look),
            show,
            what="read what waits",
            otherwise=refused,
            latest=GROUP,
        )

    def _hint(self, text: str) -> Line:
        del text
        count, bad = len(self.waiting.rows), sum(row.grave > 0 for row in self.waiting.rows)
        words: Line = [(f"enter reviews {'this version' if count == 1 else f'these {count:,} versions'}", "strong")]
        return [*words, (f", {bad:,} with findings E", "conflict")] if bad else words

    def _title(self, width: int) -> list[Line]:
        count = len(self._found)
        notes: Line = [(f"{count_words(count, 'memory')} {'waits' if count == 1 else 'wait'}", "description")]
        return [bars.title("Review", notes, width, focused=True, plain=self._plain)]


_ROUND = 17
CONFIRM_KEY = "!"
"""The second key of a confirmation; it means nothing by itself."""


class PinResult(NamedTuple):
    """The result of pinning, and what each agent is given."""

    done: Done
    effects: tuple[PinEffect, ...]


class PinKeys:
    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self._keys = {one.id: shown_keys(one) for one in screen.table if one.id in ("install_hook", "lift_line")}

    def pin(self) -> None:
        """Pin, or unpin when all are pinned; ask first for more than one memory."""
        screen = self._screen
        targets = screen.memories.targets()
        rows = [screen.forest.nodes[address].memory for address in targets]
        pinned = not all(row is not None and row.pinned for row in rows)
        if len(targets) == 1:
            self.set_pinned(targets, pinned)
            return
        name = named(targets)
        confirm(screen, f"{'pins' if pinned else 'unpins'} {name}", lambda: self.set_pinned(targets, pinned))

    def set_pinned(self, addresses: tuple[Address, ...], pinned: bool, then: Callable[[], None] = lambda: None) -> None:
        """Pin or unpin, say who is given what is pinned, then call `then`."""
        screen = self._screen
        actor, facts = screen.bridge.actor, screen.facts

        def job(engine: Engine) -> PinResult:
            from memtui.features.pins.effect import pin_effects  # what it knows takes long to load

            done = engine.pins.set(addresses, pinned, actor=actor)
            good = [one.address for one in done.outcomes if one.ok] if pinned else []
            return PinResult(done, pin_effects(engine, facts.settings, facts.surroundings, facts.roots, good))

        def report(found: PinResult) -> None:
            screen.bridge.refresh(shows=screen.bridge.hold("pin", BRIEF_HOLD))
            if len(addresses) == 1 and found.effects and (words := self._words(found.effects[0])):
                screen.say(words, "name" if found.effects[0].given else "warning")
            else:
                after = self._of_many(found.effects)
                screen.part(MemoryOperations).report(found.done, "pinned" if pinned else "unpinned", after=after)
            then()

        name = named(addresses)
        screen.bridge.run(
            job,
            report,
            what=f"{'pin' if pinned else 'unpin'} {name}",
            lane=WRITE,
            doing=f"{'Pinning' if pinned else 'Unpinning'} {name}",
        )

    def _words(self, found: PinEffect) -> str:
        """Say what happens to one pin, with the keys that help; empty where there is nothing to say."""
        if not found.words:
            return ""
        parts = [f"Pinned: {found.words}." if found.given else f"Pinned, not given: {found.words}."]
        parts += [f"{self._keys['install_hook']} installs it."] if found.client else []
        parts += (
            [f"{self._keys['lift_line']} lifts its line."]
            if found.below is not None and found.below.fix is not None
            else []
        )
        return " ".join(parts)

    def _of_many(self, effects: tuple[PinEffect, ...]) -> str:
        kept = [one for one in effects if not one.given]
        if not kept:
            return ""
        first = next((one for one in kept if one.client), kept[0])
        help_ = f"; {self._keys['install_hook']} installs it" if first.client else ""
        return f"; {len(kept):,} not given: {first.words}{help_}"

    def install_hook(self, agent: str = "", then: Callable[[], None] = lambda: None) -> None:
        """Ask once, then install memtui in an agent like `memtui install`; without `agent`, in the row's."""
        screen, facts = self._screen, self._screen.facts
        node = screen.memories.current
        root = screen.forest.roots.get(node.root) if node is not None else None
        around = facts.surroundings
        if around is None or (not agent and root is None):
            screen.say("Put the cursor on a memory of an agent first.", "warning")
            return

        def job(engine: Engine) -> tuple[KnownAgent | None, tuple[FileChange, ...]]:
            from memtui.agents.table import agent_of
            from memtui.clients.install import plan_for
            from memtui.features.hot_set.shares import BY_HOOK, door_of
            from memtui.features.pins.effect import agent_of_root

            del engine
            found = agent_of(agent) if agent else agent_of_root(root) if root is not None else None
            if found is None or found.client is None or door_of(found, facts.settings, around).way == BY_HOOK:
                return found, ()
            return found, plan_for(found.client, around, facts.settings)

        def planned(found: tuple[KnownAgent | None, tuple[FileChange, ...]]) -> None:
            known, steps = found
            if known is None:
                screen.say("Put the cursor on a memory of an agent first.", "warning")
            elif known.client is None:
                screen.say(f"memtui cannot be installed in {known.title}.", "warning")
            elif not steps:
                screen.say(f"memtui's hook is in {known.title} already.")
            else:
                files = ", ".join(step.target.path.rpartition("/")[2] for step in steps if step.action != "none")
                confirm(
                    screen, f"puts memtui into {known.title}: {files}", partial(self._install, known, steps, then), ""
                )

        screen.bridge.run(job, planned, what="look at the agent's configuration", awaited=True)

    def _install(self, agent: KnownAgent, steps: tuple[FileChange, ...], then: Callable[[], None]) -> None:
        from memtui.clients.install import carry_out_all, server_runs_here

        screen = self._screen
        state_dir = screen.facts.settings.state_dir

        def done(_: CarriedOut) -> None:
            notes = [note.text for note in agent.client.notes if note.when != "before"] if agent.client else []
            notes += [] if server_runs_here() else [f"Its server needs memtui[mcp]: {how_to_add('mcp')}"]
            words = f"memtui is in {agent.title}, from its next session on."
            screen.say(" ".join((words, *notes)), "good")
            then()

        screen.bridge.run(
            lambda _: carry_out_all(steps, state_dir, installing=True),
            done,
            what=f"install memtui in {agent.title}",
            lane=WRITE,
        )

    def lift_line(self, address: Address | None = None) -> None:
        """Move the index line of a memory, or of the row's, above the cut."""
        screen = self._screen
        node, actor = screen.memories.current, screen.bridge.actor
        if address is None and node is not None and node.memory is not None:
            address = node.memory.address
        if address is None:
            screen.say("Put the cursor on a memory first.", "warning")
            return
        wanted = address

        def job(engine: Engine) -> str:
            from memtui.features.pins.effect import lift

            return lift(engine, wanted, actor=actor)

        def done(words: str) -> None:
            screen.bridge.refresh(shows=screen.bridge.hold("lift", BRIEF_HOLD))
            screen.say(words)

        screen.bridge.run(job, done, what=f"lift the line of {wanted}", lane=WRITE)


def confirm(screen: MainScreen, does: str, sure: Callable[[], None], other: str = "; any other key cancels") -> None:
    """Ask for one key; any other cancels, which is said where there is room."""
    line: Line = [(" ", "dim"), (CONFIRM_KEY, "key"), (f" {does}", "strong"), (f"{other}   ", "dim")]

    def answered(key: str) -> None:
        if key == CONFIRM_KEY:
            sure()
        else:
            screen.say("Cancelled; nothing was changed.")

    top = screen.app.screen
    (top if isinstance(top, KeyedScreen) else screen).letters.ask(line, answered)
