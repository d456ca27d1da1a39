"""Start cost of each agent: loaded files, bytes, tokens, and what exceeds its limits.

Files are read only as far as the agent would, and no use is counted. Texts an agent makes of its memories are made here
by the same rules, see `with_made`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from memtui.agents import table
from memtui.agents.agent import APPROVAL, BY_INDEX, SKIPPED, KnownAgent, Loads
from memtui.agents.reader import link_out
from memtui.agents.session_start import LoadedFile, gather, in_use
from memtui.config.surroundings import Surroundings
from memtui.engine import Engine
from memtui.engine.model import Address
from memtui.errors import MemtuiError, NotFoundError
from memtui.features.hot_set.assemble import build
from memtui.features.hot_set.shares import as_loaded, made_by
from memtui.given.tokens import Counter, counter
from memtui.pointers.lines import end_of_index, index_of
from memtui.pointers.links import parse_index

if TYPE_CHECKING:
    from collections.abc import Iterator

MEMTUI = KnownAgent("memtui", "memtui", loads=Loads((), note="What memtui gives every agent that it is installed in."))
"""What memtui itself adds to an agent's start."""


_INDEX = "memory index"
_UNNAMED = "Not loaded: no line of the index that is loaded names it, so nothing makes the agent look."
_WORDS = b"What is not read is counted as if it were a text in English. " * 10


class CountedFile(NamedTuple):
    """A file, or a text that the agent makes, with its cost."""

    loaded: LoadedFile
    bytes: int
    tokens: int
    address: Address | None = None
    """The memory, when the file lies in a root."""

    @property
    def below(self) -> int:
        """Bytes below a limit, which are not loaded."""
        gap = self.loaded.cut
        return gap.end - gap.start if gap is not None else 0


class Cost(NamedTuple):
    """The start of one agent."""

    agent: str
    title: str
    project: str
    items: tuple[CountedFile, ...]
    """In the order of loading."""
    method: str
    """How tokens were counted."""
    method_words: str
    note: str = ""
    problem: str = ""
    """Why it is unknown; empty otherwise."""

    @property
    def bytes(self) -> int:
        """Bytes that are loaded."""
        return sum(item.bytes for item in self.items)

    @property
    def tokens(self) -> int:
        """Tokens that are loaded."""
        return sum(item.tokens for item in self.items)

    @property
    def files(self) -> int:
        """Number of loaded files."""
        return sum(item.loaded.at_start for item in self.items)

    @property
    def below(self) -> int:
        """Bytes below limits."""
        return sum(item.below for item in self.items)

    def marked(self, mark: str) -> int:
        """Return the number of files with a mark, including those that are counted and not listed."""
        return sum(item.loaded.stands_for for item in self.items if item.loaded.mark == mark)

    def reasons(self, mark: str) -> dict[str, int]:
        """Return the number of files with a mark by reason, most frequent first."""
        found: dict[str, int] = {}
        for item in self.items:
            if item.loaded.mark == mark:
                found[item.loaded.why] = found.get(item.loaded.why, 0) + item.loaded.stands_for
        return dict(sorted(found.items(), key=lambda one: -one[1]))


def agents(engine: Engine, surroundings: Surroundings) -> tuple[KnownAgent, ...]:
    """Return the agents in use here in display order, memtui's own part last."""
    native = any(root.agent == "memtui" for root in engine.roots.all())
    return (*in_use(surroundings, engine.roots.all()), *((MEMTUI,) if native else ()))


def agent_named(name: str) -> KnownAgent:
    """Return the agent with this name; raises NotFoundError if its start is unknown."""
    wanted = name.strip().lower()
    known = (*table.agents(), MEMTUI)
    agent = next((one for one in known if wanted in (one.id, one.title.lower(), *one.also)), None)
    if agent is not None and agent.loads is not None:
        return agent
    from memtui.matching import slips

    names = [one.id for one in known if one.loads is not None]
    near = slips(wanted, names)
    hint = f"Did you mean {near[0]}?" if near else f"The agents are {', '.join(names)}."
    if agent is not None:
        hint = f"What {agent.title} loads cannot be checked against its own source."
    raise NotFoundError(f"memtui does not know how {name!r} starts.", hint=hint)


def of_all(engine: Engine, surroundings: Surroundings, *, count: Counter | None = None) -> Iterator[Cost]:
    """Compute the start cost of every agent in use here; a failed one has a `problem`."""
    count = count or counter()
    for agent in agents(engine, surroundings):
        try:
            found = work_out(engine, surroundings, agent, count=count)
        except Exception as error:  # noqa: BLE001 - said in the agent's place, whatever it is
            words = problem_words(agent, error)
            item = CountedFile(LoadedFile("problem", words, SKIPPED, words, made=True), 0, 0)
            found = Cost(agent.id, agent.title, surroundings.project, (item,), count.method, count.words)
            found = found._replace(note=_note(agent), problem=words)
        yield found


