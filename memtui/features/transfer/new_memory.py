"""New memories as the agent of their root would write them: path, front matter, line in the index.

Planned whole before the first byte and written as one step, so that no memory is created that its agent does not find.
Used by `remember` and by the form for a new memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from memtui.agents.known.memtui_native import ID as OWN
from memtui.engine.frontmatter.edit import set_fields
from memtui.engine.model import TYPES, Address, FieldEdit, Root, Step
from memtui.errors import ConflictError, RefusedError, UsageError
from memtui.features.transfer.fields import DESCRIPTION, METADATA, NAME, REQUIRED, TYPE, Hints, nests_type, translate
from memtui.features.transfer.index_lines import LINKS, Mention, added
from memtui.features.transfer.model import IndexChange, Transfer, steps_of
from memtui.features.transfer.names import TakenNames, fitted, refusal, slug_of

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.model import Memory


class MemoryFields(NamedTuple):
    """Contents of a new memory."""

    name: str
    description: str = ""
    type: str = ""
    body: str = ""


class NewPlan(NamedTuple):
    """A new memory, before it is created."""

    address: Address
    changes: tuple[IndexChange, ...]
    """The memory first, then the index that names it."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """For `Engine.together`."""
        return steps_of(self.changes)


def has_shape(root: Root) -> bool:
    """Tell whether a root's agent wants fields in a memory, or finds one by a line of its index."""
    return bool(root.policy.fields) or root.policy.index_format == LINKS


def fields_of(root: Root) -> tuple[str, ...]:
    """Return the fields of the form for a new memory of a root."""
    typed = TYPE in root.policy.fields and root.policy.types
    return (NAME, DESCRIPTION, TYPE) if typed else (NAME, DESCRIPTION)


def plan_new(engine: Engine, root: Root, folder: str, sheet: MemoryFields) -> NewPlan:
    """Plan a memory that a person creates in a folder (empty: the usual place); nothing is written.

    A name with the ending of a file is the name of the file.
    """
    if not sheet.name.strip():
        raise UsageError("Type a name.")
    rows = {row.address.path: row for row in engine.rows.list([root.id]).items}
    ending, name = root.policy.suffix or ".md", sheet.name.strip()
    if (root.policy.index_file or "").startswith("*/") and not folder and "/" not in name:
        raise RefusedError(
            f"{root.label or root.id} keeps a folder for each of several agents, and reads nothing beside them.",
            hint=f"Type the folder too: reviewer/{slug_of(name)}{ending}",
        )
    if name.endswith(ending) and name != ending:
        path = name if "/" in name else f"{folder}/{name}".lstrip("/")
        name = path.rpartition("/")[2].removesuffix(ending)
    elif folder:
        path = fitted(f"{folder}/{slug_of(name)}.md", root)
    else:
        path = usual_path(root, slug_of(name), sheet.type, rows)
    address = Address(root.id, path)
    clash = TakenNames(rows).clash(path)
    if clash or path in rows:
        raise ConflictError(f"{clash or path} is there already.", code="E_EXISTS", hint="Choose another name.")
    return NewPlan(address, shaped(engine, root, path, sheet._replace(name=name), rows))


def usual_path(root: Root, slug: str, kind: str, rows: Mapping[str, Memory]) -> str:
    """Return the path of a new memory, named like its siblings (`rows`); it may be taken."""
    names = [path for path in rows if not root.policy.is_index(path) and path.endswith(root.policy.suffix or ".md")]
    folders = any(path.partition("/")[0] in TYPES for path in names if "/" in path)
    flat = [path for path in names if "/" not in path]
    stem = f"{kind}/{slug}" if kind else slug
    if root.policy.new_in:
        stem = f"{root.policy.new_in}{slug}"
    elif root.policy.include is not None:
        stem = next((one for one in root.policy.include if one.endswith("/")), "") + slug
    elif root.agent != OWN and flat and not folders:
        prefixed = sum(path.partition("_")[0] in TYPES for path in flat)
        stem = f"{kind}_{slug}" if kind and prefixed * 2 > len(flat) else slug
    return fitted(f"{stem}.md", root)


def shaped(
    engine: Engine, root: Root, path: str, sheet: MemoryFields, rows: Mapping[str, Memory]
) -> tuple[IndexChange, ...]:
    """Return the changes that create a memory in its agent's format: the memory, then its index."""
    address = Address(root.id, path)
    why = refusal(address, root)
    if why:
        raise RefusedError(
            f"It cannot become {address}: {why}.", hint="Choose another root with --to, or write it with memtui create."
        )
    policy = root.policy
    lately = nests_type(engine, rows.values())
    nested = policy.front_matter != REQUIRED and (policy.nests_type if lately is None else lately)
    values = {NAME: sheet.name, DESCRIPTION: sheet.description, TYPE: sheet.type}
    edits = [
        FieldEdit((METADATA, TYPE) if nested and field == TYPE else (field,), value.strip())
        for field, value in values.items()
        if value.strip() and (not policy.fields or field in policy.fields)
    ]
    found = translate(set_fields(f"\n{sheet.body}".encode(), edits), root, path, Hints(nested=nested))
    notes = tuple(f"{note.text}." for note in found.notes)
    made = IndexChange(address, b"", found.data, None, "", notes)
    item = Transfer(address, address, b"", found.data)
    return (made, *added(engine, root, [item], {address: Mention(hook=sheet.description)}, rows, {}))
