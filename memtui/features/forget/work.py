"""Forgetting: what can be forgotten, the task that does it, and `memtui forget`, which always shows a preview first.

Entries of files that hold several, else whole memories, are found by words or by id. Bullet lists count as entries only
in files with nothing else, so that no line loses what belongs to it. A query only finds; ids are removed, or proposed
when an agent asks. A file goes only when it is chosen whole or emptied, and pointers to it follow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import normalize

from memtui.diff.differences import unified_file
from memtui.engine import now_ms
from memtui.engine.disk import paths
from memtui.engine.find.finder import given_text, given_texts
from memtui.engine.frontmatter import read as frontmatter
from memtui.engine.model import Address, Memory, Remove, Root, Step, Write, is_person
from memtui.engine.proposal import Evidence, Proposal
from memtui.errors import ConflictError, MemtuiError, NotFoundError, RefusedError, UsageError
from memtui.features.entries import model
from memtui.features.entries.model import TITLE, Entry, EntryFile, exact, find, parse, read_name
from memtui.features.proposals.value import judge_all, proposal
from memtui.features.tasks.lanes import refuse_off
from memtui.features.tasks.work import TaskContext, TaskPlan, result_json
from memtui.given.reach import texts, withheld
from memtui.mask import shown, shown_parts
from memtui.matching import holds_all
from memtui.pointers import references
from memtui.pointers.lines import is_text
from memtui.pointers.references import is_index
from memtui.telemetry import tell
from memtui.wire import outcomes, results, values
from memtui.wire.access import client_access
from memtui.wire.call import Call
from memtui.wire.outcomes import Json
from memtui.wire.output import Column

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.features.entries.model import EntryFile

BULLETS = "bullets"
"""Format of a file with only headings and a list."""
_ITEM, _HEADING = re.compile(rb"[-*] "), re.compile(rb"#{1,6} ")
_REASON = re.compile(rb"(?:\*\*)?(?:why|how[ _]to[ _]apply)(?:\*\*)?:", re.IGNORECASE)
_EMPTY = b"_No entries yet._"
_ID = re.compile(r"(.+)#([0-9]{1,9}@[0-9a-f]{6,64})")


class Candidate(NamedTuple):
    """An entry or whole memory that may be forgotten."""

    address: Address
    entry: Entry | None
    line: int
    text: str
    sha256: str
    said: str
    """The text that the caller may know; a person may know all."""
    stays: str = ""

    @property
    def id(self) -> str:
        """The address, with `#` and the entry's name for an entry."""
        return f"{self.address}#{self.entry.name}" if self.entry else str(self.address)

    @property
    def title(self) -> str:
        """First words on one line, with secrets masked."""
        if self.entry is not None and self.said == self.text:
            return self.entry.title
        data = shown(self.said).encode("utf-8", "replace")
        about = frontmatter.describe(data)
        lines = data[frontmatter.split(data).body :].decode().splitlines()
        first = (line.strip() if self.entry is None else line.strip().lstrip("-*+# ") for line in lines)
        return about.description or about.name or next(filter(None, first), "")[:TITLE]


def entries_of(root: Root, path: str, data: bytes) -> EntryFile | None:
    """Split a memory into entries; None when it is a single one."""
    kind = model.format_of(root, path)
    if kind is not None:
        return parse(data, kind)
    entries = bullets(data)
    return EntryFile(BULLETS, data, entries) if len(entries) > 1 else None


def bullets(data: bytes) -> tuple[Entry, ...]:
    """Return the items of a list with their indented lines and reasons; empty when the file holds more."""
    spans: list[tuple[int, int]] = []
    at, open_ = frontmatter.split(data).body, False
    for raw in data[at:].splitlines(keepends=True):
        line = raw.rstrip()
        end = at + len(raw.rstrip(b"\r\n"))
        if _ITEM.match(line):
            spans.append((at, end))
            open_ = True
        elif open_ and line and (raw.startswith((b"  ", b"\t")) or _REASON.match(line)):
            spans[-1] = (spans[-1][0], end)
        elif _HEADING.match(line) or line == _EMPTY:
            open_ = False
        elif line:
            return ()
        at += len(raw)
    return tuple(
        Entry(
            number,
            start,
            end,
            data.count(b"\n", 0, start) + 1,
            part.decode("utf-8", "replace").splitlines()[0][2:].strip()[:TITLE],
            sha256(data[start:end]).hexdigest(),
        )
        for number, ((start, end), part) in enumerate(zip(spans, shown_parts(data, spans), strict=True), start=1)
    )


