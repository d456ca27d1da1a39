"""What a root allows: who may change it, which names and sizes it takes, how many memories it holds."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cached_property

from memtui.engine.approval import Approver
from memtui.engine.disk import fsio, paths
from memtui.engine.events import Events
from memtui.engine.ledger import Ledger
from memtui.engine.look.roots import Roots, included
from memtui.engine.model import Actor, Address, Root, is_person
from memtui.engine.save.commit import Site
from memtui.errors import RefusedError


class Rules:
    """Answers before anything is touched; every refusal says what to do instead."""

    def __init__(self, roots: Roots, approver: Callable[[], Approver] = Approver) -> None:
        """Take the roots, which know what this client may change, and what tells who approves."""
        self._roots = roots
        self._access = roots.access
        self._approver = approver

    @cached_property
    def approver(self) -> Approver:
        """Who approves through this engine."""
        return self._approver()

    def writable(self, address: Address, actor: Actor) -> Root:
        """The root of a memory that an actor may change; raises why not."""
        self.refuse_read_only()
        root = self.allowed(address.root)
        if root.read_only:
            raise RefusedError(
                f"{root.id} is read-only.", code="E_READ_ONLY", hint=root.note or "Its files belong to somebody else."
            )
        if root.policy.elsewhere and not included(root, address.path):
            raise RefusedError(
                f"{address} belongs to another root, further in.",
                code="E_NAME",
                hint="Use that root's address; `memtui roots` lists them.",
            )
        self.check_storable(address)
        if not is_person(actor.name) and paths.matches(address.path, root.policy.protected):
            raise RefusedError(
                f"{address} is protected from automatic changes.", code="E_PROTECTED", hint="Only the user changes it."
            )
        return root

    def allowed(self, root_id: str) -> Root:
        """The root of this id, for a change of what belongs to it; raises when this client may not change it."""
        root = self._roots.find(root_id)
        self._access.require(root)
        return root

    @staticmethod
    def check_storable(address: Address) -> None:
        """Refuse a name that no ledger can hold: one of bytes that are not UTF-8."""
        if not address.path.isascii() and any("\ud800" <= c <= "\udfff" for c in address.path):
            raise RefusedError(
                f"{address} has a name that is not UTF-8.",
                code="E_NAME",
                hint="Rename it with another program first; memtui shows it and leaves it alone.",
            )

    def refuse_read_only(self) -> None:
        """Refuse every change of a memtui that only looks."""
        if self._roots.read_only:
            raise RefusedError(
                "memtui runs read-only.", code="E_READ_ONLY", hint="Start it without --read-only to make changes."
            )

    def refuse_onlooker(self) -> None:
        """Refuse what is about no root in particular to a client that may change none."""
        roots = self._roots.all()
        if roots and not any(map(self._access.allows, roots)):
            self._access.require(roots[0])

    def refuse_marks(self, addresses: Iterable[Address] | None) -> None:
        """Refuse to mark memories as seen by the user to a client that may not change them; None means all."""
        if addresses is None:
            for root in self._roots.all():
                self._access.require(root)
        else:
            for address in addresses:
                self.allowed(address.root)

    def check_new(self, root: Root, address: Address) -> None:
        """Refuse a name that memtui would not make in this root."""
        free = root.policy.include is not None or root.policy.any_name
        parts = paths.split(address.path) if free else paths.creatable(address.path)
        if not included(root, address.path):
            allowed = ", ".join(root.policy.include or ())
            raise RefusedError(
                f"{root.id} holds only {allowed}.", code="E_NAME", hint="Create the memory in another root."
            )
        if root.policy.include is not None:
            for part in parts:
                problem = paths.name_problem(part.lstrip(".") or part)
                if problem is not None:
                    raise RefusedError(f"The name {address.path!r} is refused: {problem[1]}.", code=problem[0])
        reserved = root.policy.any_name and any(part.startswith(paths.TEMP_PREFIX) for part in parts)
        if reserved or paths.matches(parts[-1], root.policy.ignore):
            raise RefusedError(
                f"{'memtui' if reserved else root.agent} keeps its own records under the name {parts[-1]!r}.",
                code="E_RESERVED",
                hint="Choose another name.",
            )

    def check_room(self, site: Site, root: Root) -> None:
        """Refuse one memory more than the layout allows."""
        limit = root.policy.max_files
        try:
            full = limit is not None and _count(site.handle.fd, limit) >= limit
        except OSError as error:
            raise paths.translate(error, f"Counting the memories of {root.id}") from error
        if full:
            raise RefusedError(
                f"{root.id} is full: it holds {limit:,} memories.",
                code="E_TOO_MANY",
                hint="Delete or move some that are not needed.",
                details={"limit": limit},
            )


class EnginePart:
    """A part of an engine, with what it works with."""

    def __init__(self, roots: Roots, ledger: Ledger, rules: Rules, events: Events) -> None:
        """Take the roots, the ledger, what may be changed, and who is told of it."""
        self._roots = roots
        self._ledger = ledger
        self._rules = rules
        self._events = events


def encode(text: str | bytes, root: Root, address: Address) -> bytes:
    """The bytes of a text, within the root's limit.

    Raises:
        RefusedError: `E_TEXT`, `E_TOO_BIG`.
    """
    if isinstance(text, str):
        try:
            data = text.encode()
        except UnicodeEncodeError as error:
            raise RefusedError(
                f"The text for {address} holds a character that has no UTF-8 form, at position {error.start}.",
                code="E_TEXT",
                hint="Remove it.",
            ) from None
    else:
        data = text
    if len(data) > root.policy.write_bytes:
        raise too_big(address, len(data), root.policy.write_bytes)
    return data


def mode(root: Root) -> int | None:
    """Private, except where the file is meant to be committed and shared."""
    return 0o644 if root.in_checkout else None


def too_big(address: Address, size: int, limit: int) -> RefusedError:
    """The refusal of a text that is over its root\'s limit; sizes in bytes."""
    return RefusedError(
        f"{address} would have {size:,} bytes; the limit of this root is {limit:,}.",
        code="E_TOO_BIG",
        hint="Split it into several memories.",
        details={"limit": limit, "bytes": size},
    )


def _count(folder: int, limit: int, depth: int = paths.MAX_COMPONENTS) -> int:
    """Memories below a folder, counted until the limit; a folder that cannot be looked into counts for nothing."""
    total = 0
    for entry in fsio.list_dir(folder):
        if entry.name[0] == ".":
            continue
        if entry.is_dir(follow_symlinks=False):
            if depth > 1:  # no memory lies deeper
                with suppress(OSError), fsio.closing(fsio.open_dir(folder, entry.name)) as below:
                    total += _count(below, limit - total, depth - 1)
        else:
            total += 1
        if total >= limit:
            break
    return total
