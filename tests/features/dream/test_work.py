"""A dream as a task: it proposes, never twice; only a rule that the user named writes, and never much."""

import json
import os
from pathlib import Path

import pytest

from memtui.config.read import load_settings, read_environment
from memtui.engine.model import Actor
from memtui.engine.proposal import Proposal
from memtui.engine.task import COMPLETED, FAILED, Task
from memtui.features.dream.gates import HOUR_MS, KIND, gate, status
from memtui.features.dream.work import ACTOR, MAX_PROPOSALS, look
from memtui.features.proposals.apply import carry_out, decide
from memtui.features.tasks.lanes import work_off
from memtui.features.tasks.work import task_context, workspace_of
from memtui.wire.session import Options, Session, open_session
from tests.cli.conftest import cli, config

__all__ = ["cli", "config"]

ME = Actor("cli")


def session() -> Session:
    """A session where the test stands."""
    return open_session(load_settings(read_environment()), Options(), lock_wait=5)


def dream() -> tuple[Task, tuple[Proposal, ...]]:
    """Work a dream off; gives it, and every proposal there is."""
    here = session()
    with here.engine as engine:
        lane = workspace_of(here.surroundings)
        task = engine.tasks.enqueue(KIND, lane.id, "cli", {}, trigger="manual")
        work_off(here, workspace=lane, stop=lambda: False)
        return engine.tasks.get(task.id), engine.proposals.all()


@pytest.fixture
def notes(home: Path, tmp_path: Path, config: Path) -> Path:
    """The folder of the user's own memories."""
    folder = tmp_path / "data" / "memtui" / "memory"
    here = session()
    with here.engine as engine:
        folder = Path(engine.roots.find("memtui:global").path)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def doubles(folder: Path, count: int) -> None:
    """Write pairs of the same."""
    for n in range(count):
        for half in "ab":
            (folder / f"{n}-{half}.md").write_text(f"Fact {n}.\n")


def test_it_proposes_and_writes_nothing_and_the_same_is_not_proposed_again(notes: Path) -> None:
    doubles(notes, MAX_PROPOSALS + 5)
    before = sorted(os.listdir(notes))
    task, made = dream()
    assert (task.state, len(made)) == (COMPLETED, MAX_PROPOSALS)
    assert task.result is not None
    assert (task.result["left"], task.result["found"]) == (5, {"exact": MAX_PROPOSALS + 5})
    assert {one.by for one in made} == {"rule:exact"}
    assert sorted(os.listdir(notes)) == before
    with session().engine as engine:
        decide(engine, [made[0].id], "rejected", actor=ME)
    _, more = dream()
    assert len(more) == MAX_PROPOSALS + 5
    last, still = dream()
    assert len(still) == MAX_PROPOSALS + 5
    assert last.result is not None
    assert last.result["summary"] == f"0 proposed, {MAX_PROPOSALS + 4} wait already."


@pytest.mark.parametrize("end", ["rejected", "stale", "applied"])
def test_what_was_decided_comes_back_when_the_memories_are_others(notes: Path, end: str) -> None:
    doubles(notes, 1)
    (one,) = dream()[1]
    with session().engine as engine:
        if end == "stale":
            engine.proposals.settle({one.id: (end, "")})
        else:
            decide(engine, [one.id], "rejected" if end == "rejected" else "accepted", actor=ME)
            carry_out(engine, [one.id], actor=ME)
    if end == "rejected":
        assert len(dream()[1]) == 1, "the same memories are as they were"
        for half in "ab":
            (notes / f"0-{half}.md").write_text("Fact 0, and one more.\n")
    doubles(notes, end == "applied")
    again = dream()[1]
    before = "superseded" if end == "stale" else end
    assert ([each.state for each in again], again[-1].targets) == ([before, "open"], one.targets)


