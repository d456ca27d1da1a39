"""`memtui extract`: what it says, what it would say, what a worker would be sent, and the hook that only queues."""

import json
import os
import sys
from pathlib import Path

import pytest

from memtui.config.read import load_settings, read_environment
from memtui.wire.session import Options, open_session
from tests.cli.conftest import Cli
from tests.conftest import ROOT
from tests.extract.__main__ import measure
from tests.features.extract.conftest import Tell

RULE = ("user", "Remember that we deploy from main.")
ALL = ("extract", "--since", "2020-01-01")


def queued() -> list[tuple[str, str]]:
    with open_session(load_settings(read_environment()), Options(), lock_wait=5).engine as engine:
        return [(task.kind, task.state) for task in engine.tasks.all()]


def test_proposals_are_listed_with_what_was_said(cli: Cli, tell: Tell, allowed: Path) -> None:
    tell("codex", "s1", RULE, ("agent", "ok"), ("user", "<no-memory>Remember that x is y."))
    looked = cli(*ALL, "--dry-run")
    row = ("open", "add", "memtui:project/project/we-deploy-from-main.md", "rule:explicit")
    said = "You said so in a session: We deploy from main"
    assert looked.lines == ["\t".join(("-", *row, "", said))]
    assert "private 1" in looked.err
    done = cli(*ALL)
    assert done.lines[0].split("\t")[:5] == ["1", *row]
    assert done.lines[0].endswith(said)
    assert "memtui review" in done.err
    assert cli(*ALL).lines == []


def test_json_has_evidence_and_counts(cli: Cli, tell: Tell, allowed: Path) -> None:
    secret = ("user", "Remember that the token is ghp_0123456789abcdefghijklmnopqrstuvwxyz")
    tell("gemini", "s1", RULE, ("user", "<no-memory>Remember that x is y."), secret)
    result = cli(*ALL, "--json")
    (found,) = result.items
    assert (found["id"], found["by"], found["state"]) == ("1", "rule:explicit", "open")
    assert found["evidence"] == [{"kind": "turn", "name": "s1", "sha": "", "place": "s1-m1", "quote": RULE[1]}]
    assert result.json["skipped"] == {"private": 1}


def test_what_a_worker_would_be_sent_is_shown_to_the_byte(cli: Cli, tell: Tell, allowed: Path) -> None:
    tell("claude-code", "s1", RULE, ("user", "My token is ghp_0123456789abcdefghijklmnopqrstuvwxyz"))
    shown = cli(*ALL, "--show-prompt")
    told = json.loads(shown.out[shown.out.index("\n\n{") :])
    assert [turn["text"] for turn in told["turns"]] == [RULE[1], "My token is [masked: GitHub token]"]
    assert queued() == []
    assert "nothing to ask" in cli("extract", "--since", "2100-01-01", "--show-prompt").err


def test_what_was_private_is_not_sent_where_it_is_said_again(cli: Cli, tell: Tell, allowed: Path) -> None:
    said = [("user", "The <private>quokka burrow</private> has <private>pin 4711</private>"), ("agent", "ok")]
    tell("claude-code", "s1", *said)
    cli(*ALL)
    tell("claude-code", "s1", *said, RULE, ("agent", "The Quokka  burrow"), ("user", "4711 is what I said."))
    shown = cli(*ALL, "--show-prompt")
    assert "[private] is what I said." in shown.out
    assert not any(word in shown.out.casefold() for word in ("quokka", "4711"))


def test_a_cancelled_worker_ends_at_once_and_that_is_said(
    cli: Cli, tell: Tell, config: Path, tmp_path: Path, home: Path
) -> None:
    tell("codex", "s1", RULE)
    script = tmp_path / "worker"
    cancels = f"{sys.executable} -m memtui --home {config.parent} --project {tmp_path / 'work'} tasks cancel 1"
    script.write_text(f"#!/bin/sh\nexport PYTHONPATH={ROOT}\n{cancels}\nexec sleep 600\n")
    script.chmod(0o700)
    worker = f'worker = "command"\ncommand = ["{script}"]\n'
    config.write_text(f'[transcripts]\nread = "all"\n[lifecycle]\n{worker}')
    stopped = cli("--home", str(config.parent), *ALL, "--json")
    assert stopped.error["code"] == "E_STOPPED"
    assert os.listdir(config.parent / "workers") == []
    config.write_text('[transcripts]\nread = "all"\n')
    assert len(cli("--home", str(config.parent), *ALL, "--json").items) == 1


def test_status_says_when_and_by_whom(cli: Cli, tell: Tell, allowed: Path, tmp_path: Path) -> None:
    def status() -> object:
        return cli("status", "--json").json["extract"]

    assert status() == {"begins": "when you ask", "last": None, "outcome": None, "counts": None, "worker": "none"}
    tell("codex", "s1", RULE)
    cli(*ALL)
    allowed.write_text(allowed.read_text() + '[lifecycle]\nextract = "auto"\nworker = "claude"\n')
    found = status()
    assert isinstance(found, dict)
    assert (found["begins"], found["outcome"]) == ("by itself", "completed")
    assert found["counts"] == {"turns": 1, "proposed": 1, "skipped": {}}
    assert "no program 'claude'" in found["worker"]


def test_nobody_was_asked_and_switched_off(cli: Cli, tell: Tell, config: Path) -> None:
    tell("codex", "s1", RULE)
    assert "memtui sessions on" in cli(*ALL).err
    config.write_text('[lifecycle]\nextract = "off"\n')
    for words in ((), ("--dry-run",), ("--show-prompt",)):
        assert cli(*ALL, *words, "--json").error["code"] == "E_DISABLED"
    assert cli("extract", "--since", "soon", "--json").status != 0


@pytest.mark.parametrize(
    ("setting", "worker", "stdin", "queues"),
    [
        ("auto", "", b'{"session_id": "s1"}', True),
        ("auto", "", b"no JSON", True),
        ("auto", "1", b"{}", False),
        ("manual", "", b"{}", False),
        ("off", "", b"x" * 10_000_000, False),
        ("wrong", "", b"", False),
    ],
)
def test_a_hook_is_answered_at_once_and_only_queues(
    setting: str, worker: str, stdin: bytes, queues: bool, cli: Cli, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write_text(f'[lifecycle]\nextract = "{setting}"\n')
    monkeypatch.setenv("MEMTUI_WORKER", worker)
    for _ in range(2):
        answered = cli("extract", "--hook", "--client", "claude-code", stdin=stdin)
        assert (answered.status, answered.json) == (0, {})
    config.write_text("")
    assert queued() == ([("extract", "queued")] if queues else [])


def test_most_of_what_rules_propose_is_worth_keeping(tmp_path: Path) -> None:
    found = measure(tmp_path / "labelled")
    assert found.of("explicit") >= 0.9
    assert found.of() >= 0.7
    assert len(found.missed) <= found.worth // 10