def search(
    engine: Engine, roots: Sequence[Root], query: str, *, person: bool = False, cancelled: Callable[[], bool] = bool
) -> tuple[Candidate, ...]:
    """Find what contains all words of a query literally, or only what contains the query itself.

    Only a `person` finds withheld or private text. Raises `E_QUERY` for an empty query.
    """
    plain = sorted(_plain(query).split(), key=len, reverse=True)
    words = [_pattern(word) for word in plain]
    if not words:
        raise UsageError("Nothing says what to forget.", code="E_QUERY", hint="Give words that it says, or --id.")
    whole = _pattern(_plain(query))
    found = []
    hidden = withheld(engine, person=person)
    for root, row, data in texts(engine, roots, cancelled=cancelled):
        told = not is_index(root, row.address.path) and not hidden(row.address, row.sha256)
        here = told and holds_all(data, plain)
        for one in _candidates(root, row, data, person=person) if here else ():
            text = _plain(one.said)
            if all(word.search(text) for word in words):
                found.append((one, text))
    exact = [one for one, text in found if whole.search(text)]
    return tuple(exact or (one for one, _ in found))


def named(engine: Engine, ids: Iterable[str], *, person: bool = False) -> tuple[Candidate, ...]:
    """Find candidates by id, each once; raises NotFoundError or EntryGoneError."""
    found: dict[str, Candidate] = {}
    hidden = withheld(engine, person=person)
    for text in ids:
        match = _ID.fullmatch(text)
        address = engine.roots.resolve(match[1] if match else text)
        root = engine.roots.find(address.root)
        row = engine.rows.get(address)
        if hidden(address, row.sha256):
            raise NotFoundError(f"There is no memory {address}.", hint="`memtui ls` lists what there is.")
        data = engine.read(address).bytes
        file = entries_of(root, address.path, data) if match else None
        if match and file is None:
            raise NotFoundError(f"{address} is one entry by itself.", hint=f"Name it by its address: --id {address}")
        entry = find(file, read_name(match[2])) if match and file else None
        one = _candidate(root, row, data, entry, _given(data, person=person))
        found.setdefault(one.id, one)
    return tuple(found.values())


def _given(data: bytes, *, person: bool) -> list[str] | None:
    """Return the lines of a file without private text; None when the caller may know all."""
    text = data.decode("utf-8", "replace")
    given = text if person else given_text(text)
    return None if given is text else given.split("\n")


def _candidates(root: Root, row: Memory, data: bytes, *, person: bool) -> Iterator[Candidate]:
    given = _given(data, person=person)
    file = entries_of(root, row.address.path, data)
    if file is not None:
        yield from (_candidate(root, row, data, entry, given) for entry in file.entries)
    elif root.kind == "memories":  # files of instructions are people's own: they lose lines, and never go by a word
        yield _candidate(root, row, data, None, given)


def _candidate(root: Root, row: Memory, data: bytes, entry: Entry | None, given: list[str] | None) -> Candidate:
    text = (data[entry.start : entry.end] if entry else data).decode("utf-8", "replace")
    line = entry.line if entry else 1
    said = text if given is None else "\n".join(given[line - 1 : line + text.count("\n")])
    stays = ""
    if row.pinned:
        stays = "it is pinned"
    elif root.policy.is_index(row.address.path) or is_index(root, row.address.path):
        stays = "it is an index, whose lines go with the memories they name"
    elif paths.matches(row.address.path, root.policy.protected):
        stays = "its agent's layout protects it"
    elif not is_text(data):
        stays = "it is not UTF-8 text"
    elif root.read_only:
        stays = f"{root.id} is read-only"
    return Candidate(row.address, entry, line, text, sha256(data).hexdigest(), said, stays)


def _plain(text: str) -> str:
    return " ".join(normalize("NFKC", text).casefold().split())


def _pattern(words: str) -> re.Pattern[str]:
    """Return a literal pattern that matches ASCII words only whole."""
    before = r"(?<!\w)" if words[:1].isascii() and words[:1].isalnum() else ""
    behind = r"(?!\w)" if words[-1:].isascii() and words[-1:].isalnum() else ""
    return re.compile(f"{before}{re.escape(words)}{behind}")


# --- the task


MAX_ITEMS = 100
_LINE_END = re.compile(rb"[ \t]*(?:\r\n|\n|\r)")


