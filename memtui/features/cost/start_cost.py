"""What each agent loads when a session starts, with what it costs: bytes, tokens, and what falls below its limits.

It reads files only as far as the agent would, through `memtui.agents.session_start`, and never as an agent: no use is
counted. What an agent makes itself of its memories is made here by the same rules, see `with_made`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from memtui.agents import table
from memtui.agents.agent import BY_INDEX, SKIPPED, KnownAgent, Loads
from memtui.agents.session_start import LoadedFile, gather, in_use
from memtui.config.surroundings import Surroundings
from memtui.engine import Engine
from memtui.engine.model import Address
from memtui.errors import MemtuiError, NotFoundError
from memtui.given.tokens import Counter, counter
from memtui.pointers.cutline import end_of_index
from memtui.pointers.index import parse
from memtui.pointers.rest import index_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


from memtui.agents.agent import APPROVAL
from memtui.agents.reader import link_out
from memtui.features.hot_set.assemble import build
from memtui.features.hot_set.own import as_loaded, made_by

MEMTUI = KnownAgent("memtui", "memtui", loads=Loads((), note="What memtui gives every agent that it is installed in."))
"""What comes on top of everything an agent loads itself, once memtui is installed in it."""


_INDEX = "memory index"
_UNNAMED = "Not loaded: no line of the index that is loaded names it, so nothing makes the agent look."
_WORDS = b"What is not read is counted as if it were a text in English. " * 10


class CountedFile(NamedTuple):
    """One file, or one text the agent makes, and what it costs."""

    loaded: LoadedFile
    bytes: int
    """Of what is loaded."""
    tokens: int
    address: Address | None = None
    """The memory it is, when it lies in a root."""

    @property
    def below(self) -> int:
        """Bytes that fall below a limit."""
        gap = self.loaded.cut
        return gap.end - gap.start if gap is not None else 0


class Cost(NamedTuple):
    """What one agent starts with."""

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
    """Why nothing is known of it; empty when all is well."""

    @property
    def bytes(self) -> int:
        """Of everything that is loaded."""
        return sum(item.bytes for item in self.items)

    @property
    def tokens(self) -> int:
        """Of everything that is loaded."""
        return sum(item.tokens for item in self.items)

    @property
    def files(self) -> int:
        """How many are loaded."""
        return sum(item.loaded.at_start for item in self.items)

    @property
    def below(self) -> int:
        """Bytes that fall below limits."""
        return sum(item.below for item in self.items)

    def marked(self, mark: str) -> int:
        """How many files have this mark, also those that are counted and not listed."""
        return sum(item.loaded.stands_for for item in self.items if item.loaded.mark == mark)

    def reasons(self, mark: str) -> dict[str, int]:
        """Why files have this mark, and how many have it for each reason; the most frequent first."""
        found: dict[str, int] = {}
        for item in self.items:
            if item.loaded.mark == mark:
                found[item.loaded.why] = found.get(item.loaded.why, 0) + item.loaded.stands_for
        return dict(sorted(found.items(), key=lambda one: -one[1]))


def agents(engine: Engine, surroundings: Surroundings) -> tuple[KnownAgent, ...]:
    """Find the agents in use here, in the order in which they are shown; memtui's own part is last."""
    native = any(root.agent == "memtui" for root in engine.roots.all())
    return (*in_use(surroundings, engine.roots.all()), *((MEMTUI,) if native else ()))


def agent_named(name: str) -> KnownAgent:
    """Give the agent that a person means.

    Raises:
        NotFoundError: nothing is known of how it starts.
    """
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


