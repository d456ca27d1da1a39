"""The comparison with real agents, on a made-up program that sends what it is told to: it can say yes and no."""

import sys
from pathlib import Path

import pytest

from tests.agents.measured import APP, Fixture, Laid, compared, rows
from tests.agents.recorder import Fetched, Program, started

SENDS = """
import http.client, json, os, pathlib, sys
texts = [pathlib.Path(name).read_text() for name in sys.argv[1:]]
body = json.dumps({"messages": [*texts, "what-is-loaded-here"]})
door = http.client.HTTPConnection("127.0.0.1", int(os.environ["PORT"]))
for one in ("{}", body):
    door.request("POST", "/v1", one)
    door.getresponse().read()
"""
FIXTURE = Fixture("codex", "made up", {"AGENTS.md": "%\n", "sub/AGENTS.md": "%\n%\n", "other.md": "%\n"}, start="sub")


@pytest.mark.parametrize(
    ("sent", "wrong"),
    [
        (["AGENTS.md", "sub/AGENTS.md"], []),
        (["sub/AGENTS.md", "AGENTS.md"], ["order"]),
        (["AGENTS.md"], [f"{APP}/sub/AGENTS.md", "order"]),
        (["AGENTS.md", "AGENTS.md", "sub/AGENTS.md"], [f"{APP}/AGENTS.md"]),
        (["AGENTS.md", "sub/AGENTS.md", "other.md"], [f"{APP}/other.md", "order"]),
    ],
)
def test_what_is_sent_is_compared_with_what_is_said(tmp_path: Path, sent: list[str], wrong: list[str]) -> None:
    laid = Laid(FIXTURE, tmp_path)
    args = ("-c", SENDS, *(str(laid.path(name)) for name in sent))
    program = Program("codex", "", "", args, lambda base: {"PORT": base.rpartition(":")[2]})
    fetched = Fetched(program, Path(sys.executable), "1", tmp_path)
    facts = compared(laid, started(fetched, laid.home, laid.start, {}))
    assert [fact.what for fact in facts if not fact.holds] == wrong
    assert rows(facts)[-1] == f"  {4 - len(wrong)} of 4 facts equal"


def test_a_program_that_sends_nothing_is_said(tmp_path: Path) -> None:
    program = Program("codex", "", "", ("-c", "print('no network')"), lambda base: {})
    fetched = Fetched(program, Path(sys.executable), "1", tmp_path)
    with pytest.raises(SystemExit, match="no network"):
        started(fetched, tmp_path, tmp_path, {})