def forget(context: TaskContext) -> TaskPlan:
    """Plan a task with `query` or `ids`, `scope` and `apply`; raises as `named` and `plan_forget`."""
    task, engine, roots = context.task, context.engine, context.roots
    person = is_person(task.client)
    if not person:
        access = client_access(context.settings, task.client)
        roots = tuple(filter(access.shows, roots))
    scope = {"user": "global"}.get(str(task.request.get("scope")), task.request.get("scope"))
    here = {root.id: root for root in roots if scope in (None, root.scope)}
    given = task.request.get("ids")
    ids = [str(one) for one in given] if isinstance(given, list) else []
    applies = task.request.get("apply") is True
    if applies and not ids:
        raise UsageError("Only what ids name is forgotten.", hint="Ask without `apply` first: the result has the ids.")
    if ids:
        found = tuple(one for one in named(engine, ids, person=person) if one.address.root in here)
    else:
        words = str(task.request.get("query") or "")
        found = search(engine, tuple(here.values()), words, person=person, cancelled=context.cancelled)
    wanted = plan_forget(engine, found[:MAX_ITEMS] if not applies else found)
    if not applies or not wanted.steps:
        return TaskPlan(result=_result(context, wanted, "found", f"{len(found):,} found.", found))
    if task.client.startswith("agent:"):
        said = f"{wanted.label} is proposed; a person decides."
        suggested = (suggestion(engine, wanted, task.client),)
        return TaskPlan(result=_result(context, wanted, "proposed", said, found), proposals=suggested)
    result = _result(context, wanted, "forgotten", f"{wanted.label.capitalize()}.", found)
    return TaskPlan(wanted.steps, label=wanted.label, result=result)


def suggestion(engine: Engine, wanted: ForgetPlan, by: str) -> Proposal:
    """Return an agent's request as a proposal, not stored."""
    whole = any(isinstance(step, Remove) for step in wanted.steps)
    why = f"{by} wants this forgotten: {'; '.join(one.id for one in wanted.going)}"
    evidence = [Evidence("memory", str(one.address), one.sha256, str(one.line), one.title) for one in wanted.going]
    made = proposal(engine, "remove" if whole else "replace", wanted.steps, by, why, evidence)
    return judge_all(engine, (made,))[0]


def _result(
    context: TaskContext, wanted: ForgetPlan, outcome: str, summary: str, found: Sequence[Candidate]
) -> dict[str, object]:
    """Extend `result_json` by `items`, `more` (how many are not listed) and `left` (remaining mentions)."""
    goes = outcome == "forgotten"
    addresses = [one.address for one in wanted.going] if goes else []
    written = {step.address: "changed" for step in wanted.steps if goes}
    return {
        **result_json(context, summary, outcome, addresses, written),
        "items": [item_json(one) for one in (*wanted.going, *wanted.staying)],
        "more": len(found) - len(wanted.going) - len(wanted.staying),
        "left": wanted.rest,
    }


def item_json(one: Candidate) -> dict[str, object]:
    """Return a candidate as JSON."""
    return {
        "id": one.id,
        "address": str(one.address),
        "entry": one.entry.name if one.entry else None,
        "line": one.line,
        "title": one.title,
        "stays": one.stays or None,
    }


# --- what is written


class Forgotten(NamedTuple):
    """A changed memory."""

    address: Address
    before: bytes
    sha256: str
    """Of `before`."""
    after: bytes | None
    """None: it goes to the trash."""

    @property
    def step(self) -> Remove | Write:
        """The change as an engine step."""
        if self.after is None:
            return Remove(self.address, self.sha256)
        return Write(self.address, self.after, self.sha256)


class ForgetPlan(NamedTuple):
    """What would go."""

    going: tuple[Candidate, ...]
    staying: tuple[Candidate, ...]
    """Chosen candidates that cannot go."""
    changes: tuple[Forgotten, ...] = ()
    also: str = ""
    """What follows, for people: `2 links updated`."""
    rest: str = ""

    @property
    def steps(self) -> tuple[Step, ...]:
        """The changes as engine steps."""
        return tuple(one.step for one in self.changes)

    @property
    def label(self) -> str:
        """The plan in a few words."""
        return f"forget {self.going[0].id}" if len(self.going) == 1 else f"forget {len(self.going):,} entries"


def plan_forget(engine: Engine, chosen: Iterable[Candidate]) -> ForgetPlan:
    """Plan the changes; raises ConflictError, `E_ENTRY` when the rest would be parsed differently, or MemtuiError."""
    wanted = tuple(chosen)
    going = tuple(one for one in wanted if not one.stays)
    staying = tuple(one for one in wanted if one.stays)
    files: dict[Address, list[Candidate]] = {}
    for one in going:
        files.setdefault(one.address, []).append(one)
    changes: dict[Address, Forgotten] = {}
    for address, items in files.items():
        snapshot = engine.read(address)
        if snapshot.sha256 != items[0].sha256:
            raise ConflictError(f"{address} changed meanwhile.", hint="Look at it, and do it again.")
        left = _without(entries_of(engine.roots.find(address.root), address.path, snapshot.bytes), items)
        changes[address] = Forgotten(address, snapshot.bytes, snapshot.sha256, left)
    carried = references.plan(engine, (), [one.address for one in changes.values() if one.after is None])
    for step in carried.steps:  # only indexes follow, and nothing is chosen in those
        before, sha = engine.read(step.address).bytes, step.expected_sha256 or ""
        changes[step.address] = Forgotten(step.address, before, sha, step.data)
    return ForgetPlan(going, staying, tuple(changes.values()), carried.also, carried.rest)


