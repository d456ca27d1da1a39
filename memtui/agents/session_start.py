"""Work out what a session of an agent would begin with now: the sources of its file, applied to what exists.

Each file is met once, in the order of loading. Nothing outside the agent's own folders and the project is read, and
nothing that a session would not begin with. A repository may have written the settings that leave files out, so all
comparisons share one budget of steps; what was not compared any more is reported.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from memtui.agents import agent, reader
from memtui.agents.layout import own_place, start_folder, strays
from memtui.agents.loaded_text import (
    CUT,
    DROPPED,
    Gap,
    comments,
    cut,
    fields,
    find_imports,
    front_matter,
    is_text,
    loaded,
)
from memtui.agents.reader import GONE, OUTSIDE, SPECIAL, BoundedReader, Head, Tally, is_within
from memtui.agents.settings import Exclusions
from memtui.agents.table import agents
from memtui.config.surroundings import Surroundings, find_checkout
from memtui.engine.model import Policy, Root

if TYPE_CHECKING:
    from collections.abc import Callable

    EndOfIndex = Callable[[bytes, Policy], tuple[int | None, int]]

LISTED = 200
"""Files of one source that are listed when they are not loaded at the start; the others are counted."""
FILES = 2_000
_WHY = {
    OUTSIDE: "It leads out of the agent's folders and the project. The agent may load it; it is not read here.",
    SPECIAL: "It is no regular file.",
    GONE: "It is not there.",
    reader.REFUSED: "The system refuses to read it.",
}
_UNREAD = "It leads out of the agent's folders and the project. The agent loads it; it is not read here, only counted."
_ASKS = "asks before it loads it. It is not read here."
_UNJUDGED = "It leads out of the agent's folders and is not read here, so it is counted as if nothing in it said when."


class LoadedFile(NamedTuple):
    """One file, or one text the agent makes, and how it is loaded."""

    label: str
    path: str
    mark: str = agent.WHOLE
    why: str = ""
    size: int = 0
    """Bytes of the file; of one that is not read, as the system reports."""
    raw: bytes = b""
    """What was read of it; empty where nothing is loaded."""
    gaps: tuple[Gap, ...] = ()
    unread: int = 0
    """Bytes that are loaded and were not read here, because there are too many."""
    depth: int = 0
    """How many imports away it is from a file the agent looks for itself."""
    made: bool = False
    """Whether the agent makes it; there is no such file."""
    stands_for: int = 1
    """How many files the row stands for; more than one for those that are only counted."""

    @property
    def at_start(self) -> bool:
        """Whether a session begins with it."""
        return self.mark in agent.AT_START

    @property
    def text(self) -> bytes:
        """The loaded part of what was read."""
        return loaded(self.raw, self.gaps) if self.at_start else b""

    @property
    def cut(self) -> Gap | None:
        """The gap below a limit."""
        return next((gap for gap in self.gaps if gap.kind == CUT), None)


def in_use(surroundings: Surroundings, roots: Iterable[Root]) -> Iterator[agent.KnownAgent]:
    """Yield the agents that left a trace here or have a root in reach, of those whose start is known."""
    known = {root.agent for root in roots}
    for program in agents():
        has_roots = not known.isdisjoint((program.id, *program.also))
        if program.loads is not None and (has_roots or program.in_use(surroundings)):
            yield program


class _Place(NamedTuple):
    """One folder a source looks into."""

    folder: str
    bounds: tuple[str, ...]
    """Folders without links that its files may lie in."""
    policy: Policy | None = None
    """The root's layout, when it limits its index."""
    brought: str | None = None
    """The folder below which links may be another's: none that leads out of the bounds is followed. None: all of them
    are the user's own."""
    asked: tuple[str, ...] | None = None
    """Folders that imports may lead into without the agent asking; None: it does not ask."""


def gather(
    program: agent.KnownAgent, surroundings: Surroundings, roots: Iterable[Root], end_of_index: EndOfIndex
) -> tuple[LoadedFile, ...]:
    """Work out what an agent would load: every file in the order of loading, also those that are not loaded.

    `end_of_index` returns, by a root's layout, where loading an index ends (None: nowhere), and where its text does.
    """
    return tuple(_Gathering(program, surroundings, tuple(roots), end_of_index).all())


