"""A worker that is an installed command; it never runs without the options that keep it from acting.

It gets the prompt on standard input, an empty folder and selected variables.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from memtui.engine.disk import fsio, state_file
from memtui.errors import RefusedError
from memtui.features.workers.reply import SCHEMA
from memtui.mask import mask

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
