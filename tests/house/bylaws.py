"""The by-laws of the house: how much a class, a folder and a name may hold, and that imports go in no circle.

Each law takes the source of a package and names what breaks it, each with a number, so that it can be fed a bad sample
and what breaks it today can be listed (`exceptions.py`) and only become less.
"""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from tests.house import exceptions
from tests.house.classes import Shapes
from tests.house.graph import importers, imports, in_circles
from tests.house.source import Source

SURFACE, COLLABORATORS, DEPTH, SCREEN_DEPTH, FOLDER, ONE_IN = 20, 5, 2, 3, 12, 10

AS_MANY_AS_THERE_ARE = ("memtui/agents/known", "memtui/engine/ledger")
"""Folders with one file for each agent, and for each table."""

GERUND = re.compile(r"[a-z]+ing")
NOUNS = frozenset({"matching", "spelling", "string"})
"""What ends like a gerund and is none, or is the usual noun for what the module holds."""

APART = re.compile(r"\bapart\b[^.]*\b(because|so that)\b")
"""How a docstring says why a module with one importer is a module."""


class Law(NamedTuple):
    """One law, and what breaks it today."""

    says: str
    breaches: Callable[[Sequence[Source]], Mapping[str, int]]
    listed: Mapping[str, int]


@cache
def _textual() -> frozenset[str]:
    """The public names of what our screens and widgets are made of."""
    from textual.app import App
    from textual.screen import ModalScreen
    from textual.scroll_view import ScrollView
    from textual.widgets import Input, TextArea

    return frozenset(name for kind in (App, ModalScreen, ScrollView, Input, TextArea) for name in dir(kind))


@cache
def _shapes(files: tuple[Source, ...]) -> Shapes:
    return Shapes(files, _textual())


@cache
def _arrows(files: tuple[Source, ...]) -> dict[str, frozenset[str]]:
    return imports(files)


def surface(files: Sequence[Source]) -> dict[str, int]:
    """Find classes with too many public methods and properties, own and inherited from ours."""
    shapes = _shapes(tuple(files))
    return {name: count for name in shapes.all if (count := len(shapes.surface(name))) > SURFACE}


def collaborators(files: Sequence[Source]) -> dict[str, int]:
    """Find classes that are made with too many objects and callables of ours."""
    shapes = _shapes(tuple(files))
    return {name: count for name in shapes.all if (count := len(shapes.collaborators(name))) > COLLABORATORS}


def depth(files: Sequence[Source]) -> dict[str, int]:
    """Find classes that stand on too many of ours, one on another."""
    shapes = _shapes(tuple(files))
    found = {}
    for name in shapes.all:
        screen = any(base.endswith("Screen") for base in shapes.foreign(name))
        if (count := shapes.depth(name)) > (SCREEN_DEPTH if screen else DEPTH):
            found[name] = count
    return found


def folders(files: Sequence[Source]) -> dict[str, int]:
    """Find folders with too many modules."""
    count = Counter(source.name.rpartition("/")[0] for source in files if not source.name.endswith("/__init__.py"))
    return {name: held for name, held in count.items() if held > FOLDER and name not in AS_MANY_AS_THERE_ARE}


def one_importer(files: Sequence[Source]) -> dict[str, int]:
    """Count the modules that one other imports and that do not say why they are apart, if they are too many."""
    by_target = importers(_arrows(tuple(files)))
    count = sum(
        len(by_target[source.module]) == 1 and not APART.search(ast.get_docstring(source.tree) or "")
        for source in files
        if not source.name.endswith("/__init__.py")
    )
    return {"modules": count} if count * ONE_IN > len(files) else {}


def gerunds(files: Sequence[Source]) -> dict[str, int]:
    """Find modules named by what one does instead of by what they hold."""
    names = [(source.module, source.module.rpartition(".")[2]) for source in files]
    return {module: 1 for module, last in names if GERUND.fullmatch(last) and last not in NOUNS}


def names(files: Sequence[Source]) -> dict[str, int]:
    """Count public classes that share a name; classes inside classes are told apart by those."""
    places = defaultdict(set)
    for source in files:
        for node in source.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].add(source.name)
    return {name: len(where) for name, where in places.items() if len(where) > 1}


def circles(files: Sequence[Source]) -> dict[str, int]:
    """Find modules that import themselves by way of others."""
    return dict.fromkeys(in_circles(_arrows(tuple(files))), 1)


def unlisted_and_outlived(found: Mapping[str, int], listed: Mapping[str, int]) -> list[str]:
    """Compare what breaks a law with what is listed: more is a breach, and less has to leave the list."""
    said = []
    for name in sorted({*found, *listed}):
        count, may = found.get(name, 0), listed.get(name, 0)
        if count > may:
            said.append(f"{name}: {count}" + (f", {may} at most is listed" if may else ""))
        elif count < may:
            said.append(f"{name}: {may} is listed, but it is {count or 'lawful'} now; put that into exceptions.py")
    return said


LAWS = {
    "surface": Law(f"a class has at most {SURFACE} public methods", surface, exceptions.SURFACE),
    "collaborators": Law(
        f"a class is made with at most {COLLABORATORS} collaborators", collaborators, exceptions.COLLABORATORS
    ),
    "depth": Law(f"own inheritance is at most {DEPTH} deep, {SCREEN_DEPTH} for screens", depth, exceptions.DEPTH),
    "folders": Law(f"a folder has at most {FOLDER} modules", folders, exceptions.FOLDERS),
    "one importer": Law(
        f"at most one module in {ONE_IN} has one importer without saying why it is apart",
        one_importer,
        exceptions.ONE_IMPORTER,
    ),
    "gerunds": Law("no module is named by a bare gerund", gerunds, dict.fromkeys(exceptions.GERUNDS, 1)),
    "names": Law("no two public classes share a name", names, exceptions.NAMES),
    "circles": Law(
        "no module imports itself by way of others, for types or not", circles, dict.fromkeys(exceptions.CIRCLES, 1)
    ),
}