def test_a_standing_rule_applies_at_once_as_one_step_and_a_mass_change_waits(notes: Path, config: Path) -> None:
    config.write_text('[lifecycle]\napply = ["exact"]\n')
    doubles(notes, 1)
    for n in range(9):
        (notes / f"other-{n}.md").write_text(f"Other {n}.\n")
    before = {path.name: path.read_bytes() for path in notes.iterdir()}
    task, made = dream()
    assert ([one.state for one in made], len(list(notes.iterdir()))) == (["applied"], 10)
    with session().engine as engine:
        assert engine.history.audit(txn=task.txn)[0].actor == ACTOR.name
        engine.undo.undo(actor=ME)
    again, waiting = dream()
    assert (again.txn, [one.state for one in waiting]) == (None, ["open"]), "what was undone waits for a person"
    assert {path.name: path.read_bytes() for path in notes.iterdir()} == before
    doubles(notes, 8)
    task, made = dream()
    assert (task.txn, [one.state for one in made]) == (None, ["open"] * 8)


def test_a_worker_adds_to_what_rules_found_and_its_reply_is_kept(notes: Path, config: Path, tmp_path: Path) -> None:
    (notes / "a.md").write_text("---\nname: a\n---\nTabs, everywhere.\n")
    (notes / "b.md").write_text("---\nname: b\ndescription: b\n---\nTabs in Go too, and in Python.\n")
    operation: dict[str, object] = dict.fromkeys(("type", "scope", "name", "description", "why", "how_to_apply"), "")
    operation |= {"op": "merge", "targets": ["m1", "m2"], "text": "Tabs, everywhere: in Go too, and in Python."}
    operation |= {"reason": "Both are about tabs.", "evidence": [], "confidence": 0.6}
    reply = json.dumps({"summary": "Merged.", "operations": [operation]})
    script = tmp_path / "worker.py"
    script.write_text(f"import sys\nsys.stdin.read()\nprint({reply!r})\n")
    assert [one.by for one in dream()[1]] == ["rule:describe"], "what it is asked was found before there was one"
    config.write_text('[lifecycle]\nworker = "command"\ncommand = ["no-such-program"]\n')
    dream()
    config.write_text(f'[lifecycle]\nworker = "command"\ncommand = ["python3", "{script}"]\n')
    task, made = dream()
    assert task.result is not None
    assert task.result["notes"] == []
    assert {one.by for one in made} == {"rule:describe", "command"}
    merged = next(one for one in made if one.by == "command")
    assert (merged.kind, merged.why, merged.confidence) == ("merge", "Both are about tabs.", 0.6)
    with session().engine as engine:
        (run,) = engine.tasks.runs(task=task.id)
    assert (run.worker, run.reply.strip()) == ("command", reply)
    assert "Tabs, everywhere." in run.sent
    again, _ = dream()
    with session().engine as engine:
        assert not engine.tasks.runs(task=again.id)[0].sent, "it answered about that"


def test_a_worker_is_asked_about_every_folder_in_parts_and_only_eight_things_count(
    notes: Path, config: Path, tmp_path: Path
) -> None:
    here = session()
    with here.engine as engine:
        mine = Path(engine.roots.find("memtui:project").path)
    mine.mkdir(parents=True)
    for number in range(9):
        (notes / f"{number}.md").write_text(f"---\nname: n{number}\n---\nGlobal {number}: {'x' * 15_000}\n")
    (mine / "p.md").write_text("---\nname: p\n---\nFerries leave at nine.\n")
    script = tmp_path / "worker.py"
    script.write_text(
        "import json, sys\ntext = sys.stdin.read()\n"
        "given, _ = json.JSONDecoder().raw_decode(text[text.index('{\\n'):])\n"
        "shown = [one for one in given['memories'] if 'text' in one][: 2 if 'at most 2' in text else 9]\n"
        "operation = {'op': 'describe', 'description': 'A day.'}\n"
        "print(json.dumps({'operations': [dict(operation, targets=[one['id']]) for one in shown]}))\n"
    )
    config.write_text(f'[lifecycle]\nworker = "command"\ncommand = ["python3", "{script}"]\n')
    here = session()
    with here.engine:
        prompts = look(task_context(here, here.settings)).asks()
        assert [len([one for one in each.aliases.values() if one.text]) for each in prompts] == [6, 3, 1]
    task, made = dream()
    assert task.result is not None
    assert (task.result["asked"], task.result["notes"]) == (2, ["The worker was asked 2 of 3 parts."])
    assert sum(one.by == "command" for one in made) == 8
    with session().engine as engine:
        (run,) = engine.tasks.runs(task=task.id)
    assert run.sent.startswith(f"{prompts[0].sent}\n\n{prompts[1].sent}")
    assert "Answer again." in run.sent


