"""Background work as values: a task in a lane, one run of a worker, and events about both.

Steps have one serialized form, because any process that finds a plan must carry it out byte for byte.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from memtui.engine.model import Address, Remove, Rename, Step, Write, is_person
from memtui.errors import RefusedError

QUEUED, RUNNING, COMPLETED, FAILED, CANCELLED = STATES = ("queued", "running", "completed", "failed", "cancelled")
OPEN, ENDED = STATES[:2], STATES[2:]


class Task(NamedTuple):
    """A request in a lane, and its result."""

    id: str
    """`<kind>-<uuid>`."""
    seq: int
    """Its number; later tasks have higher ones."""
    workspace: str
    """The lane: the id of a `Workspace`."""
    kind: str
    """`remember`, `forget`, `extract`, `dream`, ..."""
    state: str
    """One of `STATES`."""
    client: str
    """Who asked, as in the audit: `cli`, `tui`, `http:<client>`."""
    request: Mapping[str, object]
    """The request, JSON values; without its texts once done, and empty some days after it failed."""
    created: int
    """Milliseconds since the epoch, as all times here."""
    updated: int
    """Never before `created`, even if the clock was set back."""
    not_before: int
    attempt: int
    """How often it was begun since it was queued."""
    plan: str | None
    """The steps to write, once decided and until done."""
    txn: str | None
    result: Mapping[str, object] | None
    """The result, JSON values: None until it is planned; `proposals` are the ids of those that wait."""
    error: tuple[str, str] | None
    """A code of `memtui.errors` and a sentence; None unless it failed or was cancelled."""
    progress: str
    trigger: str = "manual"
    stopping: bool = False
    """Somebody cancelled it while it ran."""
    undone: bool = False

    def is_anothers(self, who: str) -> bool:
        """Return whether `who` is no person and another client asked for it."""
        return not is_person(who) and who.partition("/")[0] != self.client.partition("/")[0]

    def refuse_anothers(self, who: str, action: str) -> None:
        """Refuse (`E_PERSON`) an agent's action, such as `cancel`, on a task another client asked for."""
        if self.is_anothers(who):
            raise RefusedError(
                f"Only a person may {action} what another asked for: {self.client} asked for task {self.seq}.",
                code="E_PERSON",
                hint="Do it in a memtui that you start yourself, in a terminal of your own.",
            )


class Run(NamedTuple):
    """One execution of a kind's work: what a worker was sent and answered."""

    id: str
    task: str
    """The task's id; empty for none."""
    kind: str
    workspace: str
    trigger: str
    """`manual` or `auto`."""
    worker: str
    """`none`, or the worker's name."""
    sent: str
    """To the byte."""
    reply: str
    outcome: str
    """`completed`, `skipped`, `failed`, ..., or an error's code."""
    counts: Mapping[str, object]
    """Figures about the work: numbers and fixed words, never anybody's text."""
    at: int
    ended: int


class TaskEvent(NamedTuple):
    """An event for followers of the lanes."""

    seq: int
    at: int
    kind: str
    """`task`, ..."""
    client: str
    payload: Mapping[str, object]
    """JSON values; never a text of a memory or a request."""


class Cause(NamedTuple):
    """A change written for a task or a run."""

    txn: str
    whole: bool
    """All of its steps were done; else the process was killed between two of them."""
    actor: str


def steps_json(steps: Iterable[Step]) -> str:
    """Serialize steps as JSON: a list of objects; bytes as base64, undecodable names with surrogate escapes."""
    return json.dumps([_written(step) for step in steps])


def steps_from(text: str) -> tuple[Step, ...]:
    """Parse the output of `steps_json`; raises `ValueError` for anything else."""
    try:
        return tuple(_read(dict(one)) for one in json.loads(text))
    except (KeyError, TypeError) as error:
        raise ValueError(f"these are no steps: {error}") from error


def _written(step: Step) -> dict[str, object]:
    fields: dict[str, object] = {"at": list(step.address), "expects": step.expected_sha256}
    if isinstance(step, Write):
        return {"step": "write", **fields, "data": b64encode(step.data).decode("ascii")}
    return (
        {"step": "rename", **fields, "new": list(step.new)}
        if isinstance(step, Rename)
        else {"step": "remove", **fields}
    )


def _read(fields: dict[str, object]) -> Step:
    kind, expects = fields["step"], fields["expects"]
    sha = None if expects is None else str(expects)
    if kind == "write":
        return Write(_address(fields["at"]), b64decode(str(fields["data"]), validate=True), sha)
    if kind == "rename":
        return Rename(_address(fields["at"]), _address(fields["new"]), sha)
    if kind == "remove":
        return Remove(_address(fields["at"]), sha)
    raise ValueError(f"there is no step {kind!r}")


def _address(value: object) -> Address:
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError(f"this is no address: {value!r}")
    return Address(str(value[0]), str(value[1]))
