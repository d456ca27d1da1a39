"""memtui's own memory tool: the six commands over `/memories/{global,project,workspace}/…`, for one actor.

Checks run in a fixed order: arguments, paths, disk. Every failure is a result with a sentence that says what to do.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress

from memtui import mask
from memtui.engine import Engine
from memtui.engine.look.library import FolderItem, FolderItems
from memtui.engine.model import Actor, Address, Conflict, Done, Outcome, Root, Unchanged
from memtui.errors import ConflictError, MemtuiError, NotFoundError
from memtui.memory_tool import call
from memtui.memory_tool.call import (
    CHAT,
    MAX_BYTES,
    ROOT,
    SCOPES,
    Refusal,
    Request,
    Result,
    VirtualPath,
    about,
    is_text,
    parse_path,
    reachable,
    read_request,
    rights,
    sendable,
    shown,
)

DEPTH = 2
NOT_TEXT = "(This is not UTF-8 text: what could not be read is shown as �, and it cannot be edited here.)"
NAMES = 1_000
"""Names shown of one directory."""

MEMORIES = "memories"
"""A folder that contains memories."""
EMPTY = "empty"
"""A folder that contains only empty folders."""
OTHERS = "others"
"""A folder that contains only other things, such as hidden files."""
FOLDERS = (MEMORIES, EMPTY, OTHERS)
NOTHING = ""

_MASKED = (
    f"{call.FAILED}a part of {{path}} that you see as {mask.BEGIN}...] is a secret of the user's,"
    " and this would change it (E_MASKED). Nothing was changed; edit the text around it, or ask the user"
)
_TRIES = 8
_PAUSE = 0.02
"""Seconds before the first retry after a conflict, doubled each time."""
_UNAVAILABLE = {
    "global": "this session has no global memory folder",
    "project": "no project is associated with this session",
    "workspace": "no workspace is associated with this session",
    CHAT: "no chat is associated with this session",
}


def answer(engine: Engine, actor: Actor, given: Mapping[str, object]) -> Result:
    """Answer one call; see `ScopedTool`."""
    return ScopedTool(engine, actor).call(given)


class ScopedTool:
    """The tool of one actor; thread-safe."""

    def __init__(self, engine: Engine, actor: Actor) -> None:
        self._engine = engine
        self._actor = actor

    def call(self, given: Mapping[str, object]) -> Result:
        """Answer one call; a failure is a result too."""
        try:
            request = read_request(given)
            return Result(ok=True, text=sendable(mask.shown(self._run(request))))
        except Refusal as refusal:
            return Result(ok=False, text=sendable(mask.shown(refusal.text)))

    def _run(self, request: Request) -> str:
        match request.command:
            case "view":
                return self._view(parse_path(request.path), request)
            case "create":
                return self._create(self._target(request.path), request.file_text)
            case "str_replace":
                return self._str_replace(self._target(request.path), request.old_str, request.new_str)
            case "insert":
                return self._insert(self._target(request.path), request.insert_line, request.insert_text)
            case "delete":
                return self._delete(self._target(request.path))
        return self._rename(request.old_path, request.new_path)

    # --- paths

    def _target(self, given: str) -> VirtualPath:
        """Check the rights to change a path, then that it lies below a scope."""
        place = self._permitted(given)
        if not place.parts:
            raise Refusal(
                f"'{shown(given)}' is a directory; this command requires a file path under /memories/<scope>/"
            )
        return place

    def _permitted(self, given: str) -> VirtualPath:
        place = parse_path(given)
        if place.scope is not None:
            root = self._find(place.scope) or Root("", "", scope=place.scope)
            level = self._engine.access.level(root)
            if (level != "off" and not self._engine.access.allows(root)) or root.read_only:
                raise Refusal(call.read_only(place.scope, self._writable))
        return place

    @property
    def _writable(self) -> tuple[str, ...]:
        return rights(self._engine).writable

    def _find(self, scope: str) -> Root | None:
        with suppress(NotFoundError):  # a scope that is not there has its own sentence, when it is needed
            return self._engine.roots.find(f"memtui:{scope}")
        return None

    def _root(self, place: VirtualPath) -> Root:
        scope = place.scope or "global"
        root = self._find(scope)
        if root is None:
            raise Refusal(f"{scope.capitalize()} memory is unavailable: {self._why_not(scope)}")
        return root

    def _why_not(self, scope: str) -> str:
        off = self._engine.access.level(Root("", "", scope=scope)) == "off"
        return "it is switched off for this agent" if off else _UNAVAILABLE[scope]

    def _virtual(self, address: Address) -> str:
        return self._engine.roots.virtual_path(address) or ROOT

    def _address(self, place: VirtualPath) -> Address:
        return Address(self._root(place).id, place.path)

    # --- commands

    def _view(self, place: VirtualPath, request: Request) -> str:
        if place.scope is None:
            return self._everything()
        if not place.parts:
            return self._directory(place)
        address = self._address(place)
        try:
            data = self._engine.read_bytes(address)
        except MemtuiError as error:
            now = at(self._engine, address) if error.code == "E_NOT_REGULAR" else "file"
            if now in FOLDERS:
                return self._directory(place)
            if now == NOTHING:
                raise Refusal(place.doubt or about(call.MISSING, place)) from None
            raise self._refusal(error, place) from None
        if len(data) > MAX_BYTES and request.limit is None:
            raise Refusal(about(call.OVER_CAP, place))
        text = numbered(mask.shown_bytes(data), request.offset, request.limit)
        if len(data) > MAX_BYTES and len(text.encode()) > MAX_BYTES:
            raise Refusal(about(call.OVER_CAP, place))
        self._used(address, wrote=False)
        return text

    def _everything(self) -> str:
        lines = [f"Directory: {ROOT}"]
        for scope in (*SCOPES, CHAT) if self._find(CHAT) else SCOPES:
            lines.append(f"- {scope}/")
            if self._find(scope) is None:
                lines.append(f"  (unavailable: {self._why_not(scope)})")
            else:
                lines += self._names(VirtualPath("", scope), depth=1, indent=1)
        return "\n".join(lines)

    def _directory(self, place: VirtualPath) -> str:
        lines = self._names(place, depth=DEPTH, indent=0)
        return "\n".join([f"Directory: {place.canonical}", *lines])

    def _names(self, place: VirtualPath, *, depth: int, indent: int) -> list[str]:
        try:
            found = self._engine.folders.items(self._root(place).id, place.path, depth=depth)
        except MemtuiError as error:
            if error.code == "E_ROOT_MISSING" and not place.parts:
                return []  # nothing was written there yet
            raise self._refusal(error, place) from None
        return names(found, indent=indent)

    def _create(self, place: VirtualPath, text: str) -> str:
        if place.doubt:
            raise Refusal(place.doubt)
        data = _written(text)
        _check_size(data)
        address = self._address(place)
        try:
            done = self._engine.memories.create(address, data, actor=self._actor)
        except MemtuiError as error:
            if error.code == "E_EXISTS":
                raise Refusal(call.taken(place, directory=is_folder(self._engine, address))) from None
            raise self._refusal(error, place, making=True) from None
        if isinstance(done, Unchanged):
            raise Refusal(call.taken(place, directory=False))
        self._used(address, wrote=True)
        return f"Created {place.canonical}"

    def _str_replace(self, place: VirtualPath, old: str, new: str) -> str:
        if not old:
            raise Refusal("old_str must not be empty")
        wanted, put = _encoded(old), _written(new)

        def change(data: bytes) -> bytes:
            try:
                return call.str_replace(data, wanted.decode(), put.decode())
            except call.NotUnique as error:
                call.check_masks(data, data, old)
                raise Refusal(_not_unique(error.matches, place)) from None

        self._edit(place, change)
        return f"Edited {place.canonical}"

    def _insert(self, place: VirtualPath, line: int, text: str) -> str:
        added = _written(text).decode()
        inserted = 0

        def change(data: bytes) -> bytes:
            nonlocal inserted
            try:
                after, inserted = call.insert(data, line, added)
            except call.NoSuchLine as error:
                raise Refusal(
                    f"insert_line must be between 0 and {error.last} (0 inserts at the top; N inserts after line N)"
                ) from None
            return after

        self._edit(place, change)
        return f"Inserted {inserted} line(s) into {place.canonical} after line {line}"

    def _edit(self, place: VirtualPath, change: Callable[[bytes], bytes]) -> None:
        """Change a memory under the engine's lock, with retries after conflicts."""

        def checked(data: bytes) -> bytes:
            try:
                after = change(data)
                call.check_masks(data, after)
            except call.NotText:
                raise Refusal(about(call.NOT_TEXT, place)) from None
            except call.SecretTouched:
                raise Refusal(about(_MASKED, place)) from None
            except Refusal:
                if len(data) > MAX_BYTES:
                    raise Refusal(about(call.OVER_CAP, place)) from None
                raise
            if len(data) > MAX_BYTES < len(after):
                raise Refusal(about(call.OVER_CAP, place))
            _check_size(after)
            return after

        address = self._address(place)
        for attempt in range(_TRIES):
            try:
                done = self._engine.memories.edit(address, checked, actor=self._actor)
            except MemtuiError as error:
                if error.code == "E_NOT_REGULAR" and is_folder(self._engine, address):
                    raise Refusal(about(call.IS_DIRECTORY, place)) from None
                if error.code in _GONE or (error.code == "E_NOT_REGULAR" and not at(self._engine, address)):
                    raise Refusal(place.doubt or about(call.NO_FILE, place)) from None
                raise self._refusal(error, place) from None
            if not isinstance(done, Conflict):
                self._used(address, wrote=True)
                return
            if done.current_sha256 is None and attempt:
                raise Refusal(about(call.NO_FILE, place))
            _pause(attempt)
        raise Refusal(about(call.UNSTEADY, place))

    def _delete(self, place: VirtualPath) -> str:
        address, some_gone = self._address(place), False
        for attempt in range(_TRIES):
            try:
                done = self._engine.memories.delete([address], actor=self._actor)
            except MemtuiError as error:
                raise self._refusal(error, place) from None
            failed = [outcome for outcome in done.outcomes if not outcome.ok]
            errors = [outcome.error for outcome in failed if outcome.error is not None]
            whole = [outcome.address for outcome in done.outcomes] == [address]
            gone = bool(failed) and len(errors) == len(failed) and all(error.code in _GONE for error in errors)
            if not failed or (gone and whole and some_gone):
                return f"Deleted {place.canonical}"
            if errors and errors[0].code == "E_TOO_BIG":
                raise Refusal(about(call.TOO_BIG_TO_KEEP, place._replace(given=self._virtual(failed[0].address))))
            if gone and not whole:
                some_gone = True  # somebody else deleted a part of it: whether there is more is seen in the next round
            elif errors and whole:
                self._check_retry(errors[0], address, place)
            elif errors:
                raise Refusal(self._partly(place, done, failed))
            _pause(attempt)
        raise Refusal(about(call.UNSTEADY, place))

    def _check_retry(self, error: MemtuiError, address: Address, place: VirtualPath) -> None:
        """Return when a folder operation should be retried after concurrent changes; else refuse."""
        now = at(self._engine, address)
        if error.code != "E_NOT_REGULAR" or now in ("file", "link", "other"):
            raise self._refusal(error, place)
        if now == OTHERS:
            raise Refusal(about(call.NO_MEMORIES, place))

    def _partly(self, place: VirtualPath, done: Done, failed: list[Outcome]) -> str:
        error = failed[0].error
        stuck = place._replace(given=self._virtual(failed[0].address))
        why = call.failed(error, stuck, self._writable) if error is not None else about(call.UNSTEADY, stuck)
        return f"Deleted {len(done.outcomes) - len(failed)} of {len(done.outcomes)} files in {place.canonical}. {why}"

    def _rename(self, old_path: str, new_path: str) -> str:
        old, new = self._target(old_path), self._target(new_path)
        if old.scope != new.scope:
            raise Refusal(
                f"Cannot rename across memory scopes ({old.scope} -> {new.scope});"
                " create the file in the target scope instead"
            )
        if new.doubt:
            raise Refusal(new.doubt)
        source, target = self._address(old), self._address(new)
        if source == target:
            raise Refusal(f"Destination {shown(new.given)} already exists")
        if new.path.startswith(old.path + "/") and is_folder(self._engine, source):
            raise Refusal(
                f"Cannot rename {shown(old.given)} to {shown(new.given)}: a directory cannot be moved inside itself"
            )
        for attempt in range(_TRIES):
            try:
                done = self._engine.memories.rename(source, target, actor=self._actor)
            except ConflictError as error:
                if error.code == "E_EXISTS":
                    raise Refusal(f"Destination {shown(new.given)} already exists") from None
                raise self._refusal(error, new) from None
            except NotFoundError:
                self._check_missing(source, target, old, new)
                _pause(attempt)
                continue
            except MemtuiError as error:
                self._check_retry(error, source, new if error.code in call.NAME_CODES else old)
                _pause(attempt)
                continue
            if all(outcome.ok for outcome in done.outcomes):
                if done.outcomes[0].address == source:
                    self._used(target, wrote=True)
                return f"Renamed {old.canonical} to {new.canonical}"
            _pause(attempt)
        raise Refusal(about(call.UNSTEADY, old))

    # --- failures

    def _check_missing(self, source: Address, target: Address, old: VirtualPath, new: VirtualPath) -> None:
        """Refuse with what is missing, the source or a folder of the target; return when neither is any more."""
        now = at(self._engine, source)
        if now in (NOTHING, EMPTY):
            raise Refusal(old.doubt or about(call.MISSING, old))
        if now == OTHERS:
            raise Refusal(about(call.NO_MEMORIES, old))
        if is_blocked(self._engine, target):
            raise Refusal(old.doubt or _file_above(new))

    def _refusal(self, error: MemtuiError, place: VirtualPath, *, making: bool = False) -> Refusal:
        if error.code in _GONE:
            if place.doubt:
                return Refusal(place.doubt)
            if making:
                return Refusal(_file_above(place))
        return Refusal(call.failed(error, place, self._writable))

    def _used(self, address: Address, *, wrote: bool) -> None:
        """Record a use; an unwritable ledger must not make a memory unreadable."""
        with suppress(MemtuiError):
            self._engine.pins.record_use(address, actor=self._actor, wrote=wrote, soon=True)


