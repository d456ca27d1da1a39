"""Asking the configured worker, with prompts and replies stored in full.

Runs are limited: agents that called tools without limits started thousands of sessions in a day through the user's
hooks (thedotmack/claude-mem, issue 2465).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from memtui.config.read import read_environment
from memtui.engine.disk.handles import RootLock
from memtui.engine.ledger.database import new_id
from memtui.engine.task import Run
from memtui.errors import BusyError, MemtuiError, RefusedError
from memtui.features.actors import who_words
from memtui.features.workers.command import PROGRAMS, TIMEOUT_SECONDS, WorkerPlace, answer, own, probe
from memtui.features.workers.reply import Reply, ReplyOperation, read_reply

if TYPE_CHECKING:
    from memtui.config.settings import Settings
    from memtui.engine import Engine
    from memtui.features.tasks.work import TaskContext
    from memtui.features.workers.prompts import ShownMemory, WorkerPrompt

NONE = "none"
MAX_RUNS_PER_DAY = 24
MAX_CONCURRENT = 4
TOTAL_SECONDS = 280
"""Seconds from the start of a task to the end of its last worker, less than a task may take."""
_DAY_MS = 86_400_000


class WorkerAnswer(NamedTuple):
    """The outcome of asking a worker."""

    run: Run
    """To be stored even when nobody was asked; the caller adds its counts."""
    replies: tuple[tuple[WorkerPrompt, Reply], ...] = ()
    error: MemtuiError | None = None
    """Why the next prompt has no reply; None also when nobody was to be asked."""
    left: int = 0
    """Prompts not asked because enough was suggested or time was short."""

    @property
    def notes(self) -> list[str]:
        """What has no reply and why, for people."""
        more = " more" if self.replies else ""
        said = [] if self.error is None else [f"The worker added nothing{more}: {self.error.message}"]
        parts = len(self.replies) + self.left
        return said + ([f"The worker was asked {len(self.replies)} of {parts} parts."] if self.left else [])

    @property
    def operations(self) -> list[tuple[ReplyOperation, list[ShownMemory]]]:
        """Suggested operations, each with its target memories."""
        return [
            (one, [prompt.aliases[alias] for alias in one.targets])
            for prompt, reply in self.replies
            for one in reply.operations
        ]


def ask(context: TaskContext, asks: Callable[[], Sequence[WorkerPrompt]], kind: str) -> WorkerAnswer:
    """Ask the configured worker the prompts of `asks`, each once more when its reply breaks a rule, until one fails."""
    engine, task, worker = context.engine, context.task, context.settings.lifecycle_worker
    run = Run(
        *(new_id(), task.id, kind, context.workspace.id, task.trigger, NONE, "", "", "completed", {}),
        *(context.now, engine.tasks.clock()),
    )
    prompts = asks() if worker != NONE else ()
    if not prompts:
        return WorkerAnswer(run)
    place = WorkerPlace(context.settings.state_dir, read_environment(), context.cancelled)
    sent: list[str] = []
    heard: list[str] = []
    replies: list[tuple[WorkerPrompt, Reply]] = []
    left, error = 0, None
    try:
        if context.settings.worker:
            raise RefusedError("A worker started this memtui.", code="E_WORKER", hint="Start it yourself.")
        with one_of_few(place.state_dir, context.workspace.id):
            for number, first in enumerate(prompts):
                most = first.limits.most - sum(len(reply.operations) for _, reply in replies)
                if number and (most < 1 or _seconds_left(context) < TIMEOUT_SECONDS):
                    left = len(prompts) - number
                    break
                refuse_more(engine, context.workspace.id, context.now, number)
                prompt = first._replace(limits=first.limits._replace(most=most))
                of = f", part {number + 1} of {len(prompts)}" if len(prompts) > 1 else ""
                context.progress(f"{who_words(worker)} is asked{of}")
                sent.append(prompt.sent)
                replies.append((prompt, _replied(context, prompt, place, sent, heard)))
    except MemtuiError as refused:
        error = refused
    outcome = error.code if error is not None else "completed"
    run = run._replace(worker=worker, sent="\n\n".join(sent), reply="".join(heard), outcome=outcome)
    run = run._replace(counts={"asked": len(sent)} if len(sent) > 1 else {})
    return WorkerAnswer(run._replace(ended=engine.tasks.clock()), tuple(replies), error, left)


def _replied(context: TaskContext, prompt: WorkerPrompt, place: WorkerPlace, sent: list[str], got: list[str]) -> Reply:
    """Ask one prompt, and once more when the reply breaks a rule; raises when the second one does too."""
    got.append(_answer(context, prompt, place))
    try:
        return read_reply(got[-1], prompt.limits)
    except RefusedError as fault:
        again = f"{prompt.text}\n\nYour answer was refused: {fault.message} Answer again."
    prompt = prompt._replace(text=again)
    sent[-1] = prompt.sent
    got.append(_answer(context, prompt, place))
    return read_reply(got[-1], prompt.limits)


def _seconds_left(context: TaskContext) -> float:
    return TOTAL_SECONDS - (context.engine.tasks.clock() - context.now) / 1_000


def who_works(settings: Settings) -> str:
    """Describe the worker and whether it can run, without asking it anything."""
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


def _answer(context: TaskContext, prompt: WorkerPrompt, place: WorkerPlace) -> str:
    settings, system, text = context.settings, prompt.system, prompt.text
    place = place._replace(seconds=min(place.seconds, max(1.0, _seconds_left(context))))
    worker, model = settings.lifecycle_worker, settings.lifecycle_model
    if worker == "model":
        from memtui.features.workers.model import ask_model

        return ask_model(model, system, text, place)
    if worker == "command":
        return answer(own(settings.lifecycle_command), system, text, place)
    program = PROGRAMS[worker]
    words = (*program.words, "--model", model) if model else program.words
    return answer(program._replace(words=words), system, text, place)


def refuse_more(engine: Engine, workspace: str, now: int, more: int = 0) -> None:
    """Raise `E_WORKER` at the daily limit of worker runs, counting `more` unrecorded ones."""
    asked = [run for run in engine.tasks.runs(workspace, limit=1_000) if run.sent and run.at > now - _DAY_MS]
    times = sum(many if isinstance(many := run.counts.get("asked"), int) else 1 for run in asked)
    if times + more >= MAX_RUNS_PER_DAY:
        raise RefusedError(
            f"A worker was asked {MAX_RUNS_PER_DAY} times here within a day.",
            code="E_WORKER",
            hint="Rules still do their part.",
        )


@contextmanager
def one_of_few(state_dir: str, workspace: str) -> Iterator[None]:
    """Hold the workspace's worker lock and one of `MAX_CONCURRENT` on the machine; raises `E_LOCKED`."""
    folder = os.path.join(state_dir, "locks")
    names = [f"worker-{number}" for number in range(MAX_CONCURRENT)]
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
