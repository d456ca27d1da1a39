"""Remembering: the plan of where a fact goes and what is written, the task that carries it out, and `memtui remember`.

A request of an agent is only proposed. Request and result extend those of Qwen Code's daemon
(`packages/core/src/memory/remember.ts`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from memtui.agents.known.memtui_native import ID as OWN
from memtui.diff.differences import unified_file
from memtui.engine.frontmatter import read as frontmatter
from memtui.engine.model import TYPES, Address, Memory, Root, Step, is_person
from memtui.engine.proposal import Evidence
from memtui.engine.task import ENDED, FAILED, Task
from memtui.errors import MemtuiError, NotFoundError, RefusedError, UsageError
from memtui.features.entries import model
from memtui.features.entries.formats import FORMATS
from memtui.features.entries.model import parse
from memtui.features.feature import load
from memtui.features.proposals.value import judge_all, proposal
from memtui.features.recall.find import recall
from memtui.features.remember.classify import USER, Fact, checked, classify, reason_lines, same, scope_of, split_reasons
from memtui.features.tasks.lanes import refuse_off
from memtui.features.tasks.verbs import waited
from memtui.features.tasks.work import TaskContext, TaskPlan, result_json, workspace_of
from memtui.features.transfer.model import IndexChange, TakenNames, fitted, steps_of
from memtui.features.transfer.plan import MemoryFields, shaped, usual_path
from memtui.features.workers.ask import ask
from memtui.features.workers.prompts import ADD, ReplyOperation, ShownMemory, WorkSlice, prompt, rewritten, shown
from memtui.given.reach import reviewed, texts, withheld
from memtui.matching import holds_all
from memtui.pointers.lines import is_text
from memtui.wire import outcomes, results
from memtui.wire.access import client_access
from memtui.wire.call import Call
from memtui.wire.outcomes import Json

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.model import Address, Root
    from memtui.engine.task import Run, Task
    from memtui.wire.session import Session

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


# --- the task


KIND = "remember"
MAX_CANDIDATES = 5
NONE = "none"
MODES = ("workspace", "clean")
"""Look for a memory that says the same, or always create one."""


def request_of(wanted: RememberRequest, *, secrets: bool = False) -> dict[str, object]:
    """Return the task request; `secrets` as in `checked`."""
    mode = MODES[wanted.clean]
    named = {"scope": wanted.scope, "root": wanted.to, "type": wanted.type}
    kept = {key: value for key, value in named.items() if value}
    return {"content": wanted.text, "contextMode": mode, **kept, **({"secrets": True} if secrets else {})}


def wanted_of(request: Mapping[str, object]) -> RememberRequest:
    """Parse a task request; raises UsageError for a bad field, and as `checked`."""
    content = request.get("content")
    text = checked(content if isinstance(content, str) else "", secrets=request.get("secrets") is True).text
    mode, scope, kind = (str(request.get(key) or "") for key in ("contextMode", "scope", "type"))
    for field, value, known in (("contextMode", mode, MODES), ("scope", scope, SCOPES), ("type", kind, TYPES)):
        if value and value not in known:
            raise UsageError(f"{field} cannot be {value!r}.", hint=f"One of {', '.join(known)}.")
    return RememberRequest(text, scope, str(request.get("root") or ""), kind, mode == "clean")


def enqueue(session: Session, wanted: RememberRequest, *, client: str, secrets: bool = False) -> Task:
    """Queue a request in the project's lane; raises as `TaskTable.enqueue`."""
    lane, request = workspace_of(session.surroundings), request_of(wanted, secrets=secrets)
    return session.engine.tasks.enqueue(KIND, lane.id, client, request, trigger="manual")


