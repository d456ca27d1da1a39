"""How those who write memories, and what they did, are named for people."""

import os.path

from memtui.engine.model import Address, is_person

OWN_FOLDERS = ("files", "memtui", "")
"""Agents that say nothing about who wrote into a folder."""

KINDS = {"modified": "changed", "created": "new", "deleted": "deleted", "renamed": "renamed"}
"""Kinds of changes in the words of the screen."""

VERBS = {
    "save": "edit", "create": "create", "rename": "rename", "delete": "trash", "restore": "restore", "pin": "pin",
    "unpin": "unpin", "undo": "undo", "redo": "redo", "modified": "edit", "created": "create", "deleted": "delete",
    "renamed": "rename", "restored": "restore", "reviewed": "review",
}  # fmt: skip
"""Operations of the audit in the words of the screen."""


def who_words(actor: str, agent: str = "") -> str:
    """Name a writer: `claude`; `outside (codex)` for an unknown one in an agent's folder; `you`."""
    if is_person(actor):
        return "you"
    name = actor.removeprefix("agent:")
    return f"{name} ({agent})" if actor == "outside" and agent not in OWN_FOLDERS else name


def common_place(addresses: list[Address]) -> str:
    """The folder or root that all lie in; nothing when they lie in several roots."""
    roots = {address.root for address in addresses}
    if len(roots) != 1:
        return f"{len(roots)} roots"
    folders = [os.path.dirname(address.path) for address in addresses]
    common = os.path.commonpath(folders) if all(folders) else ""
    return f"{roots.pop()}{'/' if common else ''}{common}"