def of_all(
    engine: Engine,
    surroundings: Surroundings,
    *,
    count: Counter | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[Cost]:
    """Work out what a session of every agent in use here would begin with; one that fails takes no other along.

    Args:
        engine: as for `work_out`, like the rest.
        surroundings: where the sessions would start.
        count: how tokens are counted.
        stop: says whether nobody wants the answer any more.

    Yields:
        One cost for each agent; of one that cannot be worked out, a cost of nothing with its problem.
    """
    count = count or counter()
    for agent in agents(engine, surroundings):
        if stop():
            return
        try:
            found = work_out(engine, surroundings, agent, count=count, stop=stop)
        except Exception as error:  # noqa: BLE001 - said in the agent's place, whatever it is
            words = problem_words(agent, error)
            item = CountedFile(LoadedFile("problem", words, SKIPPED, words, made=True), 0, 0)
            found = Cost(agent.id, agent.title, surroundings.project, (item,), count.method, count.words)
            found = found._replace(note=_note(agent), problem=words)
        yield found


def _note(agent: KnownAgent) -> str:
    """What it loads besides, and with which version of the program the rest was compared."""
    loads = agent.loads or Loads(())
    return f"{loads.note} Checked with {agent.title} {loads.checked}." if loads.checked else loads.note


def problem_words(agent: KnownAgent, error: Exception) -> str:
    """Say why an agent cannot be worked out."""
    said = error.message if isinstance(error, MemtuiError) else f"{type(error).__name__}: {error}."
    return f"{agent.title} cannot be worked out: {said}"


def work_out(
    engine: Engine,
    surroundings: Surroundings,
    agent: KnownAgent,
    *,
    count: Counter | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Cost:
    """Work out what a session of an agent would begin with now; nothing is recorded, and no use is counted.

    Args:
        engine: on the roots in reach.
        surroundings: where the session would start.
        agent: which agent.
        count: how tokens are counted; None: the best way there is.
        stop: says whether nobody wants the answer any more; the rest is then left out.

    Raises:
        MemtuiError: memories that the agent makes a text of cannot be listed.
    """
    count = count or counter()
    found = look(engine, surroundings, agent)
    known = {os.path.realpath(root.path) for root in engine.roots.all()}
    items = []
    for loaded in found:
        if stop():
            break
        items.append(_item(engine, loaded, count, known))
    return Cost(agent.id, agent.title, surroundings.project, tuple(items), count.method, count.words, _note(agent))


def look(engine: Engine, surroundings: Surroundings, agent: KnownAgent) -> tuple[LoadedFile, ...]:
    """Find what an agent would load, without counting it: enough to see whether anything changed."""
    found = gather(agent, surroundings, engine.roots.all(), end_of_index)
    return with_made(engine, agent.id, tuple(_reached(engine, found)))


def _reached(engine: Engine, found: tuple[LoadedFile, ...]) -> Iterator[LoadedFile]:
    """Tell memories that an index makes the agent look for from those that no loaded line names."""
    texts = [(os.path.dirname(one.path), one.text) for one in found if one.at_start and one.label == _INDEX]
    folders, named = tuple(folder + os.sep for folder, _ in texts), set[str]()
    for folder, text in texts:  # files with the rest of an index come to the end as they are found
        paths = {os.path.join(folder, path) for one in parse(text, "") for path in one.readings if path}
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
    """Write a path for people: within the project from there, and below the home folder with `~`."""
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
    """The memory that a file is; None when it is not one of the memories in reach."""
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
    """Add what an agent makes itself, behind the files it loads and before those it reads on demand."""
    if agent == "memtui":
        given = build(engine)
        blocks = (given.index_block, given.memories - given.listed, given.memories, given.hot_block)
        return (*as_loaded(*blocks, len(given.left_out)), *_behind_links(engine))
    made = made_by(engine, agent, engine.roots.all()).texts
    if not made:
        return found
    return (*(one for one in found if one.at_start), *made, *(one for one in found if not one.at_start))


def _behind_links(engine: Engine) -> tuple[LoadedFile, ...]:
    """A row for every link that a repository brought in the place of memtui's folder: nothing is read behind it."""
    found: dict[str, LoadedFile] = {}
    for root in engine.roots.all():
        if root.agent != "memtui" or not root.in_checkout or root.project is None:
            continue
        link = link_out(root.project, root.path, (os.path.realpath(root.project),))
        if link is not None:
            why = "It is a link to a folder, not followed: it leads out. Its memories are given to nobody."
            found[link] = LoadedFile("memories", link, APPROVAL, why)
    return tuple(found.values())
