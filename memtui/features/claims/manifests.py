"""What manifests of a checkout offer: scripts and targets that can be run, dependencies and their versions.

They are read as data, never run. Apart from looking, so that it is tested on texts alone.
"""

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
"""Files that say what can be run, by what runs it; wherever they lie."""
_PYTHON = ("pyproject.toml", "requirements.txt", "requirements-dev.txt")
OF_DEPENDENCIES = ("package.json", "Cargo.toml", "go.mod", *_PYTHON)
LARGEST = 262_144
"""Bytes of one that is read."""
_LONGEST = 10_000
"""Bytes of a line; nobody writes a longer one by hand, and the reader of TOML takes a day over some."""
_TARGET = re.compile(r"^([\w./-][\w ./\t-]*+):(?!=)", re.M)
_RECIPE = re.compile(r"^@?([A-Za-z_][\w-]*+)[^:\n]*+:(?!=)", re.M)
_ANY = re.compile(r"^-?include\b|^[^#\n%:]*+%[^\n=:]*+:|^\$[({]|^import ", re.M)
_REQUIREMENT = re.compile(r"^[ \t]*+([A-Za-z0-9][\w.-]*+)(?:\[[^\]\n]*+\])?[ \t]*+([^;#\n]*+)", re.M)
_REQUIRED = re.compile(r"^(?:require[ \t]++)?[ \t]*+([\w./~-]++) v(\S++)", re.M)


class Manifest(NamedTuple):
    """What one manifest offers."""

    commands: frozenset[tuple[str, str]] = frozenset()
    """What runs it (`npm`, `make`, `just`) and its name."""
    versions: Mapping[str, str] = {}
    """Dependencies by name, in lower case, each with its version as it is written."""
    open: bool = False
    """It may offer more than is written in it, or cannot be read."""


def plain_name(name: str) -> str:
    """A dependency's name as every spelling of it is compared."""
    return name.lower().replace("_", "-")


def major(version: str) -> int | None:
    """The first number of a version as it is written; None where there is none, or several majors may do."""
    numbers = re.findall(r"(?<![\d.\w])v?(\d{1,9})(?!\d)", version)
    return int(numbers[0]) if len(numbers) == 1 or (numbers and "<" in version) else None


def parse(name: str, data: bytes) -> Manifest:
    """Read a manifest; `name` is that of its file."""
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
    """Dependencies of `pyproject.toml` (PEP 621, PEP 735, Poetry) and `Cargo.toml`, at whatever depth they stand."""
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