def _without(file: EntryFile | None, items: Sequence[Candidate]) -> bytes | None:
    gone = {one.entry.number: one.entry for one in items if one.entry is not None}
    if file is None or len(gone) < len(items) or len(gone) == len(file.entries):
        return None
    if file.format == BULLETS:
        return _without_bullets(file, gone.keys())
    for number in sorted(gone, reverse=True):  # from the end, so that no number of another one changes
        file = parse(model.without(file, find(file, exact(gone[number]))), file.format)
    return file.data


def _without_bullets(file: EntryFile, gone: Iterable[int]) -> bytes:
    data, numbers = file.data, set(gone)
    for entry in reversed(file.entries):
        if entry.number in numbers:
            behind = _LINE_END.match(data, entry.end)
            data = data[: entry.start] + data[behind.end() if behind else entry.end :]
    kept = [file.text(entry) for entry in file.entries if entry.number not in numbers]
    if [data[one.start : one.end] for one in bullets(data)] != kept:
        raise RefusedError(
            "Without these entries the others would be read otherwise.",
            code="E_ENTRY",
            hint="Edit the whole file with memtui edit.",
        )
    return data


# --- `memtui forget`


MAX_BY_WORDS = 100
_LOOKED_AT = 200
"""Memories searched for older texts to redact."""
OUT_OF_REACH = "Not cleared: agents' own session files, git, bundles and copies elsewhere."


def forget_entries(call: Call) -> int:
    """Preview what matches, and forget what is chosen."""
    args, engine = call.args, call.engine
    ids, words = args.texts("id"), args.texts("query")
    if bool(ids) is bool(words):
        raise UsageError("Say what to forget, by words or by ids.", hint="memtui forget WORDS shows what there is.")
    roots = [root for root in call.session.roots if args.text("scope") in (None, root.scope)]
    person = not call.actor.name.startswith("agent:")
    found = named(engine, ids, person=person) if ids else search(engine, roots, " ".join(words), person=person)
    wanted = plan_forget(engine, found)
    write = bool(ids) or args.flag("yes")
    if write:
        refuse_off(call.settings, "forget")
    if write and not ids and len(wanted.going) > MAX_BY_WORDS:
        raise RefusedError(
            f"{len(wanted.going):,} entries say this; at most {MAX_BY_WORDS} go by words alone.",
            code="E_TOO_MANY",
            hint="Give more words, or --id for each.",
        )
    if not call.out.json:
        _show(call, wanted, person=person)
    if not write or not wanted.steps:
        return _shown(call, wanted, person=person)
    if not person:
        return _proposed(call, wanted)
    return _carry_out(call, wanted)


def _show(call: Call, wanted: ForgetPlan, *, person: bool) -> None:
    columns = (Column("ID"), Column("LINE", "number", optional=True), Column("SAYS", flexible=True))
    chosen = (*wanted.going, *wanted.staying)
    call.out.table(columns, [(one.id, one.line, one.title) for one in chosen])
    for change in wanted.changes if call.out.terminal else ():
        call.out.diff(_diff(change, secrets=call.out.secrets, person=person))
    call.out.flush()
    for one in wanted.staying:
        call.out.say(f"{one.id} stays: {one.stays}.")


def _shown(call: Call, wanted: ForgetPlan, *, person: bool) -> int:
    if call.out.json:
        call.out.document(plan_json(wanted, None, person=person))
    elif not wanted.going:
        call.out.say("Nothing to forget.")
    else:
        count = len(wanted.going)
        what = "it" if count == 1 else f"all {count:,}"
        call.out.say(f"Nothing was changed. --yes forgets {what}, --id ID one of them.")
        results.beside(call.out, wanted.rest)
    return outcomes.DONE


