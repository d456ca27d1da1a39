"""The writing keys: they announce what they will do, run it through the bridge, and report the result, even a partial
one.

Each operation is one transaction of the engine and one step of undo.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from hashlib import sha256
from time import monotonic
from typing import TYPE_CHECKING

from memtui.engine.model import Address, Conflict, Done, Memory, PassedOver, Root, Saved, Unchanged
from memtui.errors import MemtuiError
from memtui.features.actors import by, who_words
from memtui.features.transfer.plan import MemoryFields, has_shape, translates
from memtui.features.typed_address import Target, rename_target
from memtui.mask import mask
from memtui.pointers import references
from memtui.ui.draw.text import Line, count_words, partly_done
from memtui.ui.keys.fence import BRIEF_HOLD
from memtui.ui.widgets.prompts import Question, yes_no
from memtui.workbench.bridge import WRITE
from memtui.workbench.browse.projects import ProjectMoves, Projects
from memtui.workbench.tree.nodes import MEMORY, Node
from memtui.workbench.tree.tree import named
from memtui.workbench.undo import LocalStep, LocalUndo

if TYPE_CHECKING:
    from memtui.features.transfer.model import TransferPlan
    from memtui.features.transfer.plan import NewPlan
    from memtui.workbench.bridge import Engine
    from memtui.workbench.main_screen import MainScreen


CONFIRM_ABOVE = 50
"""Moving more memories than this away needs a confirmation."""
EMPTY_SHA = sha256(b"").hexdigest()
PROJECT = "memtui:project"


class MemoryOperations:
    """The operations of the main screen."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self.seeing = LocalUndo(screen.bridge, screen.say)
        self._unmade: dict[str, MemoryFields] = {}

    @property
    def _roots(self) -> Mapping[str, Root]:
        """Where memories may go, including roots without memories, which have no row."""
        screen = self._screen
        return {**{root.id: root for root in screen.facts.roots}, **screen.forest.roots}

    def _targets(self) -> tuple[Address, ...]:
        return self._screen.memories.targets()

    def _run(
        self,
        job: Callable[[Engine], Done],
        what: str,
        report: Callable[[Done], None],
        doing: str,
        *,
        otherwise: Callable[[MemtuiError], None] | None = None,
    ) -> None:
        """Run a job; the next key waits briefly for the rows after it."""
        bridge = self._screen.bridge

        def done(result: Done) -> None:
            bridge.refresh(shows=bridge.hold(what, BRIEF_HOLD))
            report(result)

        bridge.run(job, done, what=what, otherwise=otherwise, lane=WRITE, doing=doing)

    # One-key operations

    def trash(self) -> None:
        """Move the listed versions to the trash; a memory changed since stays, and is asked about."""
        nodes = self._screen.forest.nodes
        rows = [(address, nodes[address].memory) for address in self._targets()]
        listed = {address: row.sha256 if row is not None else None for address, row in rows}
        self._if_sure(f"Move {named(tuple(listed))} to the trash", len(listed), lambda: self._trash(listed))

    def _trash(self, listed: dict[Address, str | None]) -> None:
        targets, actor = tuple(listed), self._screen.bridge.actor

        def done(result: Done) -> None:
            self.report(result, "moved to the trash", after="; u brings it back")
            changed = [one.address for one in result.outcomes if isinstance(one.result, Conflict)]
            seen = listed[changed[0]] if changed else None
            if seen is not None:
                from memtui.workbench.edit.merge.questions import ask_about_deleted

                ask_about_deleted(self._screen, changed[0], seen, lambda address, now: self._trash({address: now}))

        self._run(
            lambda engine: references.trash(engine, targets, actor=actor, expected=listed),
            f"trash {named(targets)}",
            done,
            f"Moving {named(targets)} to the trash",
        )

    def archive(self) -> None:
        """Move to the archive, from which no agent is given anything."""
        targets, actor = self._targets(), self._screen.bridge.actor

        def sure() -> None:
            self._run(
                lambda engine: references.archive(engine, targets, actor=actor),
                f"archive {named(targets)}",
                lambda done: self.report(done, "archived", after="; u brings it back"),
                f"Archiving {named(targets)}",
            )

        self._if_sure(f"Archive {named(targets)}", len(targets), sure)

    def _if_sure(self, what: str, count: int, do: Callable[[], None]) -> None:
        if count <= CONFIRM_ABOVE:
            do()
            return
        self._screen.prompt.ask(yes_no(f"{what}? ", do, self._screen.prompt.close))

    def undo(self) -> None:
        actor, roots = self._screen.bridge.actor, self._screen.facts.more_roots
        self._step(lambda engine: self.seeing.steps.undo(engine, actor, roots), "Undid")

    def redo(self) -> None:
        actor, roots = self._screen.bridge.actor, self._screen.facts.more_roots
        self._step(lambda engine: self.seeing.steps.redo(engine, actor, roots), "Did again")

    def _step(self, job: Callable[[Engine], Done | LocalStep | PassedOver], verb: str) -> None:
        def done(result: Done | LocalStep | PassedOver) -> None:
            if isinstance(result, PassedOver):
                folder = "/".join(result.folder.rstrip("/").rsplit("/", 2)[-2:])
                when = f"is {by(who_words(result.newer))}" if result.newer else "was made before this run"
                if folder:
                    when = f"is in {folder}, not open here"
                words = f"u again undoes: {result.label}. The newest change {when}."
                self._screen.say(words, "warning")
            elif isinstance(result, Done):
                self._screen.part(Projects).touched(result.addresses)
                self._screen.bridge.refresh_drafts()  # a merge that is taken back is a draft again
                self._screen.say(*step_words(result, verb))
            else:
                self.seeing.report(result, undone=verb == "Undid")

        undoes = verb == "Undid"
        doing = "Taking the last change back" if undoes else "Doing the last change again"
        self._screen.bridge.run(job, done, what="undo" if undoes else "redo", lane=WRITE, doing=doing)

    def mark_seen(self, addresses: Iterable[Address], *, quiet: bool = False) -> None:
        """Mark memories as seen; `quiet`: by looking at them, which is no step of undo."""
        targets = tuple(addresses)
        if not quiet:
            self.seeing.memories(targets, named(targets))
            return
        if self._screen.bridge.read_only:
            return
        self._screen.bridge.run(
            lambda engine: engine.changes.mark_seen(targets, looked=True),
            what=f"mark {named(targets)} as seen",
            lane=WRITE,
        )

    # Operations that ask for a name

    def new(self) -> None:
        """Ask for a name and create a memory; where its agent needs more than a name, ask for all of that."""
        node = self._screen.memories.current
        start = new_target(node, self._screen.forest.roots)
        if start is None:
            self._screen.say("There is no root to create a memory in.", "warning")
            return
        if has_shape(self._roots[start.address.root]):
            self._new_shaped(start.address)
            return

        def hint(text: str) -> Line:
            target = start.read(text, self._roots)
            if target.problem:
                return [(target.problem, "warning")]
            return [(f"creates {target.address}", "dim")]

        self._ask("new", start, hint, self._create)

    def rename(self, address: Address | None = None) -> None:
        targets = (address,) if address is not None else self._targets()
        folder = None
        node = self._screen.memories.current
        if address is None and not self._screen.memories.marks and node is not None and node.kind != MEMORY:
            if node.root in self._screen.forest.others and node.kind != "folder":
                self._screen.part(ProjectMoves).start()
                return
            if node.kind != "folder":
                self._screen.say("A scope or root keeps its name; mark memories to move them.", "warning")
                return
            folder = node.key[-1]
            # A folder is renamed whole, also when a filter holds back a part of it.
            targets = tuple(leaf.memory.address for leaf in node.memories() if leaf.memory is not None)
        start = rename_target(targets, folder)
        if start.kind == "many":
            self._land("move", targets, start)
            return

        def hint(text: str) -> Line:
            target = start.read(text, self._roots)
            if target.problem:
                return [(target.problem, "warning")]
            to = str(target.address) if folder is None else f"{target.address}/"
            if translates(target.pairs(targets, folder), self._roots):
                return [(f"enter shows what {to.partition('/')[0]} makes of it", "dim")]
            return [(f"moves {named(targets) if len(targets) > 1 else 'it'} to {to}", "dim")]

        def entered(target: Target) -> None:
            pairs = target.pairs(targets, folder)
            if translates(pairs, self._roots):
                self._screen.prompt.close()
                self._land("move", targets, start, folder=folder, typed=target.text)
            else:
                self._move(pairs, target, folder)

        self._ask("move", start, hint, entered)

    def copy_to(self) -> None:
        targets = self._targets()
        self._land("copy", targets, rename_target(targets, None))

    def _land(
        self, verb: str, targets: tuple[Address, ...], start: Target, *, folder: str | None = None, typed: str = ""
    ) -> None:
        from memtui.features.transfer.model import TransferPlan
        from memtui.features.transfer.view import CopyScreen, Inventory

        def chosen(found: tuple[tuple[Address, Address], ...] | TransferPlan | None) -> None:
            if isinstance(found, TransferPlan):
                self._transfer(found)
            elif found:
                (self._move if verb == "move" else self._copy)(found)

        screen, forest = self._screen, self._screen.forest
        there = Inventory(lambda: self._roots, lambda: forest.nodes, forest.others.__contains__, forest.names.named)
        landing = CopyScreen(
            *(screen.table, screen.bridge, there, verb, targets, start),
            folder=folder,
            typed=typed,
            plain=screen.facts.ascii,
        )
        screen.app.push_screen(landing, chosen)

    def _transfer(self, wanted: TransferPlan, secrets: str = "") -> None:
        """Carry out the plan that was shown; ask what to do with secrets, if any."""
        from memtui.features.transfer.plan import TransferOptions, apply, copy, secrets_of

        screen, bridge = self._screen, self._screen.bridge
        pairs = tuple((item.old, item.new) for item in wanted.going)

        def done(result: Done) -> None:
            past = "moved" if wanted.moving else "copied"
            self.report(result, past, after=f" to {destination_words(pairs)}; u takes it back")
            screen.go_when_there(pairs[0][1])

        def job(engine: Engine) -> Done:
            if wanted.moving or secrets == "keep" or not secrets_of(engine, pairs):
                return apply(engine, wanted, actor=bridge.actor)
            return copy(engine, pairs, secrets, actor=bridge.actor, options=TransferOptions(fit=False))

        otherwise = self._asking(wanted.words, secrets, lambda word: self._transfer(wanted, word))
        bridge.run(job, done, what=wanted.words, otherwise=otherwise, lane=WRITE)

    def _asking(self, what: str, secrets: str, again: Callable[[str], None]) -> Callable[[MemtuiError], None]:
        """Return an error handler that asks about secrets once, and shows other errors."""
        from memtui.workbench.browse.bundles import ask_about_secrets

        screen = self._screen

        def go_on(word: str) -> None:
            screen.prompt.close()
            again(word)

        def refused(error: MemtuiError) -> None:
            if error.code == "E_SECRET" and not secrets:
                ask_about_secrets(screen, go_on)
            else:
                screen.show_error(what, error)

        return refused

    def _ask(self, label: str, start: Target, hint: Callable[[str], Line], done: Callable[[Target], None]) -> None:
        def entered(text: str) -> None:
            target = start.read(text, self._roots)
            if target.problem:
                self._screen.prompt.refuse(target.problem)
            else:
                done(target)

        self._screen.prompt.ask(
            Question(label, start.text, entered, self._screen.prompt.close, hint=hint, cursor=start.cursor)
        )

    def _new_shaped(self, place: Address, name: str = "") -> None:
        """Ask for a memory in the shape of the agent whose root it is."""
        from memtui.features.transfer.view import NewScreen

        screen = self._screen
        if self._is_gone(place.root):
            return

        def made(plan: NewPlan | None) -> None:
            if form.typed and plan is None:
                self._unmade[place.root] = form.sheet
                screen.say("Nothing is created; n has what you typed again.")
            if plan is not None:
                indexes = ", ".join(one.address.name for one in plan.changes[1:] if one.what)
                also = f", with a line in {indexes}. u takes both back." if indexes else ". u takes it back."
                screen.say(f"Created {plan.address}{also}", "good")
                lines = plan.changes[0].after.count(b"\n")
                screen.open_when_there(plan.address, then=f"line {lines + 1}:1")

        root = self._roots[place.root]
        typed = self._unmade.pop(root.id, MemoryFields(""))
        typed = typed._replace(name=name or typed.name)
        form = NewScreen(screen.table, screen.bridge, root, place.path, typed, plain=screen.facts.ascii)
        screen.app.push_screen(form, made)

    def _is_gone(self, root: str) -> bool:
        """Whether the folder of a root is gone; if so, say it."""
        gone = root in self._screen.forest.losses.vanished
        if gone:
            self._screen.say(f"{self._screen.root_problem(root)} Bring it back first.", "warning")
        return gone

    def _create(self, target: Target) -> None:
        address, actor = target.address, self._screen.bridge.actor
        policy = self._roots[address.root].policy
        if has_shape(self._roots[address.root]):
            folder, _, name = address.path.rpartition("/")
            self._screen.prompt.close()
            self._new_shaped(Address(address.root, folder), name)
            return
        if self._is_gone(address.root):
            self._screen.prompt.close()
            return

        def created(result: Saved | Unchanged) -> None:
            self._screen.prompt.close()
            if isinstance(result, Saved):
                self._screen.say(f"Created {result.address}. u takes it back.", "good")
            else:
                self._screen.say(f"{result.address} was there already, and is empty.")
            self._screen.open_when_there(result.address)

        self._screen.bridge.run(
            lambda engine: engine.memories.create(
                address._replace(path=policy.place_of_new(address.path, engine.tasks.clock())), "", actor=actor
            ),
            created,
            what=f"create {address}",
            otherwise=partial(self._screen.not_done, f"create {address}"),
            lane=WRITE,
        )

    def _copy(self, pairs: tuple[tuple[Address, Address], ...], secrets: str = "") -> None:
        from memtui.features.transfer.plan import copy

        actor, old = self._screen.bridge.actor, tuple(one for one, _ in pairs)

        def copied(done: Done) -> None:
            self.report(done, "copied", after=f" to {destination_words(pairs)}; u takes it back")
            self._screen.go_when_there(pairs[0][1])

        what = f"copy {named(old)}"
        self._run(
            lambda engine: copy(engine, pairs, secrets, actor=actor),
            *(what, copied, f"Copying {named(old)}"),
            otherwise=self._asking(what, secrets, lambda word: self._copy(pairs, word)),
        )

    def _move(
        self, pairs: tuple[tuple[Address, Address], ...], target: Target | None = None, folder: str | None = None
    ) -> None:
        actor = self._screen.bridge.actor
        whole = ((Address(pairs[0][0].root, folder), target.address),) if target is not None and folder else ()
        what = f"move {named(tuple(old for old, _ in pairs))}"

        def moved(done: Done) -> None:
            self._screen.prompt.close()
            self.report(done, "moved", after=f" to {destination_words(pairs)}; u takes it back")
            self._screen.go_when_there(pairs[0][1])

        self._screen.bridge.run(
            lambda engine: references.rename(engine, pairs, actor=actor, folders=whole),
            moved,
            what=what,
            otherwise=partial(self._screen.not_done, what),
            lane=WRITE,
            doing=f"Moving {named(tuple(old for old, _ in pairs))}",
        )

    # Words

    def report(self, done: Done, past: str, *, after: str = "") -> None:
        """Say what was done to how many memories, and what failed; `after` follows what was done."""
        failed = [outcome for outcome in done.outcomes if not outcome.ok]
        good = [outcome for outcome in done.outcomes if outcome.ok]
        after = after.replace("brings it", "brings them") if len(good) > 1 else after
        if count := stopped_at(done):
            self._screen.say(f"Stopped: {count} {past}; u takes that back.", "warning")
        elif failed:
            self._screen.memories.leave_marked(outcome.address for outcome in failed)
            why = failed[0].error.message if failed[0].error is not None else "it changed meanwhile"
            words = partly_done(past, len(good), len(done.outcomes), str(failed[0].address), why)
            self._screen.say(words, "warning")
        if failed:
            return
        if past == "copied":  # whatever else is done takes the marked rows away, or is done again to the same ones
            self._screen.memories.leave_marked(())
        name = named(tuple(outcome.address for outcome in good))
        if len(good) == 1 and (done.also or done.left):
            name = good[0].address.name  # so that the end of a longer sentence is in sight too
        destination, undo, tail = after.partition("; ")
        words = f"{name} {past}{destination}{_also(done)}{undo}{tail}."
        self._screen.say(f"{words} {done.left}".rstrip(), "warning" if done.left else "name")


