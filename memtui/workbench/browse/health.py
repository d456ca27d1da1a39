"""The health of every index and text, checked in the background, and shown in tree, tabs and view alike."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from memtui.agents.layout import ORPHANED, names_in, short_path, slug
from memtui.engine.model import Address, Listing, Memory
from memtui.errors import MemtuiError
from memtui.features.health.model import ORPHAN, QUIET, IndexReport, Stray
from memtui.features.health.survey import IndexChecker, is_looked_at
from memtui.features.moved_projects.moves import (
    SPLIT,
    SURE,
    Collision,
    Orphan,
    Worktrees,
    leads_to,
    slug_of,
    survey,
    where,
)
from memtui.workbench.view_stack import Views

if TYPE_CHECKING:
    from memtui.engine.model import Root
    from memtui.features.hygiene.memory_scan import MemoryScanner, NamedFinding
    from memtui.features.moved_projects.moves import Survey
    from memtui.workbench.bridge import Engine
    from memtui.workbench.main_screen import MainScreen


LANE, AROUND, STAYED, TEXTS = "health", "health-projects", "health-stayed", "health-texts"
AILING, UNLOADED = "I", "C"
"""Signs of rows: an index with findings; a memory whose line is below the cut."""


class HealthChecks:
    """The state of all health checks."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self._looker = IndexChecker()
        self._wanted: dict[str, Root] = {}
        self._listed: list[tuple[tuple[Root, ...], Listing, bool]] = []
        """Roots already listed, and whether these are all."""
        self._running = False
        self._reports: dict[str, tuple[IndexReport, ...]] = {}
        self.done = False
        self.looked = 0
        self.strays: tuple[Stray, ...] = ()
        self.stayed: tuple[str, ...] = ()
        """Earlier folders of this project in which memories were left behind."""
        self._findings = 0
        self._texts: MemoryScanner | None = None
        """Loaded with the first text: no first frame waits for its rules."""
        self._reading = False
        self._told: dict[str, tuple[NamedFinding, ...]] = {}
        self._to_read: dict[str, set[Address] | None] = {}
        """Roots whose texts wait to be checked, and which of them changed; None: all."""
        self._texts_of: dict[str, dict[Address, Memory]] = {}
        self._in_texts: dict[str, tuple[IndexReport, ...]] = {}
        self._around: tuple[tuple[str, str], ...] = ()

    @property
    def reports(self) -> Mapping[str, tuple[IndexReport, ...]]:
        """Findings: in texts by group, then in indexes by root id, in the order of roots."""
        return {**self._in_texts, **self._reports}

    def rows_loaded(self, listing: Listing) -> None:
        roots = tuple(status.root for status in listing.roots if self._counts(status.root))
        self._listed = [(roots, listing, True)]  # what changed since it was made stays wanted
        if self._texts is not None:
            self._texts.renew()
        self._told = {id_: found for id_, found in self._told.items() if id_ in self._screen.forest.roots}
        self._go_on()
        self._read_texts({status.root.id: None for status in listing.roots})

    def part_loaded(self, listing: Listing) -> None:
        """Check roots that were listed apart from the others."""
        roots = tuple(status.root for status in listing.roots if self._counts(status.root))
        if roots:
            self._listed.append((roots, listing, False))
            self._go_on()
        self._read_texts({status.root.id: None for status in listing.roots})

    def rows_changed(self, addresses: Iterable[Address]) -> None:
        """Check the roots of these memories again."""
        changed: dict[str, set[Address]] = {}
        for address in addresses:
            changed.setdefault(address.root, set()).add(address)
        roots = [root for root in map(self._screen.forest.root, changed) if root is not None]
        wanted = {root.id: root for root in roots if self._counts(root)}
        if wanted:
            self._wanted |= wanted
            self._go_on()
        self._read_texts({root.id: changed[root.id] for root in roots})

    def _read_texts(self, roots: Mapping[str, set[Address] | None] = MappingProxyType({})) -> None:
        """Check the texts of roots, one root after the other, behind what the first screen waits for."""
        hides = self._screen.forest.others.hides
        for id_, some in roots.items():
            if not hides(id_):
                waiting = self._to_read.get(id_, set())
                self._to_read[id_] = None if some is None or waiting is None else waiting | some
        if not self._to_read or not self.done or self._reading:
            return
        self._reading = True
        from memtui.features.hygiene.memory_scan import MemoryScanner, name_findings

        texts = self._texts = self._texts or MemoryScanner()
        bridge = self._screen.bridge
        id_ = next(iter(self._to_read))
        changed, known = self._to_read.pop(id_), self._texts_of.get(id_)

        def job(engine: Engine) -> tuple[dict[Address, Memory], tuple[NamedFinding, ...]]:
            if changed is None or known is None:
                fresh = {row.address: row for row in engine.rows.list([id_]).items}
            else:
                some = engine.rows.some(changed)
                fresh = {address: row for address, row in known.items() if address not in changed} | some
            rows = sorted((row for row in fresh.values() if not row.missing), key=lambda row: row.address.path)
            found = texts.look(engine, rows, engine.tasks.clock(), cancelled=lambda: bridge.closed)
            kept = tuple(one for one in name_findings(engine, found) if one.hazard.severity != "I" and not one.muted)
            return {row.address: row for row in rows}, kept

        def done(looked: tuple[dict[Address, Memory], tuple[NamedFinding, ...]]) -> None:
            self._texts_of[id_], found = looked
            if found != self._told.get(id_, ()):
                from memtui.features.health.view_rows import text_reports

                self._told[id_] = found
                self._in_texts = text_reports(one for some in self._told.values() for one in some)
                self._tell()
            go_on()

        def go_on(_: MemtuiError | None = None) -> None:
            self._reading = False  # that a root cannot be listed its own row says
            self._read_texts()

        bridge.run(job, done, what="look through memories", otherwise=go_on, lane=TEXTS)

    def _counts(self, root: Root) -> bool:
        """Whether a root has an index, and is not a hidden root of another project."""
        return is_looked_at(root) and not self._screen.forest.others.hides(root.id)

    def look_around(self) -> None:
        """Look for projects that moved or share memories, unless the folders are unchanged."""
        screen = self._screen
        roots, home = screen.every_root or (), screen.facts.settings.home
        around = tuple((root.id, root.note) for root in roots)
        if screen.every_root is None or around == self._around:
            return
        self._around = around

        def done(found: tuple[Stray, ...]) -> None:
            if found != self.strays:
                self.strays = found
                self._tell_view()

        screen.bridge.run(
            lambda _: find_strays(roots, home), done, what="look for projects that moved", lane=LANE, latest=AROUND
        )

    def look_for_stayed(self, *, tell: bool) -> None:
        """Look for memories of this project left in its earlier folder; `tell` also shows a message."""
        screen = self._screen
        roots, here, home = screen.every_root or (), screen.facts.surroundings, screen.facts.settings.home
        if here is None or not any(root.note == ORPHANED for root in roots):
            self._take_stayed((), tell=False)
            return
        project = here.checkout or here.project
        screen.bridge.run(
            lambda _: earlier_folders(roots, project, home),
            lambda found: self._take_stayed(found, tell=tell),
            what="look for memories of this project",
            lane=LANE,
            latest=STAYED,
        )

    def _take_stayed(self, found: tuple[str, ...], *, tell: bool) -> None:
        if found == self.stayed:
            return
        self.stayed = found
        self._tell_count()
        if found and tell:
            self._screen.say(f"Memories of this project stayed in {', '.join(found)}: 7 shows them, g p brings them.")

    def _tell_count(self) -> None:
        self._screen.chrome.waiting["health"] = self._findings + len(self.stayed)
        self._screen.chrome.update("tabs")

    def _go_on(self) -> None:
        if self._running or not (self._listed or self._wanted):
            return
        self._running = True
        roots: tuple[Root, ...]
        listing: Listing | None
        if self._listed:
            roots, listing, whole = self._listed.pop(0)
        else:
            roots, listing, whole = tuple(self._wanted.values()), None, False
            self._wanted = {}
        looker, bridge = self._looker, self._screen.bridge

        def job(engine: Engine) -> tuple[IndexReport, ...]:
            return looker.look(engine, roots, listing, outdated=lambda: bridge.closed)

        def done(found: tuple[IndexReport, ...]) -> None:
            self._found(roots, found, whole=whole)
            self._running = False
            self._go_on()

        def failed(error: MemtuiError) -> None:
            self._screen.show_error("look at the indexes", error)
            self._screen.memories.started = True
            self._running = False
            self._go_on()

        bridge.run(job, done, what="look at the indexes", otherwise=failed, lane=LANE)

    def _found(self, roots: tuple[Root, ...], found: tuple[IndexReport, ...], *, whole: bool) -> None:
        new: dict[str, list[IndexReport]] = {root.id: [] for root in roots if self._counts(root)}
        for report in found:
            if report.address.root in new:
                new[report.address.root].append(report)
        before, first = self._reports, whole and not self.done
        places = {id_: place for place, id_ in enumerate(self._screen.forest.roots)}
        hides = self._screen.forest.others.hides
        kept = {} if whole else {id_: reports for id_, reports in before.items() if not hides(id_)}
        merged = kept | {id_: tuple(reports) for id_, reports in new.items()}
        self._reports = dict(sorted(merged.items(), key=lambda item: places.get(item[0], len(places))))
        self.done = self.done or whole
        if self._reports == before and not first:
            return
        every = [report for reports in self._reports.values() for report in reports]
        self.looked = len(every)
        self._tell()
        if first:
            self._read_texts()

    def _tell(self) -> None:
        screen, every = self._screen, [report for reports in self._reports.values() for report in reports]
        signs = {address: UNLOADED for report in every for address in report.below}
        signs |= {report.address: AILING for report in every if _counted(report)}
        if self._in_texts:
            from memtui.features.health.view_rows import text_signs

            signs |= text_signs(self._in_texts)
        if signs != screen.forest.index_signs:
            screen.forest.index_signs = signs
            screen.memories.repaint()
        screen.memories.start(last=self.done and screen.lists > 1)
        self._findings = sum(_counted(report) for reports in self.reports.values() for report in reports)
        self._tell_count()
        self._tell_view()

    def _tell_view(self) -> None:
        views = self._screen.made(Views)
        made = views.made("health") if views is not None else None
        if made is not None:
            made.tell_news()