def _carry_out(call: Call, wanted: ForgetPlan) -> int:
    engine, clears, reason = call.engine, call.args.flag("redact"), call.args.text("reason") or ""
    if clears:
        if not reason.strip():
            raise UsageError("Clearing a text for good needs a reason.", hint="Say why with --reason.")
        call.out.say(OUT_OF_REACH)
        call.approve(
            "clear a text for good",
            f"{wanted.label.capitalize()}, and clear every stored version that holds it for good?",
            "in the workbench in its versions (H) by the keys d r",
        )
    began = now_ms()
    done = engine.together.do(wanted.steps, actor=call.actor, label=wanted.label)
    for failed in filter(None, map(results.failure, done.outcomes)):
        raise failed
    fields = {"trigger": "manual", "status": "completed", "patches_count": len(wanted.going)}
    tell(call.settings.telemetry, "forget", (began, now_ms()), fields)
    # Only now: a text that memtui never saw before is stored by the change itself.
    stored = stored_versions(engine, wanted.going) if clears else []
    if stored:
        _redact(call, stored, reason)
    if call.out.json:
        call.out.document(plan_json(wanted, done.txn, person=True) | {"redacted": len(stored)})
        return outcomes.DONE
    for one in wanted.going:
        call.out.line_of("forgot", one.id)
    what = "1 stored version" if len(stored) == 1 else f"{len(stored):,} stored versions"
    beside = f"Cleared {what} for good" if clears else "`memtui undo` takes it back"
    results.beside(call.out, wanted.also, wanted.rest, beside)
    return outcomes.DONE


def _proposed(call: Call, wanted: ForgetPlan) -> int:
    (stored,) = call.engine.proposals.add((suggestion(call.engine, wanted, call.actor.name),))
    if call.out.json:
        answer = {"proposal": stored.id, "state": stored.state, "note": stored.note}
        call.out.document(plan_json(wanted, None, person=False) | answer)
        return outcomes.DONE
    call.out.line_of("proposed", stored.id, *stored.targets)
    results.beside(call.out, stored.note, "An agent runs this command, so a person decides: memtui review")
    return outcomes.DONE


def stored_versions(engine: Engine, going: Iterable[Candidate]) -> list[tuple[Address, str]]:
    """Return the stored versions that contain what goes; of a whole memory, all of them."""
    found: dict[tuple[Address, str], None] = {}
    for one in going:
        whole = one.entry is None
        data = one.text.encode("utf-8", "surrogateescape")
        needle = (data[frontmatter.split(data).body :] if whole else data).strip().lstrip(b"-* ")
        words = " ".join(
            "".join(sign if sign.isalnum() else " " for sign in needle.decode("utf-8", "replace")).split()[:8]
        )
        hits = engine.search.once(words, limit=_LOOKED_AT, versions=True)[0] if words else ()
        for address in dict.fromkeys([one.address, *(hit.memory.address for hit in hits)]):
            mine = address == one.address
            for version in engine.history.of(address):
                if version.redacted or (not mine and _is_current(engine, address, version.sha256)):
                    continue
                if (mine and whole) or needle in engine.history.read(address, version.sha256):
                    found[address, version.sha256] = None
    return list(found)


def _is_current(engine: Engine, address: Address, sha: str) -> bool:
    try:
        return engine.read(address).sha256 == sha
    except MemtuiError:
        return False  # it is not there any more


def _redact(call: Call, versions: Sequence[tuple[Address, str]], reason: str) -> None:
    redaction = call.engine.redaction
    try:
        redaction.redact_all(versions, reason=reason, actor=call.actor)
    except RefusedError as error:
        if error.code != "E_SHARED" or not call.agrees(f"{error.message} Clear it there, too?"):
            error.unharmed = "It is forgotten, and its stored versions stay."
            raise
        redaction.redact_all(versions, reason=reason, actor=call.actor, everywhere=True)
    left = redaction.unerased()
    if left.pending or left.damaged:
        call.out.say("Bytes of it are still to be overwritten; memtui doctor names where.")


def _diff(change: Forgotten, *, person: bool, secrets: bool = False) -> list[str]:
    texts = [change.before, change.after]
    return unified_file(str(change.address), *(texts if person else given_texts(*texts)), secrets=secrets)


def _change_json(change: Forgotten, *, person: bool) -> Json:
    diff = values.text_of(_diff(change, person=person))
    return {"address": str(change.address), "removed": change.after is None, "diff": diff}


def plan_json(wanted: ForgetPlan, txn: str | None, *, person: bool) -> Json:
    """Return a plan as JSON; `txn` is None for a preview."""
    return values.listing(map(item_json, (*wanted.going, *wanted.staying))) | {
        "written": txn is not None,
        "txn": txn,
        "changes": [_change_json(one, person=person) for one in wanted.changes],
        "also": wanted.also,
        "left": wanted.rest,
    }