def step_words(done: Done, verb: str) -> tuple[str, str]:
    """Say how an undo or redo went, with the style; `verb` is `Undid` or `Did again`."""
    failed = [outcome for outcome in done.outcomes if not outcome.ok]
    label = done.label.removeprefix("undo ").removeprefix("redo ") or done.operation
    if count := stopped_at(done):
        key = "u" if verb == "Undid" else "U"
        return f"Stopped: {verb.lower()} {count} of {label}; {key} goes on with it.", "warning"
    if failed:
        error, past = failed[0].error, "undone" if verb == "Undid" else "done again"
        name, every = str(failed[0].address), len(done.outcomes)
        why = error.message if error is not None else f"{name} changed since."
        head = f"Not {past}" if every == 1 else f"{len(failed)} of {every} not {past}"
        return f"{head}: {why if name in why else f'{name}: {why}'} {done.left}".rstrip(), "warning"
    other = "U does it again" if verb == "Undid" else "u takes it back"
    left = [outcome.result for outcome in done.outcomes]
    if verb == "Undid" and len(left) == 1 and isinstance(left[0], Saved) and left[0].sha256 == EMPTY_SHA:
        other = "Empty again; u takes back the step before"
    words = " ".join(filter(None, (f"{verb}: {label}.", done.also, done.left or f"{other}.")))
    return words, "warning" if done.left else "good"


