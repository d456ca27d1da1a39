"""Planning where a fact goes and what is written, in the format of its root; nothing here writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from memtui.agents.known.memtui_native import ID as OWN
from memtui.engine.frontmatter import read as frontmatter
from memtui.engine.model import Address, Memory, Root, Step
from memtui.errors import NotFoundError, RefusedError
from memtui.features.entries import model
from memtui.features.entries.formats import FORMATS
from memtui.features.entries.model import parse
from memtui.features.remember.classify import USER, Fact, classify, same, scope_of, split_reasons
from memtui.features.transfer.model import IndexChange, TakenNames, fitted, steps_of
from memtui.features.transfer.plan import MemoryFields, shaped, usual_path
from memtui.given.reach import reviewed, texts
from memtui.matching import holds_all
from memtui.pointers.lines import is_text

if TYPE_CHECKING:
    from memtui.engine import Engine

SCOPES = {"user": "global", "global": "global", "project": "project", "workspace": "workspace"}
"""Accepted scopes and what they mean."""


class RememberRequest(NamedTuple):
    """What to remember."""

    text: str
    """As returned by `checked`."""
    scope: str = ""
    """A key of `SCOPES`; empty: by type."""
    to: str = ""
    """Root id; empty: memtui's own root of the scope."""
    type: str = ""
    """Empty: by its words."""
    clean: bool = False
    """Skip the search for a memory that says the same."""


class Known(NamedTuple):
    """A memory that says it already."""

    address: Address
    line: int


class RememberPlan(NamedTuple):
    """A fact and the changes that store it."""

    fact: Fact
    address: Address
    changes: tuple[IndexChange, ...]
    """The memory first, then its index."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """The changes as engine steps."""
        return steps_of(self.changes)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the user."""
        return tuple(note for one in self.changes for note in one.notes)


def plan_remember(
    engine: Engine, roots: Sequence[Root], request: RememberRequest, *, among: Iterable[Memory] | None = None
) -> RememberPlan | Known:
    """Plan what is written for a request, or return the memory that says it already.

    `roots` are searched and written to; `among` limits the memories compared. Raises `E_NO_ROOT`, RefusedError when the
    root takes no memory, and MemtuiError for an unreadable file.
    """
    fact = classify(request.text, request.type)
    root = target(engine, roots, request, fact)
    if not request.clean:
        here = (root,) if request.to else roots
        rows = engine.rows.list([one.id for one in here]).items if among is None else among
        known = find_known(engine, here, rows, fact)
        if known is not None:
            return known
    return planned(engine, root, fact)


def target(engine: Engine, roots: Sequence[Root], request: RememberRequest, fact: Fact) -> Root:
    """Return the root for a fact; raises as `plan_remember`."""
    if request.to:
        root = engine.roots.find(request.to)
        if root.scope == "channel" or (root.policy.index_file or "").startswith("*/"):
            raise RefusedError(
                f"{root.id} keeps a folder for each of many, so nothing says where in it this belongs.",
                hint="Write it with memtui create, or choose another root.",
            )
        return root
    project = next((root.project for root in roots if root.scope == "project" and root.project), None)
    scope = SCOPES[request.scope] if request.scope else scope_of(fact, project and project.rpartition("/")[2])
    fitting = [root for root in roots if root.scope == scope and root.kind == "memories" and not root.read_only]
    fitting.sort(key=lambda root: root.id != f"{OWN}:{scope}")
    if not fitting:
        raise NotFoundError(
            f"No folder for memories of the scope {scope} is open.",
            code="E_NO_ROOT",
            hint="Name one with --to: `memtui roots` lists them.",
        )
    return fitting[0]


# --- what is known already


def find_known(engine: Engine, roots: Iterable[Root], rows: Iterable[Memory], fact: Fact) -> Known | None:
    """Return the memory that says a fact; unreviewed memories do not count."""
    wanted = {same(fact.body)} | (set() if fact.reasons else {same(fact.text)})
    words = sorted(set(same(fact.text).split()), key=len, reverse=True)
    for root, row, data in texts(engine, roots, filter(reviewed, rows)):
        for line, text in _pieces(root, row.address.path, data) if holds_all(data, words) else ():
            if text and same(text) in wanted:
                return Known(row.address, line)
    return None


def _pieces(root: Root, path: str, data: bytes) -> Iterator[tuple[int, str]]:
    """Yield (line, text) of what a memory says: its entries, or the whole text and each line."""
    kind = model.format_of(root, path)
    if kind is not None:
        file = parse(data, kind)
        for entry in file.entries:
            text = file.text(entry).decode("utf-8", "replace")
            lines = text.partition("\n")
            headed = text.startswith("# ") and bool(lines[2])
            for said in (text, lines[2]) if headed else (text,):
                yield entry.line, split_reasons(said.strip())[0]
                yield entry.line, said
        return
    start = frontmatter.split(data).body
    body = data[start:].decode("utf-8", "replace")
    before = data.count(b"\n", 0, start)
    first = before + 1 + body[: len(body) - len(body.lstrip())].count("\n")
    yield first, body
    yield first, split_reasons(body.strip())[0]
    for number, line in enumerate(body.split("\n"), start=before + 1):
        yield number, line.strip().lstrip("-*+ ")


# --- what is written


def planned(engine: Engine, root: Root, fact: Fact) -> RememberPlan:
    """Plan what is written for a fact in a root; raises as `plan_remember`."""
    rows = {row.address.path: row for row in engine.rows.list([root.id]).items}
    if root.policy.entries:
        return _as_entry(engine, root, fact, rows)
    taken = TakenNames(rows)
    path = usual_path(root, fact.slug, fact.type, rows)
    number = 1
    while taken.clash(path) or path in rows:
        number += 1
        path = usual_path(root, f"{fact.slug}-{number}", fact.type, rows)
    sheet = MemoryFields(fact.name, fact.description, fact.type, fact.body)
    return RememberPlan(fact, Address(root.id, path), shaped(engine, root, path, sheet, rows))


def _as_entry(engine: Engine, root: Root, fact: Fact, rows: Mapping[str, Memory]) -> RememberPlan:
    files = [path for path, _ in root.policy.entries]
    fixed = [path for path in files if "*" not in path]
    named = [path for path in fixed if (path.lower() == "user.md") == (fact.type == USER)]
    path = (named or fixed or [fitted(f"{fact.type}.md", root)])[0]
    address = Address(root.id, path)
    before, sha = b"", None
    if path in rows:
        before = engine.read_bytes(address)
        sha = sha256(before).hexdigest()
    kind = model.need_format(engine, address)
    if not is_text(before):
        raise RefusedError(f"{address} is not UTF-8 text.", code="E_TEXT", hint="Choose another root with --to.")
    chosen = FORMATS[kind]
    heading = chosen.heading.decode() + fact.name if chosen.heading else f"# {fact.type}" if chosen.tagged else ""
    text = "\n".join(line for line in (heading, fact.text, *fact.reasons) if line)
    after = model.with_added(parse(before, kind), text.encode())
    return RememberPlan(fact, address, (IndexChange(address, before, after, sha, "1 entry added"),))