def remember(context: TaskContext) -> TaskPlan:
    """Plan a task; raises as `plan_remember`."""
    task, roots = context.task, context.roots
    among = None
    if not is_person(task.client):
        access = client_access(context.settings, task.client)
        roots = tuple(filter(access.shows, roots))
        hidden = withheld(context.engine)
        rows = context.engine.rows.list([root.id for root in roots]).items
        among = [row for row in rows if not hidden(row.address, row.sha256)]
    wanted = wanted_of(task.request)
    found = plan_remember(context.engine, roots, wanted, among=among)
    label = f"remember {found.address}"
    if isinstance(found, Known):
        said = f"{found.address} says it already, in line {found.line}."
        return TaskPlan(label=label, result=_result(context, said, "known", found.address))
    if task.client.startswith("agent:"):
        result = _result(context, f"{found.address} is proposed; a person decides.", "proposed", found.address)
        why = f"{task.client} wants this remembered: {found.fact.description}"
        evidence = (Evidence("request", task.client, quote=wanted.text),)
        made = proposal(context.engine, "add", found.steps, task.client, why, evidence)
        return TaskPlan(label=label, result=result, proposals=judge_all(context.engine, (made,)))
    run, note = None, ""
    # A text with something like a secret in it, which a person keeps, is for nobody else.
    if context.settings.lifecycle_worker != NONE and not task.request.get("secrets"):
        run, better, note = consult(context, roots, wanted, found)
        if better is None:
            said = f"Memories say it already, the worker {run.worker} found; nothing was written."
            return TaskPlan(result=_result(context, said, "known"), run=run)
        found = better
    whats = {one.address: one.what or "new" for one in found.changes}
    written = {step.address: whats[step.address] for step in found.steps}
    result = result_json(context, f"Saved as {found.address}.", "saved", (found.address,), written)
    notes = [*found.notes, *filter(None, (note,))]
    return TaskPlan(found.steps, label=f"remember {found.address}", result={**result, "notes": notes}, run=run)


def _result(context: TaskContext, summary: str, outcome: str, *addresses: Address) -> dict[str, object]:
    return {**result_json(context, summary, outcome, addresses, {}), "notes": []}


def consult(
    context: TaskContext, roots: Sequence[Root], wanted: RememberRequest, found: RememberPlan
) -> tuple[Run, RememberPlan | None, str]:
    """Ask the worker, and return its run, what to write (None: it is known) and a note.

    Scope, root and type of `wanted` win over it, and `found` stands when it fails. Raises `E_NAME` when it names what
    it was not shown; nothing is to be written then.
    """
    engine, worker = context.engine, context.settings.lifecycle_worker
    scope = SCOPES.get(wanted.scope, "")
    root_id = engine.roots.find(wanted.to).id if wanted.to else ""
    here = [root for root in roots if root.id == root_id or (not root_id and scope in ("", root.scope))]
    near = () if wanted.clean else [one.row for one in recall(engine, wanted.text, limit=MAX_CANDIDATES).items]
    seen = shown(engine, here, near, context.settings.lifecycle_private)
    question = prompt("remember", WorkSlice(request=wanted.text), seen)
    asked = ask(context, lambda: (question,), "remember")
    counts = {"shown": len(question.aliases), "operations": len(asked.operations)}
    run = asked.run._replace(counts=counts)
    if asked.error is not None and asked.error.code == "E_NAME":
        engine.tasks.add_run(run)
        raise asked.error
    if not asked.replies:
        why = asked.error.message if asked.error is not None else ""
        return run, found, f"Rules alone decided, because the worker {worker} failed: {why}"
    if not asked.operations:
        return run, None, ""
    ((operation, targets),) = asked.operations
    if operation.op == ADD:
        plan = _placed(engine, roots, wanted, found, operation)
    else:
        plan = _replaced(engine, found, targets[0], operation)
    why = _refused(engine, plan, wanted, operation, worker)
    if why:
        return run, found, f"What the worker {worker} wanted was not done: {why}"
    return run, plan, ""


def _placed(
    engine: Engine, roots: Sequence[Root], wanted: RememberRequest, found: RememberPlan, operation: ReplyOperation
) -> RememberPlan:
    fact = found.fact._replace(
        type=wanted.type or operation.type or found.fact.type,
        slug=operation.name or found.fact.slug,
        description=" ".join(operation.description.split()) or found.fact.description,
    )
    return planned(engine, target(engine, roots, wanted._replace(scope=wanted.scope or operation.scope), fact), fact)


