"""Scripts, targets and dependency versions declared in the manifests of a checkout, read as data."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from memtui.config.toml import loads

OF_COMMANDS = {
    "npm": ("package.json",),
    "make": ("Makefile", "makefile", "GNUmakefile"),
    "just": ("justfile", "Justfile"),
}
"""File names of manifests by the tool that runs their commands."""
_PYTHON = ("pyproject.toml", "requirements.txt", "requirements-dev.txt")
OF_DEPENDENCIES = ("package.json", "Cargo.toml", "go.mod", *_PYTHON)
LARGEST = 262_144
"""Largest manifest in bytes that is read."""
_LONGEST = 10_000
"""Longest line in bytes: the TOML parser needs quadratic time."""
_TARGET = re.compile(r"^([\w./-][\w ./\t-]*+):(?!=)", re.M)
_RECIPE = re.compile(r"^@?([A-Za-z_][\w-]*+)[^:\n]*+:(?!=)", re.M)
_ANY = re.compile(r"^-?include\b|^[^#\n%:]*+%[^\n=:]*+:|^\$[({]|^import ", re.M)
_REQUIREMENT = re.compile(r"^[ \t]*+([A-Za-z0-9][\w.-]*+)(?:\[[^\]\n]*+\])?[ \t]*+([^;#\n]*+)", re.M)
_REQUIRED = re.compile(r"^(?:require[ \t]++)?[ \t]*+([\w./~-]++) v(\S++)", re.M)


class Manifest(NamedTuple):
    """Declarations of one manifest."""

    commands: frozenset[tuple[str, str]] = frozenset()
    """Pairs of tool (`npm`, `make`, `just`) and name."""
    versions: Mapping[str, str] = {}
    """Versions as written, by lower-case name."""
    open: bool = False
    """Whether it may declare more than is written in it, or is unreadable."""


def plain_name(name: str) -> str:
    """Normalize a dependency's name."""
    return name.lower().replace("_", "-")


def major(version: str) -> int | None:
    """Return the major version; None where there is none, or several are allowed."""
    numbers = re.findall(r"(?<![\d.\w])v?(\d{1,9})(?!\d)", version)
    return int(numbers[0]) if len(numbers) == 1 or (numbers and "<" in version) else None


def parse(name: str, data: bytes) -> Manifest:
    """Parse a manifest; `name` is its file name."""
    if len(data) > LARGEST or max(map(len, data.split(b"\n"))) > _LONGEST:
        return Manifest(open=True)
    text = data.decode("utf-8", "replace")
    try:
        if name == "package.json":
            return _package(json.loads(text))
        if name.lower().endswith("makefile"):
            targets = {("make", one) for found in _TARGET.findall(text) for one in found.split()}
            return Manifest(frozenset(targets), open=_ANY.search(text) is not None)
        if name.lower() == "justfile":
            return Manifest(
                frozenset(("just", one) for one in _RECIPE.findall(text)), open=_ANY.search(text) is not None
            )
        if name == "go.mod":
            return Manifest(versions={plain_name(one): version for one, version in _REQUIRED.findall(text)})
        if name.endswith(".toml"):
            return Manifest(versions=dict(_toml(loads(text))))
        return Manifest(versions=dict(_requirements(text)))
    except (ValueError, RecursionError):
        return Manifest(open=True)


def _package(found: object) -> Manifest:
    if not isinstance(found, dict):
        return Manifest(open=True)
    scripts = found.get("scripts")
    commands = {("npm", str(name)) for name in scripts} if isinstance(scripts, dict) else ()
    versions = {
        plain_name(str(name)): str(version)
        for kind in ("peerDependencies", "optionalDependencies", "devDependencies", "dependencies")
        if isinstance(group := found.get(kind), dict)
        for name, version in group.items()
    }
    return Manifest(frozenset(commands), versions)


def _requirements(text: str) -> Iterator[tuple[str, str]]:
    for name, version in _REQUIREMENT.findall(text):
        yield plain_name(name), version.strip()


def _toml(found: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield the dependencies of `pyproject.toml` (PEP 621, PEP 735, Poetry) or `Cargo.toml`, at any depth."""
    for key, value in found.items():
        if isinstance(value, dict):
            if key.lower().endswith("dependencies") and key != "optional-dependencies":
                for name, one in value.items():
                    version = one.get("version", "") if isinstance(one, dict) else one
                    yield plain_name(name), str(version)
            elif key in ("optional-dependencies", "dependency-groups"):
                for group in value.values():
                    yield from _listed(group)
            else:
                yield from _toml(value)
        elif key == "dependencies":
            yield from _listed(value)


def _listed(group: object) -> Iterator[tuple[str, str]]:
    for one in group if isinstance(group, list) else ():
        if isinstance(one, str):
            yield from _requirements(one)
