"""Memories that are not where their project is, in the words of the health view.

What is out of place is found by `features/moved_projects/`; here it is only said, and what holds no memory is left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from memtui.agents.layout import names_in, short_path, slug
from memtui.agents.projects import ORPHANED
from memtui.features.moved_projects.orphans import (
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
from memtui.workbench.views.health_rows import ORPHAN, Stray

if TYPE_CHECKING:
    from memtui.engine.model import Root
    from memtui.features.moved_projects.orphans import Survey


def strays(roots: tuple[Root, ...], home: str | None) -> tuple[Stray, ...]:
    """Look at the folders of all projects; no memory is read for it.

    Args:
        roots: what discovery found with all projects.
        home: the user's home folder.
    """
    return tuple(_said(survey(roots, home), home))


def stayed(roots: tuple[Root, ...], project: str, home: str | None) -> tuple[str, ...]:
    """Say where a project was before, when memories of it stayed there: those that are likeliest of where it is now.

    Args:
        roots: what discovery found with all projects.
        project: where the user stands.
        home: the user's home folder.
    """
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
        f"{place}: the project is not there any more, and its memories are left.",
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