def test_a_dream_waits_while_the_agent_tidies_up_itself(notes: Path, home: Path) -> None:
    folder = home / ".qwen" / "memories"
    folder.mkdir(parents=True)
    lock = home / ".qwen" / "consolidation.lock"
    lock.write_text(str(os.getpid()))
    (folder / "a.md").write_text("A.\n")
    task, made = dream()
    assert (task.state, made) == ("queued", ()), "it is tried again"
    lock.write_text("999999999")
    with session().engine as engine:
        engine.tasks.cancel(task.id)
    task, _ = dream()
    assert task.state == COMPLETED


def test_status_says_what_the_next_one_waits_for_and_why(notes: Path, config: Path) -> None:
    def said(text: str) -> tuple[object, object]:
        config.write_text(text)
        here = session()
        with here.engine:
            found = status(here)
        return found["waits for"], found["because"]

    auto = '[lifecycle]\ndream = "auto"\n'
    assert said("") == (None, None)
    assert said(auto) == ("min_sessions", "agents' sessions may not be read, so none counts: memtui sessions")
    read = auto + '[transcripts]\nread = "all"\n'
    assert said(read) == ("min_sessions", "too few sessions since the last one: lifecycle.dream_sessions")
    dream()
    assert said(read) == ("same_session", "no session was written since the last one")


def asked(here: Session, later: int = 0) -> tuple[str, int | None]:
    who = task_context(here, here.settings)
    found = gate(who._replace(now=who.now + later))
    return found.name, found.until


def test_gates_open_in_their_order(notes: Path, config: Path, home: Path) -> None:
    def state(text: str, later: int = 0) -> tuple[str, int | None]:
        config.write_text(text)
        here = session()
        with here.engine:
            return asked(here, later)

    auto = '[lifecycle]\ndream = "auto"\n'
    assert state('[lifecycle]\ndream = "off"\n') == ("disabled", None)
    assert state("") == ("disabled", None)
    assert state(auto) == ("min_sessions", None)
    read = auto + '[transcripts]\nread = "all"\n'
    config.write_text(read)
    dream()
    assert state(read) == ("same_session", None)
    chats = home / ".claude" / "projects" / "-work"
    chats.mkdir(parents=True)
    for n in range(5):
        (chats / f"{n}.jsonl").write_text("{}\n")
        os.utime(chats / f"{n}.jsonl", (2_000_000_000, 2_000_000_000))
    name, until = state(read)
    assert name == "min_hours"
    assert until is not None
    assert state(read, 25 * HOUR_MS)[0] == "backoff", "it found nothing, so the interval doubles"
    assert state(read, 49 * HOUR_MS) == ("", None)
    here = session()
    with here.engine as engine:
        engine.tasks.enqueue(KIND, workspace_of(here.surroundings).id, "cli", {}, trigger="auto")
        assert asked(here) == ("running", None)
        for _ in range(2):
            queued = engine.tasks.enqueue(KIND, workspace_of(here.surroundings).id, "cli", {}, trigger="auto")
            engine.tasks.finish(queued.id, FAILED, error=("E_LOCKED", "No."))
        soon = here._replace(settings=here.settings._replace(lifecycle_dream_hours=1))
        assert asked(soon, 90 * 60_000)[0] == "backoff"
        assert asked(soon, 121 * 60_000) == ("", None)
