"""The tools of a client, collected from all features, and their calls.

Every failure is a result that a model can read, because most clients hide errors of the protocol. The MCP library is
not imported, because tools are listed before it is loaded.
"""

import logging
from collections.abc import Mapping
from functools import cache
from typing import Any

from memtui import mask
from memtui.agents.table import canonical
from memtui.engine import now_ms
from memtui.engine.disk import faults
from memtui.engine.model import Actor
from memtui.errors import MemtuiError
from memtui.features import table
from memtui.features.feature import Tool, load
from memtui.mcp_server.connection import ClientConnection
from memtui.memory_tool.call import Result, shown
from memtui.telemetry import tell
from memtui.transcripts.sessions import keeps_cards
from memtui.wire.access import error_text, switched_off

_load = cache(load)
_LOG = logging.getLogger(__name__)


def offered(connection: ClientConnection) -> "list[dict[str, Any]]":
    """List the tools of a client as they are sent; none when agents are switched off."""
    try:
        client = connection.client()
    except MemtuiError:
        return []
    found = []
    for tool in table.tools():
        if _switch_off(connection, tool, client.actor):
            continue
        offer = _load(tool.offer)(client.engine)
        found.append(
            {
                "name": tool.name,
                "title": tool.title,
                "description": offer.description,
                "inputSchema": offer.schema,
                "annotations": {"title": tool.title, **offer.hints},
            }
        )
    return found


def call(connection: ClientConnection, name: str, arguments: Mapping[str, object] | None) -> Result:
    """Carry out one call; never raises, and masks secrets in its answer."""
    found = _call(connection, name, arguments)
    return found._replace(text=mask.shown(found.text))


def _call(connection: ClientConnection, name: str, arguments: Mapping[str, object] | None) -> Result:
    client = None
    try:
        client = connection.client()
        for tool in table.tools():
            if tool.name == name:
                if off := _switch_off(connection, tool, client.actor):
                    raise switched_off(off)
                began = now_ms()
                settings, place = connection.settings_and_place()
                more = (settings, place) if tool.reads_sessions else ()
                answer: Result = _load(tool.call)(client.engine, client.actor, arguments or {}, *more)
                if answer.counts:
                    tell(settings.telemetry, name.removeprefix("memory_"), (began, now_ms()), answer.counts)
                return answer
    except MemtuiError as error:
        return Result(ok=False, text=error_text(error))
    except Exception as error:  # noqa: BLE001 - logged, and answered whatever it is: the session lives on
        if client is not None:
            faults.note(client.engine.state_dir, error, "mcp")
        _LOG.exception("a call failed")
        return Result(
            ok=False, text="E_INTERNAL: the call failed by a fault in memtui. Memories are as they were kept."
        )
    *some, last = table.TOOLS
    known = f"{', '.join(some)} and {last}"
    return Result(ok=False, text=f"E_USAGE: there is no tool {shown(name)!r} here, only {known}.")


def _switch_off(connection: ClientConnection, tool: Tool, actor: Actor) -> str:
    """Return the setting that denies a tool to a client; empty when it may use it."""
    settings, place = connection.settings_and_place()
    off = next((key for key in tool.switches if not settings.value(key)), "")
    if not off and tool.only_with_sessions and not keeps_cards(settings, place):
        return "transcripts.keep"
    if off or not tool.clients:
        return off
    named = settings.value(tool.clients)
    clients = map(canonical, named) if isinstance(named, tuple) else ()
    return "" if canonical(actor.name) in clients else tool.clients
