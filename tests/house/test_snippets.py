"""Every Python example of the documentation runs as it is written, one page after the other in its own empty home."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tests.house import pages
from tests.house.source import ROOT

PAGES = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if any(language == "python" for language, _ in pages.FENCE.findall(page.read_text("utf-8")))
]
ANSWER = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "any",
    "content": [{"type": "text", "text": "I will remember that."}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}


class Model(BaseHTTPRequestHandler):
    """Stands where a model's maker would answer."""

    def do_POST(self) -> None:
        """Answer whatever is asked."""
        self.rfile.read(int(self.headers["content-length"]))
        body = json.dumps(ANSWER).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@pytest.fixture
def model() -> Iterator[str]:
    """The address of a model that answers everything alike."""
    with HTTPServer(("127.0.0.1", 0), Model) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def run(code: str, environment: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-W", "error::SyntaxWarning", "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_there_are_some() -> None:
    assert "memory-tool.md" in [page.name for page in PAGES]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_of_a_page_run_one_after_the_other(page: Path, model: str) -> None:
    if page.name == "anthropic-sdk.md":
        pytest.importorskip("anthropic")
    code = "\n".join(body for language, body in pages.FENCE.findall(page.read_text("utf-8")) if language == "python")
    found = run(code, dict(os.environ) | {"ANTHROPIC_API_KEY": "none", "ANTHROPIC_BASE_URL": model})
    assert (found.returncode, found.stderr) == (0, "")


def test_an_example_that_lacks_a_line_is_found() -> None:
    assert "NameError" in run("tool = ScopedTool(engine)", dict(os.environ)).stderr
