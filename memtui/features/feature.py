"""What a feature is: one capability of memtui as data, which says what it has and where that is."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from memtui.ui.action import Action, View
from memtui.wire.verb import Verb

GRAVE_WORDS = "memtui.features.hygiene.look:grave_words"
"""What is said before somebody accepts memories; it stands above features that ask it, so it is named and loaded."""


class Tool(NamedTuple):
    """One tool that agents call over MCP."""

    name: str
    title: str
    offer: str
    """What a client is told of it, as `module:function`: takes the client's engine, returns an `Offer`."""
    call: str
    """What answers, as `module:function`: takes the client's engine, its actor and the fields of the call, returns a
    `Result`; may raise a `MemtuiError`."""
    switches: tuple[str, ...] = ()
    """Settings that all have to be on; else clients are not told of it, and a call is refused."""
    reads_sessions: bool = False
    """Whether what answers also takes the settings as they are now, and where the client stands."""
    only_with_sessions: bool = False
    """Whether clients are told of it only where cards of sessions may be kept."""
    clients: str = ""
    """A setting that names the clients it is for, and nobody else; empty: it is for all."""


class Offer(NamedTuple):
    """A tool as one client is told of it."""

    description: str
    schema: Mapping[str, object]
    """JSON Schema of its fields."""
    hints: Mapping[str, bool]
    """The annotations of MCP, by name."""


class Feature(NamedTuple):
    """One capability; every part is loaded when it is used, none by its entry."""

    title: str = ""
    """The heading of its own actions in help and `docs/keys.md`."""
    view: View | None = None
    actions: tuple[Action, ...] = ()
    """What can be done in its view only; their `room` is the name of the feature."""
    asks: Mapping[str, str] = {}
    """What asks for something where an action of the workbench is its own, by that action, as `module:Class`: made with
    the `Host`, once; its `start` takes what shows a screen and is told of its answer."""
    verbs: tuple[Verb, ...] = ()
    """What it adds to the command line."""
    tools: tuple[Tool, ...] = ()
    """What it adds to the MCP server."""
    works: Mapping[str, str] = {}
    """The kinds of tasks it does, and what does each, as `module:function`: takes a `Working`, returns a `Planned`; may
    raise a `MemtuiError`."""
    answers: Mapping[str, str] = {}
    """What it answers at once over HTTP, by the last part of the address, as `module:function`: takes an engine with
    the client's access, the settings, the client and the checked fields, returns JSON values; may raise a
    `MemtuiError`."""
    status: str = ""
    """Its part of `memtui status`, as `module:function`: takes a session, returns JSON values by name."""
    short: str = ""
    """What of it waits, for a prompt, as `module:function`: takes a session, returns a few letters or nothing."""
    findings_of: str = ""
    """What it adds to `memtui doctor`, as `module:function`: takes a session, returns `Finding`s."""
    begins: str = ""
    """What queues its tasks that begin by themselves, as `module:function`: takes a session and the settings as they
    are now; called every few minutes by whoever works lanes off."""
    stands: str = ""
    """What of it stands in the list of tasks and is none, as `module:function`: takes an engine, the settings and the
    lane somebody stands in, returns `StandingRow`s of `features/tasks`."""
    rules: str = ""
    """What it adds to the rules of `memtui check`, as `module:function`: returns `Rule`s of `features/hygiene`."""
    findings: str = ""
    """What finds by those rules, as `module:function`: takes an engine, every memory of the roots that are looked at,
    and the time in milliseconds; returns what takes a memory and its text and returns `Hazard`s."""
    schedulable: tuple[str, ...] = ()
    """Its verbs that a schedule may run."""
    chat: Mapping[str, str] = {}
    """Words it answers in a chat, as `module:function`: takes a `Word`, returns a `ChatReply` (`features/attribution`);
    may raise a `MemtuiError`."""
    gateways: Mapping[str, str] = {}
    """What gateways alone may ask over HTTP, by the address, as `module:function`: takes the session, the settings, the
    client and the fields, returns JSON values; may raise a `MemtuiError`."""


def load(place: str) -> Callable[..., Any]:
    """Import what an entry names.

    Args:
        place: `module:name`.

    Raises:
        ImportError: there is no such module.
        AttributeError: there is no such name in it.
    """
    module, _, name = place.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), name)
    return found
