"""The table of features: a feature that is not listed does not exist for any front.

A line is the name of a folder and its verbs, so that a command imports the entry of its own feature alone. Verbs, views
and actions are the sums of the entries; help, completion, the parser, keys and their docs are made from them.
"""

from collections.abc import Mapping
from functools import cache

from memtui.features.feature import Feature, Tool, load
from memtui.ui.action import View
from memtui.wire.verb import Verb

FEATURES: Mapping[str, tuple[str, ...]] = {
    "memories": ("roots", "ls", "view", "create", "save", "rm", "workspace"),
    "changes": ("changes", "seen", "watch"),
    "proposals": ("review", "accept", "reject"),
    "approvals": (),
    "search": ("search",),
    "recall": ("recall",),
    "hot_set": ("context",),
    "cost": ("cost",),
    "history": ("history", "diff", "redact"),
    "blame": ("blame",),
    "attribution": ("turn", "who"),
    "trash": ("trash", "restore"),
    "activity": ("log", "undo", "redo"),
    "health": ("health",),
    "hygiene": ("check", "rules"),
    "claims": (),
    "observations": ("obs", "observe"),
    "entries": ("entries",),
    "edit": ("edit",),
    "remember": ("remember",),
    "channels": ("channel",),
    "forget": ("forget",),
    "extract": ("extract",),
    "dream": ("dream",),
    "transfer": ("cp", "mv"),
    "bundles": ("export", "import"),
    "moved_projects": ("orphans", "repoint"),
    "pins": ("pin", "unpin", "pins"),
    "tools": ("tool", "mcp"),
    "tasks": ("tasks", "status"),
    "schedules": ("schedule",),
    "delivery": ("digest", "delivery"),
    "budgets": ("budget",),
    "team": ("team",),
    "serve": ("serve",),
    "hosts": ("host",),
    "install": ("install", "uninstall"),
    "sessions": ("sessions",),
    "setup": ("doctor", "config", "keys", "completion", "demo", "web", "help"),
}
"""Folder and verbs of each feature; its `entry.py` has the rest. The order is that of help and docs about keys."""

TOOLS = {
    "memory": "tools",
    "memory_search": "search",
    "memory_recall": "recall",
    "memory_propose": "proposals",
    **dict.fromkeys(("memory_search_index", "memory_timeline", "memory_details"), "observations"),
    **dict.fromkeys(("context_grep", "context_describe"), "observations"),
}
"""MCP tools in the order in which clients see them, and the feature of each."""

GROUPS = {
    "look": "Look",
    "change": "Change",
    "follow": "Follow what others change",
    "agents": "Give agents their memory",
    "setup": "Set up",
}
"""Groups of verbs and their titles, in the order of help."""

NAMES = tuple(name for names in FEATURES.values() for name in names)
"""The names of all verbs."""


def entry(feature: str) -> Feature:
    """Import the entry of a feature."""
    found: Feature = load(f"memtui.features.{feature}.entry:FEATURE")  # type: ignore[assignment]
    return found


@cache
def entries() -> Mapping[str, Feature]:
    """Import the entries of all features."""
    return {feature: entry(feature) for feature in FEATURES}


def find(name: str) -> Verb | None:
    """Return the verb of that name, if any; imports the entry of its feature alone."""
    feature = next((feature for feature, names in FEATURES.items() if name in names), None)
    return next(verb for verb in entry(feature).verbs if verb.name == name) if feature else None


@cache
def verbs() -> tuple[Verb, ...]:
    """Return every verb, in the order of help."""
    groups = list(GROUPS)
    found = (verb for each in entries().values() for verb in each.verbs)
    return tuple(sorted(found, key=lambda verb: (groups.index(verb.group), verb.rank)))


@cache
def tools() -> tuple[Tool, ...]:
    """Return every MCP tool; imports the entries of their features alone."""
    return tuple(next(tool for tool in entry(TOOLS[name]).tools if tool.name == name) for name in TOOLS)


@cache
def asks() -> Mapping[str, str]:
    """Return the dialog of each action that has one."""
    return {action: place for each in entries().values() for action, place in each.asks.items()}


@cache
def views() -> tuple[View, ...]:
    """Return every view: those with a tab in the order of the tabs, then the others."""
    found = (each.view for each in entries().values() if each.view is not None)
    return tuple(sorted(found, key=lambda view: view.key.replace("0", ":") or "~"))  # 0 is the last one on a keyboard