_GONE = ("E_NOT_FOUND", "E_ROOT_MISSING")


def _file_above(place: VirtualPath) -> str:
    return f"Cannot create {shown(place.given)}: part of its path is a file, not a directory"


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise Refusal(
            f"{call.FAILED}the text holds a character that has no UTF-8 form, at position {error.start}; remove it"
        ) from None


def _written(text: str) -> bytes:
    """Encode a text to be stored; a NUL would make the file uneditable."""
    if "\0" in text:
        at = text.index("\0")
        raise Refusal(f"{call.FAILED}the text holds a NUL character, at position {at}; remove it")
    return _encoded(text)


def _check_size(data: bytes) -> None:
    if len(data) > MAX_BYTES:
        raise Refusal(
            f"Memory files are limited to {MAX_BYTES} bytes (got {len(data)}); split the content into smaller files"
        )


def _not_unique(matches: call.Matches, place: VirtualPath) -> str:
    if not matches.times:
        return f"No replacement was performed: old_str was not found in {shown(place.given)}"
    return (
        f"No replacement was performed: old_str matches {matches.times} locations"
        f" (lines {', '.join(map(str, matches.lines))}) in {shown(place.given)}. Provide a longer, unique old_str."
    )


def _pause(attempt: int) -> None:
    time.sleep(min(_PAUSE * 2**attempt, 0.5))