class _Gathering:
    def __init__(
        self, program: agent.KnownAgent, surroundings: Surroundings, roots: tuple[Root, ...], end_of_index: EndOfIndex
    ) -> None:
        self._end_of_index = end_of_index
        self._loads = loads = program.loads or agent.Loads(())
        self._around = surroundings
        self._roots = roots
        self._homes = program.home.folders(surroundings)
        self._options = loads.options(surroundings, self._homes) if loads.options is not None else agent.LoadOptions()
        self._exclusions = Exclusions(self._options.excluded)
        self._left = dict(loads.budgets) | dict(self._options.budgets)
        self._whole = dict(self._left)
        self._reader = BoundedReader()
        self._met: set[str] = set()
        self._count = 0
        self._folders = 0

    def all(self) -> Iterator[LoadedFile]:
        options = self._options
        names, places, off = dict(options.names), dict(options.places), dict(options.off)
        for source in options.sources or self._loads.sources:
            label = source.label
            yield from (_besides(one) for one in options.besides if one.before == label)
            chosen = source._replace(names=names.get(label, source.names), place=places.get(label, source.place))
            if label in off:
                chosen = chosen._replace(mark=agent.SKIPPED, why=off[label], judge=None)
            yield from self._source(chosen)
        for path, why in (*options.problems, *self._exclusions.problems()):
            yield _row("settings", path, agent.SKIPPED, why)

    # Places

    def _places(self, source: agent.LoadSource) -> Iterator[_Place]:
        around = self._around
        start = start_folder(around)
        top = around.checkout or around.project
        project = (os.path.realpath(top), os.path.realpath(around.project))
        own = tuple(map(os.path.realpath, self._homes))
        is_home = is_within(around.home or os.sep, (top,))  # the checkout holds the user's home folder
        inside = (*project, *own) if is_home else project
        if source.place == agent.HOME:
            for home in self._homes:
                if is_within(home, (top,)) and not is_home:
                    yield _Place(home, project, brought=top)
                else:
                    yield _Place(home, (*own, *project))
        elif source.place == agent.SYSTEM:
            folders = [os.path.join(around.system_dir, name) for name in source.system]
            there = [folder for folder in folders if os.path.isdir(folder)][:1]
            yield from (_Place(folder, (os.path.realpath(folder),)) for folder in there)
        elif source.place in (agent.PROJECT, agent.FOLDER):
            yield _Place(around.project if source.place == agent.PROJECT else start, inside, brought=top)
        elif source.place in (agent.CHAIN, agent.ABOVE, agent.ANCESTORS):
            outermost = {
                agent.CHAIN: around.checkout or start,
                agent.ABOVE: os.path.dirname(around.checkout or around.home or start),
                agent.ANCESTORS: os.sep,
            }[source.place]
            way = _chain(outermost, start) if is_within(start, (outermost,)) else (start,)
            for folder in reversed(way) if source.upwards else way:
                if is_within(folder, (top,)):
                    yield _Place(folder, inside, brought=top)
                else:
                    brought = None if folder == around.home else folder
                    yield _Place(folder, (os.path.realpath(folder),), brought=brought)
        elif source.place == agent.NAMED:
            for named in self._options.folders:
                outer = find_checkout(named) or named
                yield from (
                    _Place(folder, (os.path.realpath(outer),), brought=outer) for folder in _chain(outer, named)
                )
        else:
            yield from self._of_roots(source.place, project)

    def _of_roots(self, wanted: str, project: tuple[str, ...]) -> Iterator[_Place]:
        for root in self._roots:
            if wanted == root.id or wanted in root.aliases or self._is_of(root, wanted):
                policy = root.policy
                limits = agent.Limits(policy.index_lines, policy.index_bytes, policy.index_units)
                brought = root.project if root.in_checkout else None
                own = os.path.realpath(root.path if brought is None else brought)
                yield _Place(root.path, (own, *project), policy if limits.any else None, brought)

    def _is_of(self, root: Root, wanted: str) -> bool:
        here = root.project in (None, self._around.project, self._around.checkout)
        return wanted.endswith("*") and here and root.kind == "memories" and root.id.startswith(wanted[:-1])

    # Files

    def _source(self, source: agent.LoadSource) -> Iterator[LoadedFile]:
        unlisted = 0
        listed = 0
        tally = Tally(self._folders)
        for place in self._places(source):
            for path in self._paths(source, place, tally):
                if self._count >= FILES or (listed >= LISTED and source.mark not in agent.AT_START):
                    unlisted += 1
                    continue
                for found in self._file(source, place, path):
                    self._count += 1
                    listed += 1
                    yield found
        self._folders = tally.folders
        if unlisted or tally.more or not tally.all:
            yield _rest(source, unlisted + tally.more, is_all=tally.all)

    def _paths(self, source: agent.LoadSource, place: _Place, tally: Tally) -> Iterator[str]:
        bounds = place.bounds if place.brought is not None else None
        if place.brought is not None:
            link = reader.link_out(place.brought, place.folder, place.bounds, self._strays)
            if link is not None:
                yield from filter(os.path.isdir, (link,))
                return
        for name in source.names:
            if tally.is_spent and "*" in name:
                tally.all = False
                continue
            found = False
            entered = {os.path.realpath(os.path.join(place.folder, name.partition("*")[0]))}
            for path in reader.matches(place.folder, name, bounds, tally=tally, strays=self._strays):
                if os.path.isdir(path):
                    yield from (
                        self._behind(place, name, path, tally, entered) if source.links == agent.FOLLOWED else (path,)
                    )
                    continue
                if source.first and not source.blank and self._is_blank(path, place):
                    continue
                found = True
                yield path
            if found and source.first:
                return

    def _behind(self, place: _Place, name: str, link: str, tally: Tally, entered: set[str]) -> Iterator[str]:
        """Yield the files behind a link to a folder that the agent enters, each folder once; else the link."""
        ahead = [link]
        while ahead:
            path = ahead.pop()
            real = os.path.realpath(path)
            is_own = place.brought is None and own_place(self._around, path) is not None
            if not is_own and (not is_within(real, place.bounds) or self._strays(path)):
                yield path
            elif real not in entered:
                entered.add(real)
                for found in reader.matches(path, f"**/{os.path.basename(name)}", tally=tally):
                    if os.path.isdir(found):
                        ahead.append(found)
                    else:
                        yield found

    def _strays(self, path: str, by: str = "") -> bool:
        return strays(self._around, path, by)

    def _is_blank(self, path: str, place: _Place) -> bool:
        head = OUTSIDE if self._strays(path) else self._reader.head(path, place.bounds, limit=4_096)
        return isinstance(head, Head) and head.size <= len(head.data) and not head.data.strip()

    def _file(self, source: agent.LoadSource, place: _Place, path: str) -> Iterator[LoadedFile]:
        """Yield one file that was found by its name, and what it imports; one that fails is a row as well."""
        try:
            yield from self._found(source, place, path)
        except Exception as error:  # noqa: BLE001 - said in its row, whatever it is; the other files are not its fault
            why = f"memtui cannot work out whether it is loaded: {type(error).__name__}: {error}."
            yield _row(source.label, path, agent.SKIPPED, why)

    def _found(self, source: agent.LoadSource, place: _Place, path: str) -> Iterator[LoadedFile]:
        if source.imports is not None and source.imports.approval and source.place != agent.HOME:
            place = place._replace(asked=(os.path.realpath(start_folder(self._around)),))
        real = os.path.realpath(path)
        is_folder = os.path.isdir(real)
        met = path if is_folder else real
        if met in self._met:
            return
        self._met.add(met)
        name = os.path.relpath(path, os.path.join(place.folder, source.named_below)).removesuffix(".md")
        why_not = self._exclusions.why_not(path, name) if source.excludable else ""
        if why_not:
            yield _row(source.label, path, agent.SKIPPED, why_not)
            return
        if is_folder:
            inside = is_within(real, place.bounds) and not self._strays(path)
            why = f"It is a link to a folder, not followed{'' if inside else ': it leads out'}."
            mark = agent.SKIPPED if inside or place.brought is None else agent.APPROVAL
            yield LoadedFile(source.label, path, mark, f"{why} The agent may load what is in it.")
            return
        if source.links == agent.PASSED_OVER and os.path.islink(path):
            yield LoadedFile(source.label, path, agent.SKIPPED, "It is a link: the agent passes it over.")
            return
        if source.mark == agent.NAMES_ONLY:
            given = name.encode("utf-8", "replace") + b"\n"
            yield LoadedFile(source.label, path, agent.NAMES_ONLY, source.why, reader.size_of(path), given)
            return
        if source.mark not in agent.AT_START:
            yield _row(source.label, path, source.mark, source.why)
            return
        found = self._read(source, place, path)
        if found is None:
            return
        yield found if found.at_start else found._replace(raw=b"", gaps=())
        if source.imports is not None and found.raw:  # what a rule imports is loaded before the rule is
            yield from self._imported(source, source.imports, place, found, (real,))

    def _read(
        self, source: agent.LoadSource, place: _Place, path: str, depth: int = 0, by: str = ""
    ) -> LoadedFile | None:
        """Read a file, which may be imported, and apply its limits; None for a blank one that does not count."""
        left = self._left.get(source.budget)
        if left is not None and left <= 0:
            why = f"The {self._shared(source)} for all of these files are used up."
            whole = reader.size_of(path)
            return LoadedFile(source.label, path, agent.CUT_OFF, why, whole, gaps=(Gap(0, whole, CUT),), depth=depth)
        bounds = place.bounds
        if source.rules_in not in path:
            source = source._replace(judge=None)
        follows = source.place in agent.PLACES
        is_out = self._strays(path, by)
        outer = place.brought is None and (is_out or not is_within(os.path.realpath(path), bounds))
        behind = own_place(self._around, path, by) if outer and follows else None
        head = OUTSIDE if is_out else self._reader.head(path, bounds if behind is None else (behind,))
        is_free = follows and (source.judge is None or outer)
        size = reader.target_size(path) if head == OUTSIDE and is_free else None
        if head == OUTSIDE and outer and size is None:  # nobody is asked about what no agent can load
            head = SPECIAL if os.path.exists(path) else GONE
        if size is not None:
            why = _UNREAD if source.judge is None else _UNJUDGED
            return LoadedFile(source.label, path, agent.WHOLE, why, size, unread=size, depth=depth)
        if isinstance(head, str):
            return _row(
                source.label,
                path,
                {GONE: agent.MISSING, OUTSIDE: agent.APPROVAL}.get(head, agent.SKIPPED),
                _WHY[head],
                depth,
            )
        if source.largest is not None and head.size > source.largest:
            why = f"The agent leaves out files over {source.largest:,} bytes."
            return LoadedFile(source.label, path, agent.SKIPPED, why, head.size, depth=depth)
        if not source.blank and not head.data.strip():
            return None
        verdict = source.judge(fields(head.data)) if source.judge is not None else agent.RuleVerdict(why=source.why)
        if verdict.mark not in agent.AT_START:
            dropped = _dropped(source, head.data)
            return LoadedFile(source.label, path, verdict.mark, verdict.why, head.size, head.data, dropped, depth=depth)
        found = self._limited(source, head, left, place.policy)
        found = found._replace(path=path, depth=depth, why=found.why or verdict.why)
        if left is not None:
            used = found.text.count(b"\n") + 2 if source.by_lines else len(found.text) + found.unread
            if source.by_units:
                used = len(found.text.decode("utf-8", "replace").encode("utf-16-le", "surrogatepass")) // 2
            self._left[source.budget] = left - used
        return found

    def _shared(self, source: agent.LoadSource) -> str:
        what = "lines" if source.by_lines else "characters" if source.by_units else "bytes"
        return f"{self._whole[source.budget]:,} {what}"

    def _limited(self, source: agent.LoadSource, head: Head, left: int | None, policy: Policy | None) -> LoadedFile:
        dropped, limits = _dropped(source, head.data), source.limits
        is_over_budget = False
        if policy is not None and limits.any:
            limits = agent.Limits(policy.index_lines, policy.index_bytes, policy.index_units)
        if left is not None and source.by_lines:
            left -= 1
            gaps = cut(head.data, dropped, agent.Limits(lines=left), size=head.size)
            is_over_budget = gaps != dropped
        elif left is not None and source.by_units:
            units = left if limits.units is None else min(left, limits.units)
            gaps = cut(head.data, dropped, limits._replace(units=units), size=head.size)
            is_over_budget = gaps != dropped and units != limits.units
        elif left is not None and head.size > left:
            gaps = (*(gap for gap in dropped if gap.end <= left), Gap(left, head.size, CUT))
            is_over_budget = True
        elif policy is not None and limits.any:
            at, end = self._end_of_index(head.data, policy)
            gaps = _ended(dropped, at, end if head.size == len(head.data) else head.size, head.size)
        else:
            gaps = cut(head.data, dropped, limits, size=head.size)
        is_cut = any(gap.kind == CUT for gap in gaps)
        why = f"The agent loads {limits.words()} of it." if is_cut else ""
        if is_over_budget:
            why = f"Of the {self._shared(source)} for all of these files, {left:,} were left."
        unread = 0 if is_cut else head.size - len(head.data)
        if not why and source.advised is not None and head.size > source.advised:
            characters = len(head.data.decode("utf-8", "replace"))
            if characters > source.advised:
                why = f"It has {characters:,} characters; the agent's own limit is {source.advised:,}."
        return LoadedFile(
            source.label, "", agent.CUT_OFF if is_cut else agent.WHOLE, why, head.size, head.data, gaps, unread
        )

    # agent.ImportRule

    def _imported(
        self, source: agent.LoadSource, rule: agent.ImportRule, place: _Place, found: LoadedFile, above: tuple[str, ...]
    ) -> Iterator[LoadedFile]:
        text = loaded(found.raw, found.gaps).decode("utf-8", "replace")
        is_free = rule.approval and (source.place == agent.HOME or self._options.approved)
        for one in find_imports(text, rule):
            if self._count >= FILES:
                return
            path = self._target(found.path, one.target, rule)
            if not one.certain and not os.path.lexists(path):
                continue
            real = os.path.realpath(path)
            if real in above or (rule.once and real in self._met):
                continue
            self._met.add(real)
            self._count += 1
            depth = len(above)
            if depth > rule.depth:
                why = f"The agent follows {rule.depth} imports in a row, not more."
            elif os.path.isdir(real):
                continue
            elif not is_within(real, place.asked or place.bounds) and not is_free:
                mark, does = (agent.APPROVAL, _ASKS) if rule.approval else (agent.SKIPPED, "refuses to import it.")
                why = f"It lies outside of the project: the agent {does}"
                yield LoadedFile("import", path, mark, why, depth=depth)
                continue
            else:
                ending = os.path.splitext(path)[1].lower()
                is_other = rule.endings is not None and ending and ending not in rule.endings
                if is_other and os.path.lexists(path):
                    why = f"The agent imports no files that end in {ending}."
                else:
                    why = self._exclusions.why_not(path, "") if source.excludable else ""
            if why:
                yield _row("import", path, agent.SKIPPED, why, depth)
                continue
            alone = source._replace(label="import", judge=None, limits=agent.Limits())
            read = self._read(alone, place, path, depth, above[-1])
            if read is None:
                continue
            yield read
            if read.at_start:
                yield from self._imported(source, rule, place, read, (*above, real))

    def _target(self, importer: str, target: str, rule: agent.ImportRule) -> str:
        if rule.home and target.startswith("~/") and self._around.home:
            return os.path.normpath(os.path.join(self._around.home, target[2:]))
        folder = os.path.dirname(os.path.realpath(importer) if rule.behind else importer)
        return os.path.normpath(os.path.join(folder, target))