def _also(done: Done) -> str:
    return f", {done.also}" if done.also else ""


def stopped_at(done: Done) -> str:
    """Say how far a stopped change came: `1,200 of 5,000 memories`; empty when it was not stopped."""
    if not any(one.error is not None and one.error.code == "E_STOPPED" for one in done.outcomes):
        return ""
    return f"{sum(one.ok for one in done.outcomes):,} of {count_words(len(done.outcomes), 'memory')}"


def destination_words(pairs: tuple[tuple[Address, Address], ...]) -> str:
    """Say where memories went: the address of one, the folder of several."""
    new = pairs[0][1]
    folder = Address(new.root, new.path.rpartition("/")[0])
    return str(new) if len(pairs) == 1 else f"{folder}/".replace("//", "/")


COPY_AGAIN = 3.0
"""Seconds within which copying the same text again includes its secrets."""


class Clipboard:
    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen

    @property
    def _memory(self) -> Memory | None:
        node = self._screen.memories.current
        return node.memory if node is not None else None

    def path(self) -> None:
        """Copy the path of the file, or of every marked one."""
        screen, targets = self._screen, self._screen.memories.targets()
        node = screen.memories.current
        if not screen.memories.marks and node is not None and node.kind != MEMORY:
            targets = targets[:1]
        screen.bridge.run(
            lambda engine: "\n".join(engine.roots.file_path(address) for address in targets),
            lambda text: put_on_clipboard(
                self._screen, text, "the path" if len(targets) == 1 else f"{len(targets)} paths"
            ),
            what="find the path",
        )

    def contents(self) -> None:
        screen, memory = self._screen, self._memory
        if memory is not None:
            screen.bridge.run(
                lambda engine: engine.read(memory.address).text,
                lambda text: put_on_clipboard(screen, text, "the text"),
                what=f"read {memory.address}",
            )

    def description(self) -> None:
        memory = self._memory
        put_on_clipboard(self._screen, memory.description if memory is not None else "", "the description")

    def sha(self) -> None:
        memory = self._memory
        put_on_clipboard(self._screen, (memory.sha256 if memory is not None else None) or "", "the sha-256")