def _note(agent: KnownAgent) -> str:
    loads = agent.loads or Loads(())
    return f"{loads.note} Checked with {agent.title} {loads.checked}." if loads.checked else loads.note


def problem_words(agent: KnownAgent, error: Exception) -> str:
    """Describe why an agent's start is unknown."""
    said = error.message if isinstance(error, MemtuiError) else f"{type(error).__name__}: {error}."
    return f"{agent.title} cannot be worked out: {said}"


def work_out(engine: Engine, surroundings: Surroundings, agent: KnownAgent, *, count: Counter | None = None) -> Cost:
    """Compute the start cost of one agent; no use is counted. Raises as listing the memories it makes a text of."""
    count = count or counter()
    known = {os.path.realpath(root.path) for root in engine.roots.all()}
    items = tuple(_item(engine, loaded, count, known) for loaded in look(engine, surroundings, agent))
    return Cost(agent.id, agent.title, surroundings.project, items, count.method, count.words, _note(agent))


def look(engine: Engine, surroundings: Surroundings, agent: KnownAgent) -> tuple[LoadedFile, ...]:
    """Return what an agent would load, without counting; enough to notice changes."""
    found = gather(agent, surroundings, engine.roots.all(), end_of_index)
    return with_made(engine, agent.id, tuple(_reached(engine, found)))


def _reached(engine: Engine, found: tuple[LoadedFile, ...]) -> Iterator[LoadedFile]:
    """Mark memories that the agent is led to by no line of a loaded index."""
    texts = [(os.path.dirname(one.path), one.text) for one in found if one.at_start and one.label == _INDEX]
    folders, named = tuple(folder + os.sep for folder, _ in texts), set[str]()
    for folder, text in texts:  # files with the rest of an index come to the end as they are found
        paths = {os.path.join(folder, path) for one in parse_index(text, "") for path in one.readings if path}
        for path in sorted(one for one in paths - named if index_of(os.path.basename(one))):
            try:
                texts.append((folder, engine.read_bytes(engine.roots.resolve(path))))
            except MemtuiError:
                continue  # it is not there, or cannot be read: the agent reads nothing in it either
        named |= paths
    for one in found:
        apart = one.why == BY_INDEX and one.path.startswith(folders) and one.path not in named
        yield one._replace(mark=SKIPPED, why=_UNNAMED) if apart else one


def short(path: str, surroundings: Surroundings) -> str:
    """Shorten a path: relative to the project, or to the home folder with `~`."""
    for folder, sign in ((surroundings.project, "."), (surroundings.home or "", "~")):
        if folder and path.startswith(folder.rstrip("/") + "/"):
            return sign + path[len(folder.rstrip("/")) :]
    return path


def _item(engine: Engine, loaded: LoadedFile, count: Counter, known: set[str]) -> CountedFile:
    text = loaded.text
    tokens = count.of(text.decode("utf-8", "replace")) if text else 0
    if loaded.unread:
        sample = text or _WORDS
        tokens -= -count.of(sample.decode("utf-8", "replace")) * loaded.unread // len(sample)  # rounded up
    address = None if loaded.made else _address(engine, loaded.path, known)
    return CountedFile(loaded, len(text) + loaded.unread, tokens, address)


def _address(engine: Engine, path: str, known: set[str]) -> Address | None:
    folder = os.path.realpath(path)
    while folder not in known:
        if os.path.dirname(folder) == folder:
            return None
        folder = os.path.dirname(folder)
    try:
        address = engine.roots.resolve(os.path.realpath(path) if os.path.islink(path) else path)
        engine.rows.get(address)
    except MemtuiError:  # it lies below a root and is none of its memories: a file like any other
        return None
    return address


def with_made(engine: Engine, agent: str, found: tuple[LoadedFile, ...]) -> tuple[LoadedFile, ...]:
    """Add the texts an agent makes, after the loaded files and before those read on demand."""
    if agent == "memtui":
        given = build(engine)
        blocks = (given.index_block, given.memories - given.listed, given.memories, given.hot_block)
        return (*as_loaded(*blocks, len(given.left_out)), *_behind_links(engine))
    made = made_by(engine, agent, engine.roots.all()).texts
    if not made:
        return found
    return (*(one for one in found if one.at_start), *made, *(one for one in found if not one.at_start))


def _behind_links(engine: Engine) -> tuple[LoadedFile, ...]:
    """Return a row for each link a repository put in the place of memtui's folder; it is not followed."""
    found: dict[str, LoadedFile] = {}
    for root in engine.roots.all():
        if root.agent != "memtui" or not root.in_checkout or root.project is None:
            continue
        link = link_out(root.project, root.path, (os.path.realpath(root.project),))
        if link is not None:
            why = "It is a link to a folder, not followed: it leads out. Its memories are given to nobody."
            found[link] = LoadedFile("memories", link, APPROVAL, why)
    return tuple(found.values())
