"""Asking the configured worker, a model or an installed command, with prompts and replies stored in full.

Runs are limited: agents that called tools without limits started thousands of sessions in a day through the user's
hooks (thedotmack/claude-mem, issue 2465). A command gets the prompt on standard input, an empty folder and selected
variables, and never runs without the options that keep it from acting.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from memtui.config.read import read_environment
from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.engine.disk import fsio, state_file
from memtui.engine.disk.handles import RootLock
from memtui.engine.ledger.database import new_id
from memtui.engine.task import Run
from memtui.errors import BusyError, MemtuiError, RefusedError, missing_extra
from memtui.features.actors import who_words
from memtui.features.tasks.work import TaskContext
from memtui.features.workers.prompts import SCHEMA, Reply, ReplyOperation, ShownMemory, WorkerPrompt, read_reply
from memtui.mask import mask

if TYPE_CHECKING:
    from pydantic_ai import Agent
    from pydantic_ai.models import Model

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


# --- a worker that is an installed command

FOLDER = "workers"
"""Folder below the state folder in which workers run; sessions begun there belong to no project."""
TIMEOUT_SECONDS = 120
MARK = "MEMTUI_WORKER"
"""Environment variable of workers and everything they start; read by `Settings.worker`."""
_LOOK = 20
_SCHEMA_FILE = "schema.json"


class WorkerProgram(NamedTuple):
    """A command that can be a worker."""

    name: str
    """Looked up on PATH unless it is a path."""
    words: tuple[str, ...]
    """Arguments; `{schema}`, `{file}`, `{system}` and `{seconds}` are filled in per prompt."""
    help: tuple[str, ...] = ()
    """Arguments that list its options; empty for the user's own command."""
    variables: tuple[str, ...] = ()
    """Prefixes of the variables it gets."""


class Probe(NamedTuple):
    """What was found about a program."""

    path: str
    version: str
    missing: tuple[str, ...]


class WorkerPlace(NamedTuple):
    """Context of a worker run."""

    state_dir: str
    environ: Mapping[str, str]
    """Our whole environment; a worker gets a part."""
    cancelled: Callable[[], bool]
    seconds: float = TIMEOUT_SECONDS