def _row(label: str, path: str, mark: str, why: str, depth: int = 0) -> LoadedFile:
    return LoadedFile(label, path, mark, why, reader.size_of(path), depth=depth)


def _besides(one: agent.Besides) -> LoadedFile:
    if one.text:
        data = one.text.encode("utf-8", "replace")
        return LoadedFile(one.label, one.path, agent.WHOLE, one.why, len(data), data, made=True)
    size = reader.target_size(one.path)
    if size is None:
        return LoadedFile(one.label, one.path, agent.MISSING, one.why)
    return LoadedFile(one.label, one.path, agent.WHOLE, one.why, size, unread=size)


def _rest(source: agent.LoadSource, more: int, *, is_all: bool) -> LoadedFile:
    words = f"and {more:,} more" if is_all else f"and more than {more:,} more" if more else "and more"
    mark, why = source.mark, f"{words}: they are not listed."
    if source.mark == agent.SKIPPED and source.why:  # what is switched off has one reason, and these are part of it
        why = source.why
    if source.mark in agent.AT_START:
        words, mark = f"{words}, not counted", agent.SKIPPED
        why = f"{words}: the agent may load them; memtui looks at {reader.NAMES:,} files of one kind at most."
    return LoadedFile(source.label, words, mark, why, made=True, stands_for=max(more, 1))


def _ended(dropped: tuple[Gap, ...], at: int | None, end: int, size: int) -> tuple[Gap, ...]:
    """Add the gap from where loading ends to the end of the text, and one for the blank lines after that."""
    kept = dropped if at is None else (*(gap for gap in dropped if gap.end <= at), Gap(at, max(end, at), CUT))
    end = max(end, kept[-1].end if kept else 0)
    return (*kept, Gap(end, size, DROPPED)) if end < size else kept


def _dropped(source: agent.LoadSource, data: bytes) -> tuple[Gap, ...]:
    found = list(comments(data)) if source.comments else []
    head = front_matter(data) if source.front_matter and not is_text(data) else None
    if head is not None:
        found = [Gap(head.start, head.end, DROPPED), *(gap for gap in found if gap.start >= head.end)]
    return tuple(found) if source.hidden is None else tuple(Gap(*span) for span in source.hidden(data))


def _chain(top: str, bottom: str) -> tuple[str, ...]:
    found = [bottom]
    while found[-1] != top and os.path.dirname(found[-1]) != found[-1]:
        found.append(os.path.dirname(found[-1]))
    return tuple(reversed(found))