def _counted(report: IndexReport) -> int:
    return sum(finding.kind not in QUIET for finding in report.findings)


def find_strays(roots: tuple[Root, ...], home: str | None) -> tuple[Stray, ...]:
    """Find memories away from their project among all `roots`; reads no memory."""
    return tuple(_said(survey(roots, home), home))


def earlier_folders(roots: tuple[Root, ...], project: str, home: str | None) -> tuple[str, ...]:
    """Return the likely earlier folders of a project in which memories were left behind."""
    name = os.path.basename(project)
    gone = [one for one in roots if one.note == ORPHANED and (slug_of(one) or "").endswith(slug(f"/{name}"))]
    found = []
    for root in gone:  # few: the names of their folders end like this project's path
        orphan = where(root, roots, home)
        if leads_to(orphan, project):
            found.append(short_path(orphan.decoded.projects[0], home))
    return tuple(dict.fromkeys(found))


def _said(found: Survey, home: str | None) -> Iterator[Stray]:
    for orphan in found.orphans:
        if names_in(orphan.root.path):
            yield _orphan(orphan, home)
    for both in found.collisions:
        yield _collision(both, home)
    for family in found.worktrees:
        if family.kind == SPLIT:
            yield _family(family, home)


def _orphan(one: Orphan, home: str | None) -> Stray:
    place = short_path(one.decoded.projects[0], home) if one.decoded.projects else one.root.id.rpartition(":")[2]
    now = [f"Perhaps now {short_path(moved.path, home)}: {moved.why}." for moved in one.moved]
    lines = (
        f"{place}: the project is not there any more, and its memories are still here.",
        f"{one.root.label or one.root.id}: {short_path(one.root.path, home)}.",
        f"How sure: {SURE[one.decoded.sure]}.",
        *(now or ["Nothing on this machine has its name."]),
        "g p moves its memories to where the project is now; enter goes to it in the tree.",
    )
    text = f"gone; perhaps {short_path(one.moved[0].path, home)}" if len(one.moved) == 1 else f"gone; {one.sure}"
    return Stray(ORPHAN, one.root.id, place, text, lines)


def _collision(one: Collision, home: str | None) -> Stray:
    places = [short_path(path, home) for path in one.projects]
    named = ", ".join(places)
    lines = (
        f"{len(places)} projects have one folder of memories, because their paths make the same name: {named}.",
        f"{one.root.label or one.root.id}: {short_path(one.root.path, home)}.",
        "Each of them is given what was learned in the others.",
    )
    return Stray("shared", one.root.id, places[0], f"one folder for {len(places)} projects", lines)


def _family(one: Worktrees, home: str | None) -> Stray:
    places = [short_path(path, home) for path in one.checkouts]
    lines = (
        f"{short_path(one.main, home)} and its worktrees each have memories of their own: {', '.join(places)}.",
        "What an agent learns in one of them, it does not know in the others.",
    )
    return Stray("split", one.roots[0].id, short_path(one.main, home), f"{len(places)} worktrees keep their own", lines)