def _replaced(engine: Engine, found: RememberPlan, one: ShownMemory, operation: ReplyOperation) -> RememberPlan:
    reasons = reason_lines(*(" ".join(reason.split()) for reason in (operation.why, operation.how_to_apply)))
    step = rewritten(engine, one, "\n\n".join((operation.text.strip(), *reasons)))
    before = engine.read_bytes(one.address)
    change = IndexChange(one.address, before, step.data, sha256(before).hexdigest(), "changed")
    return RememberPlan(found.fact, one.address, (change,))


def _refused(engine: Engine, plan: RememberPlan, wanted: RememberRequest, operation: ReplyOperation, by: str) -> str:
    evidence = (Evidence("request", "remember", quote=wanted.text),)
    made = proposal(engine, operation.op, plan.steps, by, operation.reason, evidence)
    return judge_all(engine, (made,))[0].note


# --- `memtui remember`


def remember_text(call: Call) -> int:
    """Remember a text."""
    args = call.args
    if args.text("channel") is not None:
        return int(load("memtui.features.channels.verbs:remember")(call))  # which uses this feature
    asked = checked(_text(call))
    wanted = RememberRequest(
        asked.text, args.text("scope") or "", args.text("to") or "", args.text("type") or "", args.flag("clean")
    )
    refuse_off(call.settings, KIND)
    if asked.cut:
        call.out.say(f"Left out: {asked.cut} part{'s' * (asked.cut > 1)} marked as private.")
    if asked.headed:
        call.out.say("Left out: its front matter. Name, type and description are found anew.")
    if wanted.to:
        call.engine.roots.find(wanted.to)  # a root that is not there is refused before anything is queued
    task = enqueue(call.session, wanted, client=call.actor.name)
    if args.flag("wait") or call.out.terminal or call.actor.name.startswith("agent:"):
        task = waited(call.session, task)
    return _answer(call, task)


def _text(call: Call) -> str:
    words = call.args.texts("text")
    if words != ["-"]:
        return " ".join(words)
    call.args.values["source"] = "-"
    try:
        return call.given_text().decode()
    except UnicodeDecodeError as error:
        raise RefusedError(
            f"The text is not UTF-8 at byte {error.start}.", code="E_TEXT", hint="Convert it to UTF-8."
        ) from None


def _answer(call: Call, task: Task) -> int:
    out = call.out
    if task.state == FAILED and task.error is not None and not out.json:
        code, message = task.error
        raise MemtuiError(message, code=code, hint=f"What you gave is kept: memtui tasks retry {task.id}.")
    if out.json:
        out.document(task_json(task))
        return outcomes.DONE if task.state != FAILED or task.error is None else outcomes.EXIT.get(task.error[0], 5)
    if task.state not in ENDED:
        out.line_of("queued", task.id)
        out.say("An open memtui runs it; --wait runs it now.")
        return outcomes.DONE
    found = task.result or {}
    addresses = found.get("addresses")
    first = str(addresses[0]) if isinstance(addresses, list) and addresses else ""
    out.line_of(str(found.get("outcome", task.state)), first)
    if out.terminal and task.txn is not None:
        _show(call, task.txn)
    notes = found.get("notes")
    results.beside(out, *map(str, notes if isinstance(notes, list) else ()))
    results.beside(out, "`memtui undo` takes it back" if task.txn else str(found.get("summary", "")))
    if found.get("proposals"):
        results.beside(out, "An agent runs this command, so a person decides: memtui review")
    return outcomes.DONE


def _show(call: Call, txn: str) -> None:
    history = call.engine.history
    for record in reversed(history.audit(txn=txn)):
        if record.after is None:
            continue
        before = history.read_audited(record.seq, record.before) if record.before else None
        after = history.read_audited(record.seq, record.after)
        call.out.diff(unified_file(str(record.address), before, after, secrets=call.out.secrets))
    call.out.flush()


def task_json(task: Task) -> Json:
    """Return a task with the fields of Qwen Code's daemon."""
    result = None if task.result is None else dict(task.result) | {"undo": task.txn}
    error = None if task.error is None else {"code": task.error[0], "message": task.error[1]}
    return {"taskId": task.id, "status": task.state, "result": result, "error": error}
