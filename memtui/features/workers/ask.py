"""Asking the worker that the user chose, if they chose one: what was sent and what came back is kept to the byte.

A worker that fails takes nothing away: whoever asks goes on with what its rules found, and tells why there is no more.
There are few of them: agents that worked for tools without such limits started thousands of sessions in a day, because
they ran the user's hooks, which started those tools again (thedotmack/claude-mem, issue 2465).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

from memtui.config.read import read_environment
from memtui.engine.disk.locks import RootLock
from memtui.engine.task import Run
from memtui.errors import BusyError, MemtuiError, RefusedError
from memtui.features.workers.command import PROGRAMS, WorkerPlace, answer, own, probe
from memtui.features.workers.reply import Reply, ReplyOperation, read_reply

if TYPE_CHECKING:
    from memtui.config.settings import Settings
    from memtui.engine import Engine
    from memtui.features.tasks.work import Working
    from memtui.features.workers.prompts import ShownMemory, WorkerPrompt

NONE = "none"
A_DAY = 24
"""Runs of a worker in a workspace."""
AT_ONCE = 4
"""Workers on the machine."""
_DAY_MS = 86_400_000


class WorkerAnswer(NamedTuple):
    """What came of asking."""

    run: Run
    """To be kept, also when nobody was asked; its counts are for the kind to fill in."""
    prompt: WorkerPrompt | None = None
    """What was asked first; None when nobody was."""
    reply: Reply | None = None
    error: MemtuiError | None = None
    """Why there is no reply; None too when nobody was to be asked."""

    @property
    def notes(self) -> list[str]:
        """Why there is no reply, for people."""
        return [] if self.error is None else [f"The worker added nothing: {self.error.message}"]

    @property
    def operations(self) -> list[tuple[ReplyOperation, list[ShownMemory]]]:
        """What the worker suggests, each with the memories it names."""
        if self.prompt is None or self.reply is None:
            return []
        aliases = self.prompt.aliases
        return [(one, [aliases[alias] for alias in one.targets]) for one in self.reply.operations]


def ask(working: Working, asks: Callable[[], WorkerPrompt | None], kind: str) -> WorkerAnswer:
    """Ask the worker of the settings, if there is one, once more where its reply breaks a rule.

    `asks` makes what to ask; None when rules leave nothing to ask.
    """
    engine, task, worker = working.engine, working.task, working.settings.lifecycle_worker
    run = Run(
        *(str(uuid4()), task.id, kind, working.workspace.id, task.trigger, NONE, "", "", "completed", {}),
        *(working.now, engine.tasks.clock()),
    )
    first = prompt = asks() if worker != NONE else None
    if prompt is None:
        return WorkerAnswer(run)
    place = WorkerPlace(working.settings.state_dir, read_environment(), working.cancelled)
    sent = heard = ""
    reply = error = None
    try:
        if working.settings.worker:
            raise RefusedError("A worker started this memtui.", code="E_WORKER", hint="Start it yourself.")
        refuse_more(engine, working.workspace.id, working.now)
        with one_of_few(place.state_dir, working.workspace.id):
            for last in (False, True):
                working.progress(f"{worker} is asked")
                sent = prompt.sent
                said = _answer(working.settings, prompt.system, prompt.text, place)
                heard += said
                try:
                    reply = read_reply(said, prompt.limits)
                    break
                except RefusedError as fault:
                    if last:
                        raise
                    again = f"{prompt.text}\n\nYour answer was refused: {fault.message} Answer again."
                    prompt = prompt._replace(text=again)
    except MemtuiError as refused:
        error = refused
    outcome = error.code if error is not None else "completed"
    run = run._replace(worker=worker, sent=sent, reply=heard, outcome=outcome, ended=engine.tasks.clock())
    return WorkerAnswer(run, first, reply, error)


def who_works(settings: Settings) -> str:
    """Say which worker there is and whether it can be run, without asking it anything."""
    worker = settings.lifecycle_worker
    if worker in (NONE, "model"):
        return f"{worker} {settings.lifecycle_model}".strip()
    try:
        program = PROGRAMS[worker] if worker in PROGRAMS else own(settings.lifecycle_command)
        found = probe(program, WorkerPlace(settings.state_dir, read_environment(), lambda: False))
    except MemtuiError as error:
        return f"{worker}: {error.message}"
    lacks = f", not run because it lacks {', '.join(found.missing)}" if found.missing else ""
    return f"{worker} {found.version} ({found.path}){lacks}"


def _answer(settings: Settings, system: str, text: str, place: WorkerPlace) -> str:
    worker, model = settings.lifecycle_worker, settings.lifecycle_model
    if worker == "model":
        from memtui.features.workers.model import ask_model

        return ask_model(model, system, text, place)
    if worker == "command":
        return answer(own(settings.lifecycle_command), system, text, place)
    program = PROGRAMS[worker]
    words = (*program.words, "--model", model) if model else program.words
    return answer(program._replace(words=words), system, text, place)


def refuse_more(engine: Engine, workspace: str, now: int) -> None:
    """Refuse to ask a worker where one was asked `A_DAY` times within a day.

    Raises:
        RefusedError: `E_WORKER`.
    """
    asked = [run for run in engine.tasks.runs(workspace, limit=1_000) if run.sent and run.at > now - _DAY_MS]
    if len(asked) >= A_DAY:
        raise RefusedError(
            f"A worker was asked {A_DAY} times here within a day.", code="E_WORKER", hint="Rules still do their part."
        )


@contextmanager
def one_of_few(state_dir: str, workspace: str) -> Iterator[None]:
    """Be the only one who asks a worker in a workspace, and one of `AT_ONCE` on the machine.

    Raises:
        BusyError: `E_LOCKED`, others are asked now.
    """
    folder = os.path.join(state_dir, "locks")
    names = [f"worker-{number}" for number in range(AT_ONCE)]
    with ExitStack() as held:
        _take(held, folder, f"worker-{workspace}")
        for name in names:
            try:
                _take(held, folder, name)
                break
            except BusyError:
                if name == names[-1]:
                    raise
        yield


def _take(held: ExitStack, folder: str, name: str) -> None:
    lock = RootLock(folder, name)
    held.callback(lock.close)
    held.enter_context(lock.held(wait=0, who="a worker"))
