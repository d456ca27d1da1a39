"""Roots and memories: list, read, make, save, move to the trash."""

import os
from collections.abc import Callable
from typing import Any

from memtui.engine.model import BROUGHT, Memory, RootStatus
from memtui.errors import NotFoundError
from memtui.features.feature import GRAVE_WORDS, load
from memtui.given.reach import WITHHELD, given_description, withheld
from memtui.ui.draw.text import count_words
from memtui.wire import outcomes, places, results, values
from memtui.wire.call import Call
from memtui.wire.output import Column

_ADDRESS = Column("ADDRESS", flexible=True, names=True)


def roots(call: Call) -> int:
    """List the roots, or review what waits in one."""
    chosen = call.args.text("accept")
    if chosen is not None:
        count = _accept(call, chosen)
        call.out.fact(
            {"accepted": call.engine.roots.find(chosen).id, "reviewed": count},
            f"accepted {chosen}: {count_words(count, 'version')} reviewed",
        )
        return outcomes.DONE
    if call.args.flag("names") and not call.out.json:
        for each in call.session.roots:
            call.out.line(each.id)
        return outcomes.DONE
    from memtui.features.memories.unseen import Unseen, look

    found = call.engine.rows.status()
    unseen = look(call.session.surroundings, call.session.roots) if not call.session.options.only_roots else Unseen()
    if call.out.json:
        listed = values.listing(values.root(status) for status in found)
        folders = [{"path": one.path, "agent": one.agent or None, "option": one.option} for one in unseen.folders]
        call.out.document({**listed, "in_no_root": folders, "in_no_root_ended": unseen.ended or None})
        return outcomes.DONE
    call.out.table(
        (
            Column("ROOT"),
            Column("FILES", "number"),
            Column("SIZE", "size", optional=True),
            Column("STATE"),
            Column("PATH", flexible=True),
        ),
        [(status.root.id, status.files, status.bytes, _state(status), status.root.path) for status in found],
    )
    for status in found:
        for problem in status.problems:
            if problem.code == "unreviewed":
                call.out.say(f"{status.root.id} came with a checkout: memtui roots --accept {status.root.id}")
            else:
                call.out.say(f"{status.root.id}: {problem.text} [{problem.code}]")
    for one in unseen.folders:
        call.out.say(one.words)
    if unseen.ended and call.out.terminal:
        call.out.say(unseen.ended)
    return outcomes.DONE


def _accept(call: Call, chosen: str) -> int:
    """Review every version that waits in a root; return how many."""
    try:
        found = call.engine.rows.list([chosen])
        if not found.roots[0].exists:
            raise NotFoundError(
                f"The folder of {chosen} does not exist.", code="E_ROOT_MISSING", hint="There is nothing to review yet."
            )
        versions = [(row.address, row.sha256) for row in found.items if row.trust == BROUGHT and row.sha256]
        if versions:
            texts = count_words(len(versions), "text")
            call.approve(
                "review what a checkout brought",
                f"Give agents {texts} of {chosen}, which came with the checkout {found.roots[0].root.path}?"
                + load(GRAVE_WORDS)(call.engine, [address for address, _ in versions]),
                f"in the workbench by the key g a on {chosen}",
            )
        count = call.engine.history.review(versions, actor=call.actor)
        decided = [one for one in call.engine.changes.unseen() if (one.address, one.after) in versions]
        if decided:
            call.engine.changes.mark_shown(decided)
        return count
    except NotFoundError as error:
        if error.code == "E_NO_ROOT":
            waiting = [status.root.id for status in call.engine.rows.status() if not status.accepted]
            what = f"These wait for it: {', '.join(waiting)}." if waiting else "No root waits for a review."
            error.hint = f"{error.hint} {what}" if error.hint.startswith("Did you mean") else what
        raise


def _state(status: RootStatus) -> str:
    if not status.exists:
        return "empty"
    if status.unreadable:
        return "partly unreadable" if status.files else "unreadable"
    if not status.accepted:
        return "unreviewed"
    return "ok" if status.writable else "read-only"


def ls(call: Call) -> int:
    """List memories."""
    args = call.args
    text = args.text("place")
    wanted = places.EVERYWHERE if text is None else places.place(call.engine, text)
    found = call.engine.rows.list(wanted.roots)
    rows = [row for row in found.items if wanted.holds(row.address.path)]
    if wanted.path and not rows:
        raise NotFoundError(f"There is nothing at {text}.", hint="`memtui ls` lists what there is.")
    scope, agent = args.text("scope"), args.text("agent")
    rows = [
        row
        for row in rows
        if (scope is None or row.scope == scope)
        and (agent is None or row.agent == agent)
        and (row.unseen or not args.flag("unseen"))
        and (row.pinned or not args.flag("pinned"))
        and (row.problems or not args.flag("problems"))
    ]
    order = args.text("sort")
    if order is not None:
        rows.sort(key=_ORDERS[order])
    hidden = withheld(call.engine)
    # An agent is not told that something is withheld.
    rows = [
        row._replace(description="" if hidden(row.address, row.sha256) else given_description(row))
        if call.agent
        else row._replace(problems=(*row.problems, WITHHELD))
        if hidden(row.address, row.sha256)
        else row
        for row in rows
    ]
    for status in found.roots:
        for problem in status.problems:
            if problem.code.startswith("E_"):
                call.out.say(f"{status.root.id} could not be listed: {problem.text}")
    return show(call, rows, truncated=found.truncated)


def show(call: Call, rows: list[Memory], *, truncated: bool) -> int:
    """Print rows of memories."""
    if call.out.json:
        call.out.document(values.listing(map(values.memory, rows), truncated=truncated))
    elif call.args.flag("names"):
        for row in rows:
            call.out.line(str(row.address))
    else:
        _memories(call, rows)
        if truncated:
            call.out.say("There are more memories than memtui lists; some are not shown.")
    return outcomes.DONE