_OFF = ("shell_tool", "unified_exec", "apps", "browser_use", "computer_use", "hooks", "plugins")
_CLAUDE = (
    *("-p", "--restricted", "--tools", "", "--strict-mcp-config", "--disable-slash-commands"),
    *("--no-session-persistence", "--output-format", "json", "--json-schema", "{schema}"),
    *("--system-prompt", "{system}"),
)
_CODEX = (
    *("exec", "--ephemeral", "--ignore-user-config", "--ignore-rules", "--skip-git-repo-check", "-s", "read-only"),
    *("--output-schema", "{file}", *(word for name in _OFF for word in ("--disable", name)), "-"),
)
_QWEN = (
    *("--safe-mode", "--chat-recording=false", "--approval-mode", "plan", "--max-tool-calls", "0"),
    *("--max-session-turns", "2", "--max-wall-time", "{seconds}", "--json-schema", "@{file}"),
)
_OF_CLAUDE = ("ANTHROPIC_", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_USE_", "CLAUDE_CODE_OAUTH_TOKEN", "AWS_", "GOOGLE_")
PROGRAMS = {
    "claude": WorkerProgram("claude", _CLAUDE, ("--help",), _OF_CLAUDE),
    "codex": WorkerProgram("codex", _CODEX, ("exec", "--help"), ("CODEX_HOME", "CODEX_API_KEY", "OPENAI_")),
    "qwen": WorkerProgram("qwen", _QWEN, ("--help",), ("QWEN_", "OPENAI_", "DASHSCOPE_")),
}
"""By `lifecycle.worker`; options as listed by `--help` in Claude Code 2.1.330, codex 0.169, qwen 0.24.4."""

_VARIABLES = frozenset(
    (
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "DBUS_SESSION_BUS_ADDRESS"),
        *("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "SYSTEMROOT"),
        *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    )
)
"""Variables every worker gets, besides those that begin with `LC_`."""
_probed: dict[tuple[str, int, int, tuple[str, ...]], Probe] = {}
"""By path, size, modification time and arguments."""


def own(command: Sequence[str]) -> WorkerProgram:
    """Return the user's own command as a program; raises RefusedError when it is empty."""
    if not command:
        raise _failed("The setting lifecycle.command is empty.", "Set it to the program and its arguments.")
    return WorkerProgram(command[0], tuple(command[1:]), variables=("ANTHROPIC_", "OPENAI_"))


def probe(program: WorkerProgram, place: WorkerPlace) -> Probe:
    """Look up a program and its missing options, cached until it changes; raises `E_WORKER`."""
    import shutil

    path = shutil.which(program.name, path=place.environ.get("PATH", ""))
    if path is None or not os.path.isabs(path):
        raise _failed(f"There is no program {program.name!r} on PATH.", "Install it, or choose another worker.")
    found = os.stat(path)
    key = (path, found.st_size, found.st_mtime_ns, program.words)
    if key not in _probed:
        version, listed = "", ""
        if program.help:
            brief = place._replace(seconds=_LOOK)
            version = _run((path, "--version"), "", program, brief).strip().partition("\n")[0][:80]
            listed = _run((path, *program.help), "", program, brief)
        names = [word.partition("=")[0] for word in program.words if program.help and re.match("--?[a-z]", word)]
        missing = [name for name in names if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", listed)]
        _probed[key] = Probe(path, version, tuple(dict.fromkeys(missing)))
    return _probed[key]


def answer(program: WorkerProgram, system: str, text: str, place: WorkerPlace) -> str:
    """Run a worker on one prompt and return its unparsed answer; raises `E_WORKER` for any failure."""
    found = probe(program, place)
    if found.missing:
        raise _failed(
            f"{program.name} {found.version} lacks {', '.join(found.missing)}, and is not run without.",
            "Upgrade it, or choose another worker.",
        )
    given = text if "{system}" in program.words else f"{system}\n\n{text}"
    return _reply_in(_run((found.path, *program.words), given, program, place, system), program)


def _run(argv: tuple[str, ...], given: str, program: WorkerProgram, place: WorkerPlace, system: str = "") -> str:
    import tempfile  # here, because who only says which worker there is runs none

    from memtui.features.tasks.child import Child, run

    home = os.path.join(place.state_dir, FOLDER)
    fsio.make_root(home)
    with tempfile.TemporaryDirectory(dir=home, ignore_cleanup_errors=True) as folder:
        schema = json.dumps(SCHEMA)
        file = os.path.join(folder, _SCHEMA_FILE)
        state_file.write(folder, _SCHEMA_FILE, schema.encode())
        empty = os.path.join(folder, "empty")
        fsio.make_root(empty)
        values = {"{schema}": schema, "{file}": file, "@{file}": f"@{file}", "{system}": system}
        values["{seconds}"] = str(int(place.seconds))
        child = Child(
            program.name,
            [values.get(word, word) for word in argv],
            empty,
            _environment(program, place.environ),
            place.seconds,
            place.cancelled,
            _failed,
        )
        code, out, errors = run(child, given.encode("utf-8", "replace"))
    if code:
        last = errors.decode("utf-8", "replace").strip().rpartition("\n")[2] or _said_error(out)
        raise _failed(f"{program.name} ended with {code}: {mask(last[-300:]).text}", "Look whether it runs by itself.")
    return out.decode("utf-8", "replace")


def _environment(program: WorkerProgram, environ: Mapping[str, str]) -> dict[str, str]:
    starts = ("LC_", *program.variables)
    given = {name: value for name, value in environ.items() if name in _VARIABLES or name.startswith(starts)}
    return given | {MARK: "1", "NO_COLOR": "1"}


def _reply_in(out: str, program: WorkerProgram) -> str:
    """Unwrap the answer from Claude Code's result object; others print it alone."""
    try:
        found = json.loads(out)
    except (ValueError, RecursionError):
        return out
    if not isinstance(found, dict) or found.get("type") != "result":
        return out
    if found.get("is_error"):
        raise _failed(f"{program.name} failed: {_said_error(out.encode())}", "Look whether it runs by itself.")
    made = found.get("structured_output")
    return json.dumps(made) if isinstance(made, dict) else str(found.get("result", ""))


def _said_error(out: bytes) -> str:
    text = out.decode("utf-8", "replace").strip()
    with suppress(ValueError, RecursionError):
        found = json.loads(text)
        text = str(found.get("result", "")) if isinstance(found, dict) else text
    return mask(text[:300]).text or "it said nothing"


def _failed(message: str, hint: str) -> RefusedError:
    return RefusedError(message, code="E_WORKER", unharmed="Nothing was written.", hint=hint)


# --- a worker that is a model, asked by pydantic-ai with the user's key and without tools

_STEP = 0.05


def ask_model(model: str | Model, system: str, text: str, place: WorkerPlace) -> str:
    """Ask a model, by pydantic-ai's name or as its object, and return JSON; raises `E_EXTRA` or `E_WORKER`."""
    import asyncio

    try:
        from pydantic_ai import Agent, StructuredDict
        from pydantic_ai.exceptions import AgentRunError, UserError
    except ImportError:
        raise missing_extra("A model as the worker", "model") from None
    if not model:
        raise RefusedError("The setting lifecycle.model is empty.", code="E_WORKER", hint="Set it to a model's name.")
    try:
        agent = Agent(model, output_type=StructuredDict(SCHEMA, name="reply"), instructions=system)
        return asyncio.run(_model_answer(agent, text, place))
    except (AgentRunError, UserError, ImportError, OSError, ValueError) as error:
        what = mask(str(error)[:300]).text
        raise RefusedError(f"The model failed: {what}", code="E_WORKER", hint="Look at lifecycle.model.") from None


async def _model_answer(agent: Agent[None, dict[str, object]], text: str, place: WorkerPlace) -> str:
    import asyncio

    from pydantic_ai import UsageLimits

    until = time.monotonic() + place.seconds
    run = asyncio.ensure_future(agent.run(text, usage_limits=UsageLimits(request_limit=2)))
    try:
        while not run.done():
            await asyncio.wait({run}, timeout=_STEP)
            if place.cancelled():
                raise RefusedError("The model was cancelled.", code="E_WORKER", hint="Run it again when you want to.")
            if time.monotonic() > until:
                raise RefusedError(
                    f"The model gave no answer within {place.seconds:g} seconds.", code="E_WORKER", hint="Run it again."
                )
        return json.dumps(run.result().output)
    finally:
        run.cancel()