def put_on_clipboard(screen: MainScreen, text: str, what: str) -> None:
    """Copy a text and say by which route; `what` names it in the message.

    Secrets are masked, unless the same text is copied again at once; in a browser always.
    """
    if not text:
        screen.say(f"There is nothing to copy: {what} is empty.", "warning")
        return
    from memtui.ui.terminal import copy

    terminal = screen.facts.settings.terminal
    escaped: list[str] = []
    masked, now = mask(text), monotonic()
    again = screen.copied[0] == text and now - screen.copied[1] < COPY_AGAIN and not terminal.web
    screen.copied = ("", 0.0) if again else (text, now)
    given = text if again else masked.text

    def copied(route: str) -> None:
        for through_terminal in escaped:
            screen.app.copy_to_clipboard(through_terminal)
        said = f"Copied {what} ({route})."
        if given == text:
            screen.say(said, "good")
        else:
            more = "" if terminal.web else f"; again within {COPY_AGAIN:.0f} s as it is"
            screen.say(f"{count_words(len(masked.secrets), 'secret')} masked{more}. {said}", "warning")

    screen.bridge.run(lambda _: copy(given, terminal, escaped.append), copied, what=f"copy {what}")


def new_target(node: Node | None, roots: Mapping[str, Root]) -> Target | None:
    """Return where a new memory goes: into what the cursor is on, else into the memory of the project, if any."""
    root, folder = "", ""
    above = node
    while above is not None and not root:
        root, folder = above.root, folder or above.folder
        above = above.parent
    if root not in roots and node is not None:
        root = next((child.root for child in node.children.values() if child.root in roots), "")
        folder = ""
    if root not in roots or (not folder and roots[root].policy.include is not None):
        root = PROJECT if PROJECT in roots else next(iter(roots), "")
        folder = ""
    if not root:
        return None
    return Target(Address(root, folder), folder, len(folder), "new")