_ORDERS: dict[str, Callable[[Memory], Any]] = {
    "name": lambda row: (row.address.name.casefold(), row.address),
    "uses": lambda row: (-row.heat, -row.uses, row.address),
    "age": lambda row: (-row.modified_at, row.address),
    "size": lambda row: (-row.bytes, row.address),
    "changed": lambda row: (-max(row.last_written_at or 0, row.modified_at), row.address),
}


def _memories(call: Call, rows: list[Memory]) -> None:
    if not rows and call.out.terminal:
        call.out.say("No memories.")
    call.out.table(
        (
            _ADDRESS,
            Column("MARKS"),
            Column("DESCRIPTION", flexible=True),
            Column("USES", "count", optional=True),
            Column("SIZE", "size", optional=True),
            Column("AGE", "age"),
        ),
        [
            (
                places.shown(call.engine, row.address) if call.out.terminal else str(row.address),
                marks(row, readable=call.out.terminal),
                row.description,
                row.uses,
                row.bytes,
                row.modified_at,
            )
            for row in rows
        ],
    )


_WORDS = {
    "E_NAME": "bad name",
    "E_NAME_TOO_LONG": "long name",
    "E_TEXT": "not text",
    "E_SYMLINK": "link",
    "E_HARDLINK": "hard link",
    "E_NOT_REGULAR": "no file",
    "E_TOO_BIG": "too big",
    "E_PERMISSION": "no access",
    "E_OTHER_DEVICE": "other disk",
    "hidden-characters": "hidden text",
}
"""Problems with a better word than their code."""


def marks(row: Memory, *, readable: bool) -> str:
    """Describe a memory's marks: in words for people, in codes for scripts."""
    said = ["unseen"] * row.unseen + ["pinned"] * row.pinned + ["missing"] * row.missing
    said += ["unreviewed"] * (row.trust == BROUGHT)
    codes = dict.fromkeys(problem.code for problem in row.problems)
    if not readable:
        return ",".join([*said, *codes])
    return ", ".join([*said, *(_WORDS.get(code, code.replace("-", " ")) for code in codes)])


_AGENTS = ("agent:", "mcp:", "http:")


def view(call: Call) -> int:
    """Print a memory, or a version of one."""
    text = call.args.need("address")
    bare, sha = places.version(text)
    if sha is not None:
        address = call.engine.roots.resolve(bare)
        try:
            data = call.engine.history.read(address, sha)
        except NotFoundError:
            if call.out.json or not _named(call, text):
                raise
        else:
            whole = places.whole_version(call.engine, address, sha)
            return _show(call, data, {"address": str(address), "sha256": whole, "bytes": len(data)})
    snapshot = call.engine.read(call.engine.roots.resolve(text))
    if call.options.actor.name.startswith(_AGENTS):
        call.engine.pins.record_use(snapshot.address, actor=call.options.actor)
    if call.out.json:
        call.out.document(values.content(snapshot), exact=True)
        return outcomes.DONE
    return _show(call, snapshot.bytes, {})


def _named(call: Call, text: str) -> bool:
    """Whether a memory's own name ends like a version."""
    address = call.engine.roots.resolve(text)
    return any(row.address == address for row in call.engine.rows.list((address.root,)).items)


def _show(call: Call, data: bytes, fields: dict[str, object]) -> int:
    if call.out.json:
        call.out.document(fields | values.text_or_base64(data), exact=True)
    elif call.out.terminal:
        text = data.decode("utf-8", "surrogateescape")
        call.out.text(text if text.endswith("\n") or not text else text + "\n")
    else:
        call.out.raw(data)
    return outcomes.DONE


def create(call: Call) -> int:
    """Make a new memory."""
    address = call.engine.roots.resolve(call.args.need("address"))
    policy = call.engine.roots.find(address.root).policy
    address = address._replace(path=policy.place_of_new(address.path, call.engine.tasks.clock()))
    text = call.given_text()
    return results.saved(call.out, call.engine.memories.create(address, text, actor=call.actor), word="created")


def save(call: Call) -> int:
    """Save a memory, compare-and-set."""
    address = call.engine.roots.resolve(call.args.need("address"))
    expected = call.args.need("expect")
    text = call.given_text()
    return results.saved(
        call.out,
        call.engine.save(address, text, expected_sha256=None if expected == "absent" else expected, actor=call.actor),
    )


def rm(call: Call) -> int:
    """Move memories to the trash."""
    addresses = [call.engine.roots.resolve(text) for text in call.args.texts("addresses")]
    if call.args.flag("alone"):
        with call.out.progress(call.engine.pace.progress):
            done = call.engine.memories.delete(addresses, actor=call.actor)
        return results.done(call.out, done)
    from memtui.pointers import references

    with call.out.progress(call.engine.pace.progress):
        done = references.trash(call.engine, addresses, actor=call.actor)
    return results.done(call.out, done)


def workspace(call: Call) -> int:
    """Show or remove the workspace's memories."""
    mine = tuple(root.id for root in call.engine.roots.all() if root.agent == "memtui" and root.scope == "workspace")
    found = call.engine.rows.list(mine)
    if call.args.text("action") is None:
        return show(call, list(found.items), truncated=found.truncated)
    addresses = [row.address for row in found.items]
    if not addresses:
        raise NotFoundError(
            f"There are no memories in the workspace {os.path.basename(call.engine.roots.find(mine[0]).path)!r}.",
            hint="Run it in the checkout, or name the workspace with MEMTUI_WORKSPACE.",
        )
    return results.done(call.out, call.engine.memories.delete(addresses, actor=call.actor))
