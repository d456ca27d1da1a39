"""The parts of the engine, each with the verbs of the fake one: what the workbench is given in its place."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from memtui.engine import Engine

PARTS: dict[str, dict[str, str]] = {
    "changes": {
        "unseen": "changes",
        "mark_seen": "mark_seen",
        "mark_shown": "mark_changes_seen",
        "unmark": "restore_seen",
        "seen_version": "seen_version",
    },
    "drafts": {
        "save": "save_draft",
        "take": "take_draft",
        "keep_apart": "keep_drafts_apart",
        "all": "drafts",
        "drop": "drop_draft",
        "save_conflict": "save_conflict",
        "conflict": "open_conflict",
    },
    "events": {"subscribe": "subscribe", "notices": "notices"},
    "folders": {"items": "folder", "kind": "kind"},
    "history": {
        "read": "read_version",
        "of": "history",
        "audit": "audit",
        "read_audited": "read_audited",
        "operations": "operations",
        "review": "review",
        "trusted_version": "trusted_version",
    },
    "memories": {
        name: name for name in ("create", "edit", "rename", "move", "copy", "delete", "edit_fields", "restore")
    },
    "pace": {"now": "progress", "stop": "stop_soon", "make_way": "make_way"},
    "pins": {"set": "set_pinned", "record_use": "record_use"},
    "places": {"load": "place", "keep": "keep_place"},
    "rows": {
        "list": "list",
        "get": "memory",
        "some": "memories",
        "written_at": "written_at",
        "vanished": "vanished",
        "status": "root_status",
    },
    "search": {"find": "find", "forget": "forget_texts"},
    "together": {"do": "together"},
    "trash": {"entries": "trash", "restore": "restore_all"},
    "undo": {
        "take_back": "take_back",
        "undo": "undo",
        "redo": "redo",
        "next": "next_undo",
        "passed_over": "passed_over",
        "beyond": "beyond",
    },
    "watch": {"reconcile": "reconcile", "start": "watch"},
}


class _Parts:
    """Gives the parts; what is no part is the fake engine's own."""

    def __init__(self, fake: object) -> None:
        self._fake: Any = fake

    def __getattr__(self, name: str) -> object:
        fake = self._fake
        if name == "roots":
            return SimpleNamespace(
                all=lambda: fake.roots, find=fake.find_root, add=fake.add_roots, file_path=fake.file_path
            )
        if name in PARTS:
            return SimpleNamespace(
                **{new: getattr(fake, old) for new, old in PARTS[name].items() if hasattr(fake, old)}
            )
        return getattr(fake, name)


def engine_of(fake: object) -> Engine:
    """The fake engine as the workbench sees an engine."""
    return cast("Engine", _Parts(fake))
