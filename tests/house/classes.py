"""The classes of the package as their source has them: own ancestors, public methods, what they are made with.

It exists so that surface, collaborators and depth are told from the source alone, the same way for every class.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from tests.house.source import Source, dotted, imported_names

VALUES = frozenset(
    {"Enum", "IntEnum", "IntFlag", "Flag", "StrEnum", "NamedTuple", "TypedDict", "Exception", "BaseException"}
)
"""Bases that make a class a value."""

CALLED_BY_TEXTUAL = ("on_", "action_", "watch_", "compute_", "validate_", "key_")
"""Methods that only Textual calls, by their names; they are no surface."""


class Shape(NamedTuple):
    """One class."""

    node: ast.ClassDef
    source: Source
    own: tuple[str, ...]
    """Its bases that are classes of ours, by dotted name."""
    foreign: tuple[str, ...]
    """Its other bases."""


class Shapes:
    """Every class of the package, and the aliases that stand for types."""

    def __init__(self, files: Iterable[Source], textual: frozenset[str] = frozenset()) -> None:
        """Read the classes of these files; `textual` are the public names of Textual's own classes."""
        self._files = {source.module: source for source in files}
        self._textual = textual
        self._aliases: dict[str, tuple[ast.expr, Source]] = {}
        found: dict[str, tuple[ast.ClassDef, Source]] = {}
        for source in self._files.values():
            for node in ast.walk(source.tree):
                if isinstance(node, ast.ClassDef):
                    found.setdefault(f"{source.module}.{node.name}", (node, source))
                elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                    self._aliases[f"{source.module}.{node.targets[0].id}"] = node.value, source
        self.all: dict[str, Shape] = {}
        for name, (node, source) in found.items():
            bases = [self._owner(self._base(base, source), source, found) for base in node.bases]
            own = tuple(base for base in bases if base in found and base != name)
            self.all[name] = Shape(node, source, own, tuple(base for base in bases if base not in found))
        self._types = {**self.all, **self._aliases}

    def _base(self, node: ast.expr, source: Source) -> str:
        plain = node.value if isinstance(node, ast.Subscript) else node
        return dotted(plain, imported_names(source.tree))

    def _owner(self, name: str, source: Source, known: Mapping[str, object]) -> str:
        """The dotted name where a name is defined, followed through the modules that hand it on."""
        name = name if "." in name else f"{source.module}.{name}"
        for _ in range(4):
            module, _, last = name.rpartition(".")
            if name in known or module not in self._files:
                break
            name = imported_names(self._files[module].tree).get(last, name)
        return name

    def line(self, name: str) -> list[str]:
        """The class and every class of ours above it."""
        found = [name]
        for above in found:
            found.extend(base for base in self.all[above].own if base not in found)
        return found

    def foreign(self, name: str) -> set[str]:
        """Every base of another library above a class."""
        return {base for above in self.line(name) for base in self.all[above].foreign}

    def depth(self, name: str) -> int:
        """How many classes of ours stand above it, on the longest way."""
        return max((1 + self.depth(base) for base in self.all[name].own), default=0)

    def surface(self, name: str) -> set[str]:
        """Public methods and properties, own and inherited from ours, but for those that answer Textual or that are of
        a base in `memtui.ui`, where they count once for all that stand on it."""
        ui = "memtui.ui."
        found = {node.name for above in self.line(name) for node in _methods(self.all[above].node)}
        if not name.startswith(ui):
            bases = (above for above in self.line(name) if above.startswith(ui))
            found -= {node.name for above in bases for node in _methods(self.all[above].node)}
        if any(base.startswith("textual.") for base in self.foreign(name)):
            found = {one for one in found if one not in self._textual and not one.startswith(CALLED_BY_TEXTUAL)}
        return {one for one in found if not one.startswith("_")}

    def collaborators(self, name: str) -> list[str]:
        """What its constructor, or its own fields if it is a value, take of objects of ours and of callables."""
        shape = self.all[name]
        return [one for one, kind in _taken(shape.node, self._is_value(name)) if self._collaborates(kind, shape.source)]

    def _is_value(self, name: str) -> bool:
        return any(base.rpartition(".")[2] in VALUES for base in [*self.foreign(name), *self.line(name)])

    def _collaborates(self, annotation: ast.expr, source: Source, seen: frozenset[str] = frozenset()) -> bool:
        """Whether a type says a callable, an object of ours, or a value that holds one."""
        for node in ast.walk(annotation):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
                said = node.value
            elif isinstance(node, ast.Name | ast.Attribute):
                said = dotted(node, imported_names(source.tree))
            else:
                continue
            if said.rpartition(".")[2] == "Callable":
                return True
            owner = self._owner(said, source, self._types)
            if owner in seen:
                continue
            if owner in self.all:
                shape = self.all[owner]
                if not self._is_value(owner):
                    return True
                fields = _taken(shape.node, fields=True)
                if any(self._collaborates(kind, shape.source, seen | {owner}) for _, kind in fields):
                    return True
            elif owner in self._aliases:
                value, where = self._aliases[owner]
                if _spells_a_type(value) and self._collaborates(value, where, seen | {owner}):
                    return True
        return False


def _spells_a_type(value: ast.expr) -> bool:
    return isinstance(value, ast.Subscript | ast.BinOp | ast.Name | ast.Attribute)


def _methods(node: ast.ClassDef) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    yield from (item for item in node.body if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef))


def _taken(node: ast.ClassDef, fields: bool) -> Iterator[tuple[str, ast.expr]]:
    """Names and types of what an object of this class is made with."""
    for item in node.body:
        if fields and isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            yield item.target.id, item.annotation
        elif not fields and isinstance(item, ast.FunctionDef) and item.name == "__init__":
            for parameter in [*item.args.posonlyargs, *item.args.args, *item.args.kwonlyargs]:
                if parameter.annotation is not None:
                    yield parameter.arg, parameter.annotation
