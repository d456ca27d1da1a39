"""memtui's own roots: global, project and workspace, the only ones that may not exist yet.

Their folders are memtui's to create, so an empty machine has exactly these three. They are apart from discovery because
each agent has one file.
"""

import os
from collections.abc import Iterator

from memtui.config.surroundings import Surroundings, folder_id
from memtui.engine.model import TYPES, Policy, Root
from memtui.engine.policy import ROOM as ROOM_KIND

ID = "memtui"
POLICY = Policy(write_bytes=102_400, max_files=1_000, ignore=(".DS_Store", ".git"), types=TYPES)
ROOM = POLICY._replace(entries=(("CHANNEL.md", "remembered"),))
ROOMS = 200
"""Chats that are listed, those that changed last."""


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Yield memtui's own roots, and what an earlier setting of `project_memory` left behind."""
    memory = os.path.join(surroundings.data_dir, "memory")
    yield _root(f"{ID}:global", os.path.join(memory, "global"), "memtui")
    yield from _project(surroundings, os.path.join(memory, "project"))
    workspaces = os.path.join(memory, "workspace")
    mine = _root(f"{ID}:workspace", os.path.join(workspaces, surroundings.workspace), "memtui")
    yield mine._replace(project=surroundings.project)
    notes = notes_root(surroundings)
    if os.path.isdir(notes.path):
        yield notes
    yield from _rooms(surroundings.data_dir)
    if all_projects:
        yield from _others(os.path.join(memory, "project"), "project", folder_id(surroundings.project))
        yield from _others(workspaces, "workspace", surroundings.workspace)


def _root(root_id: str, path: str, label: str) -> Root:
    return Root(root_id, path, ID, root_id.split(":")[1], label, POLICY)


def room_root(data_dir: str, slug: str, channel: str, chat: str) -> Root:
    """Return the root of one chat; agents see it only through a door that was opened on it.

    `channel` and `chat` are 16 and 32 hex digits of hashes; `slug` is the readable part of the channel's name.
    """
    from hashlib import sha256

    # Two channels may begin alike, and a chat have the same id in both.
    key = sha256(f"{channel}/{chat}".encode()).hexdigest()[:12]
    path = os.path.join(data_dir, "memory", "channel", f"{slug}-{channel}", chat)
    root = _root(f"{ID}:channel:{slug}-{key}", path, f"memtui, {slug}")
    return root._replace(policy=ROOM, kind=ROOM_KIND)


def _rooms(data_dir: str) -> Iterator[Root]:
    folder = os.path.join(data_dir, "memory", "channel")
    if not os.path.isdir(folder):
        return
    from memtui.agents.layout import names_in

    found: list[tuple[float, Root]] = []
    for name in names_in(folder):
        slug, dash, channel = name.rpartition("-")
        for chat in names_in(os.path.join(folder, name)) if dash and _is_hex(channel, 16) else ():
            root = room_root(data_dir, slug, channel, chat)
            try:
                changed = os.stat(os.path.join(root.path, "CHANNEL.md")).st_mtime
            except OSError:
                continue
            found += [(changed, root)] if _is_hex(chat, 32) else []
    found.sort(key=lambda one: -one[0])
    yield from (root for _, root in found[:ROOMS])


def _is_hex(text: str, length: int) -> bool:
    return len(text) == length and all(sign in "0123456789abcdef" for sign in text)


def notes_root(surroundings: Surroundings) -> Root:
    """Return the folder of what `memtui observe` keeps of a project; agents are not given it unasked."""
    project = surroundings.project
    path = os.path.join(surroundings.data_dir, "notes", folder_id(project))
    policy = POLICY._replace(entries=(("*.md", "notes"),))
    return Root(f"{ID}:notes", path, ID, "project", "memtui, notes", policy, project=project, kind="notes")


def _project(surroundings: Surroundings, hosted: str) -> Iterator[Root]:
    project = surroundings.project
    checkout = _root(f"{ID}:project:checkout", os.path.join(project, ".memtui", "memory"), "memtui, in the checkout")
    host = _root(f"{ID}:project:host", os.path.join(hosted, folder_id(project)), "memtui, on this host")
    places = {
        "checkout": checkout._replace(in_checkout=surroundings.checkout is not None, project=project),
        "host": host._replace(project=project),
    }
    chosen = places.pop(surroundings.project_memory)
    yield chosen._replace(id=f"{ID}:project", label="memtui", aliases=(chosen.id,))
    for other in places.values():
        if os.path.isdir(other.path):
            yield other._replace(note="From before project_memory was changed.")


def _others(folder: str, scope: str, current: str) -> Iterator[Root]:
    from memtui.agents.layout import names_in

    for name in names_in(folder):
        path = os.path.join(folder, name)
        if name != current and os.path.isdir(path):
            yield _root(f"{ID}:{scope}:{name}", path, f"memtui, {name}")
