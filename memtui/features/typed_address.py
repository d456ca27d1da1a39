"""The address a typed name means, and what is wrong with it, before anything is done.

Pure, so that the prompt can show the effect of each letter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from memtui.engine.model import Address, Root


class Target(NamedTuple):
    """The address typed so far."""

    address: Address
    text: str
    """The prompt's text."""
    cursor: int
    """The initial cursor position in it."""
    kind: str
    """`new`, `one` (rename a memory), `folder` (rename a folder) or `many` (move into a folder)."""
    problem: str = ""

    def read(self, text: str, roots: Mapping[str, Root]) -> Target:
        """Return the target that another text means."""
        text = text.strip()
        if self.kind == "one" and text.rpartition("/")[2] == self.text[self.cursor :]:
            text = text[: text.rfind("/") + 1]  # a suffix alone, left by ctrl+u, is no name
        root, path = split_root(text, self.address.root, roots, own=self.text.partition("/")[0])
        if roots[root].read_only if root in roots else False:
            return self._replace(problem=f"{root} is read-only.")
        if self.kind == "many":
            path = path.rstrip("/")
        elif self.kind == "one" and text and (not path or path.endswith("/")):
            path += self.address.name  # in a folder, or in another root, it keeps its name
        elif not path or (path.endswith("/") and self.kind != "folder"):
            return self._replace(problem="Type a name; folders end in /.")
        path = path.rstrip("/")
        last = path.rpartition("/")[2]
        if self.kind == "new" and last and "." not in last:
            path += ".md"
        if any(part in ("", ".", "..") for part in path.split("/")) and (path or self.kind != "many"):
            return self._replace(problem="A path has no empty parts, no . and no ..")
        return self._replace(address=Address(root, path), text=text, problem="")

    def pairs(self, targets: tuple[Address, ...], folder: str | None) -> tuple[tuple[Address, Address], ...]:
        """Return the old and new address of each memory."""
        new = self.address
        if folder is not None:
            return tuple((old, Address(new.root, new.path + old.path[len(folder) :])) for old in targets)
        if self.kind == "many":
            lead = new.path + "/" if new.path else ""
            return tuple((old, Address(new.root, lead + old.name)) for old in targets)
        return ((targets[0], new),)


def split_root(text: str, here: str, roots: Mapping[str, Root], *, own: str = "") -> tuple[str, str]:
    """Split a text into root and path: one that starts with a root's id or alias and `/` means that root.

    `own` is a folder of the same name where the text started: then the text is a path.
    """
    for root in roots.values():
        for name in (root.id, *root.aliases):
            if name != own and (text.startswith(name + "/") or text == name):
                return root.id, text[len(name) + 1 :]
    return here, text


def rename_target(targets: tuple[Address, ...], folder: str | None) -> Target:
    """Return the start of a rename or copy: the current name, with the cursor before its suffix."""
    if folder is not None:
        return Target(Address(targets[0].root, folder), folder, len(folder), "folder")
    if len(targets) == 1:
        path = targets[0].path
        dot = path.rfind(".", path.rfind("/") + 2)
        return Target(targets[0], path, dot if dot > 0 else len(path), "one")
    folders = {address.path.rpartition("/")[0] for address in targets}
    start = folders.pop() + "/" if len(folders) == 1 else ""
    start = "" if start == "/" else start
    return Target(Address(targets[0].root, start.rstrip("/")), start, len(start), "many")
