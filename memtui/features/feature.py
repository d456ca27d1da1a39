"""The description of a feature as data: what it offers to each front, and where that is implemented."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from memtui.ui.action import Action, View
from memtui.wire.verb import Verb

GRAVE_WORDS = "memtui.features.hygiene.memory_scan:grave_words"
"""Warns before memories are accepted; named here because its feature stands above those that ask it."""


class Tool(NamedTuple):
    """One MCP tool."""

    name: str
    title: str
    offer: str
    """Its description as `module:function`: takes the client's engine, returns an `Offer`."""
    call: str
    """Its handler as `module:function`: takes the client's engine, its actor and the fields of the call, returns a
    `Result`; may raise a `MemtuiError`."""
    switches: tuple[str, ...] = ()
    """Settings that must all be on; otherwise it is not listed, and a call is refused."""
    reads_sessions: bool = False
    """Whether the handler also takes the current settings and the client's surroundings."""
    only_with_sessions: bool = False
    """Whether it is listed only where session cards may be kept."""
    clients: str = ""
    """A setting that names the only clients it is for; empty: it is for all."""


class Offer(NamedTuple):
    """A tool as described to one client."""

    description: str
    schema: Mapping[str, object]
    """JSON Schema of its fields."""
    hints: Mapping[str, bool]
    """MCP annotations by name."""


class Feature(NamedTuple):
    """One capability; every part is imported when it is used, none by its entry."""

    title: str = ""
    """The heading of its own actions in help and `docs/keys.md`."""
    view: View | None = None
    actions: tuple[Action, ...] = ()
    """Actions of its view only; their `room` is the name of the feature."""
    asks: Mapping[str, str] = {}
    """Dialogs for actions of the workbench, by action, as `module:Class`: made once with the `Host`; `start` takes
    what shows a screen and its result."""
    verbs: tuple[Verb, ...] = ()
    """Its commands."""
    tools: tuple[Tool, ...] = ()
    """Its MCP tools."""
    works: Mapping[str, str] = {}
    """Task kinds and their handlers as `module:function`, which take a `TaskContext` and return a `TaskPlan`."""
    answers: Mapping[str, str] = {}
    """HTTP handlers by the last part of the address, as `module:function`: take an engine with the client's access,
    the settings, the client and the checked fields, return JSON values; may raise a `MemtuiError`."""
    status: str = ""
    """Its part of `memtui status`, as `module:function`: takes a session, returns JSON values by name."""
    short: str = ""
    """What of it waits, for a prompt, as `module:function`: takes a session, returns a few letters or nothing."""
    findings_of: str = ""
    """Its part of `memtui doctor`, as `module:function`: takes a session, returns `Finding`s."""
    begins: str = ""
    """Queues its scheduled tasks, as `module:function`: takes a session and the current settings; called every few
    minutes by the process that works the lanes."""
    stands: str = ""
    """Its rows in the list of tasks that are no tasks, as `module:function`: takes an engine, the settings and the
    current lane, returns `StandingRow`s of `features/tasks`."""
    rules: str = ""
    """Its rules of `memtui check`, as `module:function`: returns `Rule`s of `features/hygiene`."""
    findings: str = ""
    """Its checks by those rules, as `module:function`: takes an engine, every memory of the checked roots and the
    time in milliseconds; returns a function from a memory and its text to `Hazard`s."""
    schedulable: tuple[str, ...] = ()
    """Its verbs that a schedule may run."""
    chat: Mapping[str, str] = {}
    """Chat commands as `module:function`: take a `Word`, return a `ChatReply` (`features/attribution`); may raise a
    `MemtuiError`."""
    gateways: Mapping[str, str] = {}
    """HTTP handlers for gateways only, by address, as `module:function`: take the session, the settings, the client
    and the fields, return JSON values."""


def load(place: str) -> Callable[..., Any]:
    """Import the object named by an entry, `module:name`."""
    module, _, name = place.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), name)
    return found


def entries() -> Mapping[str, Feature]:
    """Return the entries of all features from their table, which stands above them and so is imported when asked."""
    found: Mapping[str, Feature] = load("memtui.features.table:entries")()
    return found


def parts(field: str) -> Mapping[str, Callable[..., Any]]:
    """Import what features name in a field of one place, such as `status`, by feature."""
    return {name: load(place) for name, each in entries().items() if (place := getattr(each, field))}


def places(field: str) -> Mapping[str, str]:
    """Return what all features together have in a field of many places, such as `works`."""
    return {key: place for each in entries().values() for key, place in getattr(each, field).items()}