def at(engine: Engine, address: Address) -> str:
    """Return what is at an address: `file`, `link`, `other`, or a folder state."""
    kind = _kind(engine, address)
    if kind != "folder":
        return kind
    try:
        items = engine.folders.items(address.root, address.path).items
    except MemtuiError:
        return NOTHING
    if any(item.shown and item.filled for item in items):
        return MEMORIES
    return OTHERS if any(item.kind != "folder" or not item.shown for item in items) else EMPTY


def is_folder(engine: Engine, address: Address) -> bool:
    """Return whether a folder is at an address."""
    return at(engine, address) in FOLDERS


def is_blocked(engine: Engine, address: Address) -> bool:
    """Return whether a non-folder is in the path of an address."""
    names = address.path.split("/")[:-1]
    above = [Address(address.root, "/".join(names[: count + 1])) for count in range(len(names))]
    return any(_kind(engine, one) in ("file", "link", "other") for one in above)


def _kind(engine: Engine, address: Address) -> str:
    try:
        return engine.folders.kind(address)
    except MemtuiError:
        return NOTHING


def numbered(data: bytes, offset: int, limit: int | None) -> str:
    """Number the lines from `offset` (1 is the first), split at LF only; raises Refusal beyond the end."""
    lines = data.decode("utf-8", "replace").split("\n")
    if offset > len(lines):
        raise Refusal(f"offset {offset} is beyond the end of the file ({len(lines)} lines)")
    if not data:
        return ""
    end = len(lines) if limit is None else min(len(lines), offset - 1 + limit)
    shown = [f"{number}\t{line}" for number, line in enumerate(lines[offset - 1 : end], offset)]
    if not is_text(data):
        shown.append(NOT_TEXT)
    return "\n".join(shown)


def names(found: FolderItems, *, indent: int = 0) -> list[str]:
    """Format the names of a directory, indented by level, with a slash after folders.

    Hidden names, links and folders without files are left out. Over the limit the deepest names go first; a last line
    counts what is missing.
    """
    lines: list[tuple[int, str]] = []
    strange = 0
    hidden: set[str] = set()
    for item in found.items:
        above, _, name = item.path.rpartition("/")
        if above in hidden or not _listed(item):
            hidden.add(item.path)
        elif not reachable(name):
            strange += 1
            hidden.add(item.path)
        else:
            level = indent + item.path.count("/")
            lines.append((level, f"{'  ' * level}- {name}{'/' if item.kind == 'folder' else ''}"))
    kept = sorted(sorted(range(len(lines)), key=lambda place: lines[place][0])[:NAMES])
    shown = [lines[place][1] for place in kept]
    left = len(lines) - len(shown) + found.left_out
    if left:
        shown.append(f"{'  ' * indent}({left:,} more not shown: view a directory further in to list it)")
    if strange:
        shown.append(f"{'  ' * indent}({strange:,} with a name that cannot be used here)")
    return shown


def _listed(item: FolderItem) -> bool:
    return item.shown and item.filled and item.kind in ("memory", "folder")
