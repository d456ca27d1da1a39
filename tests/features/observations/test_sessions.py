"""Cards of agents' sessions: of what is worth one, in the right project, nothing twice and nothing private."""

import json
import os
import tracemalloc
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from memtui.config.read import load_settings, read_environment
from memtui.config.surroundings import surroundings_from
from memtui.engine import Engine
from memtui.engine.model import Actor, Root
from memtui.engine.observation import STATES
from memtui.errors import NotFoundError
from memtui.features.observations import decide, derive, find, sessions, tool
from memtui.features.observations.find import open_cards
from memtui.features.observations.model import Card, SessionScope
from memtui.features.observations.store import generations
from memtui.given.tokens import estimate
from tests.conftest import Clock
from tests.features.observations.made_sessions import NOW, SHAPES, Step, agent, edit, run, user, write
from tests.features.observations.world import ME, export

KEY = "AKIA" + "IOSFODNN7EXAMPLA"


class Read:
    """An engine in a project, and what of sessions it may have cards of."""

    def __init__(self, base: Path, home: Path) -> None:
        self.home, self.base = home, base
        self.cwd = str(base / "app")
        os.makedirs(f"{self.cwd}/.git")
        settings = load_settings(read_environment())._replace(transcripts_read="all", transcripts_keep="cards")
        self.reach = SessionScope(settings, surroundings_from(settings, cwd=self.cwd))
        self.root = Root("memtui:project", str(base / "own"), "memtui", "project", project=self.cwd)
        (base / "own").mkdir()
        self.clock = Clock(NOW)
        self.engine = Engine.open([self.root], state_dir=str(base / "state"), clock=self.clock)

    def write(self, steps: list[Step], kind: str = "claude-code", name: str = "s1", **more: object) -> Path:
        return write(kind, self.home, str(more.pop("cwd", self.cwd)), name, steps, **more)  # type: ignore[arg-type]

    def cards(self) -> list[Card]:
        """All cards, after everything was derived."""
        find.catch_up(self.engine, seconds=None, sessions=self.reach)
        with closing(generations.writer(self.engine.observations)) as writer:
            assert writer.check() == ""
            return export(writer)

    def said(self) -> list[tuple[str, str]]:
        """Type and title of each, in order."""
        return [(card.type, card.title) for card in self.cards()]

    def found(self, words: str, *, client: str | None = None) -> list[str]:
        with open_cards(self.engine, client=client, sessions=self.reach, seconds=60) as look:
            return [card.title for card in find.search(look, words, limit=50).cards]


@pytest.fixture
def read(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Read]:
    monkeypatch.setattr(sessions, "TEMPORARY", ("/tmp/nothing",))
    made = Read(tmp_path, home)
    with made.engine:
        yield made


def work(cwd: str) -> list[Step]:
    """Two turns: one that changes a file and mends a check, one that only asks."""
    return [
        user("Make the pool survive the night\nand tell me how"),
        agent("I look at it."),
        edit(f"{cwd}/src/pool.py"),
        run("pytest tests/test_pool.py", "E pool exhausted after 30 s"),
        edit(f"{cwd}/src/settings.py"),
        run("pytest tests/test_pool.py"),
        agent("# Done\n\nThe pool pings before each use now.\n\nMore to read."),
        user("No, use pre_ping instead of a thread"),
        agent("Yes.\nDecision: pre_ping for every pool\n"),
        user("Why did it die?"),
        agent("Because the server closed it."),
    ]


@pytest.mark.parametrize("kind", SHAPES)
def test_what_a_turn_makes(read: Read, kind: str) -> None:
    read.write(work(read.cwd), kind)
    assert sorted(read.said()) == [
        ("change", "Make the pool survive the night"),
        ("correction", "No, use pre_ping instead of a thread"),
        ("decision", "pre_ping for every pool"),
        ("fix", "Process exited with code 1" if kind == "codex" else "E pool exhausted after 30 s"),
    ]
    change = next(card for card in read.cards() if card.type == "change")
    assert change.narrative == "Make the pool survive the night\n\nThe pool pings before each use now."
    assert change.files == ("src/pool.py", "src/settings.py")
    assert (change.agent, change.root, change.kind) == (kind, 0, "session")
    assert read.found("pings before") == ["Make the pool survive the night"]
    assert read.found("pings before", client=kind) == ["Make the pool survive the night"]
    assert read.found("pings before", client="goose") == []
    read.reach = read.reach._replace(settings=read.reach.settings._replace(transcripts_keep="places"))
    assert read.found("pings before") == []


def test_growing_resuming_and_rebuilding_give_the_same_cards(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = work(read.cwd) + [step._replace(text=step.text.replace("p", "q")) for step in work(read.cwd)]
    path = read.write(steps)
    whole = read.cards()
    assert whole
    path.unlink()
    read.engine.observations.drop_files()
    for end in range(1, len(steps) + 1):
        read.write(steps[:end], written=NOW // 1_000 - (0 if end % 3 else 900))
        read.cards()
    read.write(steps)
    assert read.cards() == whole
    read.write([*steps, user("and one more"), edit(f"{read.cwd}/b.py")], name="s2", begin="s1")
    assert len(read.cards()) == len(whole) + 1
    before, _ = read.cards(), derive.rebuild(read.engine, sessions=read.reach)
    assert read.cards() == before
    monkeypatch.setattr(sessions, "READ_BYTES", 700)
    derive.rebuild(read.engine, sessions=read.reach)
    assert read.cards() == before
    path.unlink()
    derive.rebuild(read.engine, sessions=read.reach)
    assert len(read.cards()) == len(before)


def test_each_event_is_its_own_folders(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [user("Change it"), edit("a.py"), agent("Changed.")]
    tree = read.base / "tree"
    git = Path(read.cwd) / ".git/worktrees/tree"
    git.mkdir(parents=True)
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {git}\n")
    (git / "gitdir").write_text(f"{tree}/.git\n")
    (git / "commondir").write_text("../..\n")
    monkeypatch.setattr(sessions, "TEMPORARY", (str(read.base / "tmp"),))
    for name, cwd in (
        ("a", f"{read.cwd}/deep/gone"),
        ("b", str(tree)),
        ("c", "/srv/other"),
        ("d", f"{read.base}/tmp/x"),
    ):
        read.write([user(f"Change {name}"), *steps[1:]], name=name, cwd=cwd)
    there = read.write([user("Change f"), *steps[1:]], name="e", begin="f", cwd="/srv/other")
    text = there.read_text()
    there.unlink()
    here = read.write([user("Change e"), *steps[1:]], name="e")
    last = json.loads(here.read_text().splitlines()[-1])["uuid"]
    here.write_text(here.read_text() + text.replace("null", f'"{last}"', 1))
    os.utime(here, (NOW // 1_000 - 900,) * 2)
    assert sorted(title for _, title in read.said()) == [f"Change {name}" for name in "abcef"]
    assert sorted(read.found("change")) == ["Change a", "Change b", "Change e"]
    only = read.reach.settings._replace(transcripts_read="project")
    read.engine.observations.drop_files()
    place = read.reach.place
    for stands in (read.cwd, str(tree)):
        read.engine.observations.drop_files()
        read.reach = SessionScope(only, place._replace(cwd=stands, project=stands, checkout=stands))
        assert sorted(title for _, title in read.said()) == ["Change a", "Change b", "Change e"]


def test_nothing_private_and_no_echo(read: Read) -> None:
    long = "x" * 390 + f" {KEY} "
    read.write(
        [
            user("Use the <private>quokka burrow</private> for it"),
            edit(f"{read.cwd}/a.py"),
            agent("I used the quokka burrow."),
            user("And again"),
            run("make all", long),
            edit(f"{read.cwd}/{KEY}.py"),
            agent("The Quokka Burrow is used twice."),
            user("<no-memory> leave no trace of the zebra"),
            edit(f"{read.cwd}/zebra.py"),
            user("What did we say?"),
            run("memtui obs search giraffe", "giraffe is a card"),
            agent("giraffe"),
        ]
    )
    read.write([user("<no-memory>"), user("okapi"), edit(f"{read.cwd}/okapi.py")], name="s2")
    cards = read.cards()
    text = repr(cards).casefold()
    assert len(cards) == 3
    assert all(word.casefold() not in text for word in ("quokka", KEY, KEY[:14], "zebra", "giraffe", "okapi"))
    assert read.found("use") == []
    with open_cards(read.engine, private=True, sessions=read.reach) as look:
        assert len(find.search(look, "private").cards) == 2


def test_a_turn_with_something_private_is_private_and_what_it_named_is_in_no_card(read: Read) -> None:
    read.write(
        [
            user("The <private>pin is 4711</private> and <private>quokka burrow</private>: make it"),
            edit(f"{read.cwd}/quokka_burrow.py"),
            edit(f"{read.cwd}/port_4711.py"),
            edit(f"{read.cwd}/a.py"),
            agent("Decision: no rule for all"),
            run("make all", "E no rule"),
            user("And what was it?"),
            edit(f"{read.cwd}/b.py"),
            agent("The number is 4711, of the Quokka\n  burrow; 47110 is none."),
            user("Now something else"),
            edit(f"{read.cwd}/c.py"),
        ]
    )
    cards = read.cards()
    assert sorted((card.type, STATES[card.state], card.files) for card in cards) == [
        ("change", "normal", ("c.py",)),
        ("change", "private", ("a.py",)),
        ("change", "private", ("b.py",)),
        ("decision", "private", ()),
        ("error", "private", ()),
    ]
    again = next(card for card in cards if card.files == ("b.py",))
    assert again.narrative.endswith("The number is [private], of the [private]; 47110 is none.")


def test_what_cannot_be_read_is_said_and_the_old_goes(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    good = read.write(work(read.cwd))
    bad = read.write(work(read.cwd), name="s2", begin="other")
    bad.chmod(0)
    if os.access(bad, os.R_OK):
        bad.unlink()
        os.mkfifo(bad)
    done = find.catch_up(read.engine, seconds=None, sessions=read.reach)
    assert (done.total, done.pending) == (1 if bad.is_fifo() else 2, 0)
    cards = read.cards()
    good.unlink()
    assert read.cards() == cards
    read.clock.now += (read.reach.settings.observe_days + 1) * sessions.DAY_MS
    assert read.cards() == []
    kept = b"".join(file.read_bytes() for file in read.base.rglob("observed-*"))
    assert b"hausted" not in kept, "nor in the index of words"
    good = read.write(work(read.cwd))
    assert read.cards() == []


def test_what_is_decided_about_a_turn_stays(read: Read) -> None:
    read.write(work(read.cwd))
    before = len(read.cards())
    for words, state in (("pings", "private"), ("thread", "rm"), ("exhausted", "redact")):
        with open_cards(read.engine, private=True, sessions=read.reach) as look:
            mark = decide.decision_for(read.engine, look, find.search(look, words).cards[0].word)
        if state == "private":
            decide.set_state(read.engine, [mark], state, actor=ME)
            assert read.found(words) == []
            assert read.engine.undo.undo(actor=ME).label == "make an observation of a session private"
            assert len(read.found(words)) == 1
            read.engine.undo.redo(actor=ME)
        elif state == "rm":
            decide.delete(read.engine, [mark], actor=ME)
        else:
            assert decide.redact(read.engine, mark, actor=ME, reason="a slip")
    read.write([*work(read.cwd), user("More"), edit(f"{read.cwd}/b.py")])
    again = read.cards()
    assert len(again) == before + 1
    derive.rebuild(read.engine, sessions=read.reach)
    assert read.cards() == again
    assert sorted(STATES[card.state] for card in again if card.withheld) == ["normal", "private", "redacted"]
    assert [read.found(words) for words in ("pings", "thread", "exhausted", "every")] == [
        [],
        [],
        [],
        ["pre_ping for every pool"],
    ]
    assert decide.adrift(read.engine) == []


def test_an_agent_finds_what_its_own_session_said(read: Read) -> None:
    steps = [
        step for number in range(200) for step in (user(f"Question {number} about pools"), agent(f"Answer {number}."))
    ]
    steps[40] = user(f"The port is 4711, not <private>quokka</private> nor {KEY}")
    steps[60:62] = [user("<no-memory> 4711 zebra"), agent("4711 okapi")]
    steps += [run("memtui obs grep 4711", "4711 giraffe"), edit(f"{read.cwd}/4711.py"), user("Which port was it?")]
    read.write(steps, name="mine", written=NOW // 1_000 - 60)
    read.write(steps, name="old", begin="old")
    read.write(steps, name="theirs", kind="codex", written=NOW // 1_000 - 60)
    ask = (read.engine, Actor("mcp:claude-code"))
    settings, place = read.reach
    said = tool.grep(*ask, {"query": "4711"}, settings, place).text
    assert [line.split(": ", 1)[1][:16] for line in said.splitlines()[1:]] == [
        "The port is 4711",
        f"Edit {read.cwd}/4711.py"[:16],
    ]
    name = said.splitlines()[1].split()[1]
    around = tool.describe(*ask, {"id": name, "turns": 3}, settings, place).text
    assert [line for line in around.splitlines() if line.startswith("user:")] == [
        "user: Question 19 about pools",
        "user: The port is 4711, not [private] nor [masked: AWS key]",
        "user: Question 21 about pools",
    ]
    every = said + around + tool.grep(*ask, {"query": "question", "limit": 50}, settings, place).text
    assert all(word not in every for word in ("quokka", KEY, "zebra", "okapi", "giraffe"))
    for much in (
        tool.grep(*ask, {"query": "question", "limit": 50}, settings, place),
        tool.describe(*ask, {"id": name, "turns": 25}, settings, place),
    ):
        assert estimate(much.text) <= 3_000
    with pytest.raises(NotFoundError):
        tool.describe(*ask, {"id": "mine-1"}, settings, place)
    off = settings._replace(transcripts_keep="places")
    assert "No session" in tool.grep(*ask, {"query": "4711"}, off, place).text


@pytest.mark.parametrize("kind", ["claude-code", "codex"])
def test_a_session_that_answers_a_program_once_has_no_card(read: Read, kind: str) -> None:
    path = read.write(work(read.cwd), kind)
    text = path.read_text()
    path.write_text(
        text.replace('"cwd"', '"entrypoint": "sdk-cli", "cwd"').replace('"source": "cli"', '"source": "exec"')
    )
    assert path.read_text() != text
    assert read.cards() == []
    path.write_text(text + "\n")
    assert len(read.cards()) == 4


def test_large_results_and_pictures_are_in_no_card_and_no_memory(read: Read) -> None:
    path = read.write([*work(read.cwd), edit(f"{read.cwd}/b.py")])
    head, last = path.read_text().rstrip("\n").rsplit("\n", 1)
    with path.open("w") as out:
        out.write(
            head + "\n" + last.replace('"ok"', '[{"type": "image", "source": {"data": "' + "iVBOR" * 9_999 + '"}}]')
        )
        out.write('\n{"type": "user", "message": {"role": "user", "content": [{"tool_use_id": "c", "content": "')
        for _ in range(80):
            out.write("zebra " * 174_762)
        out.write('", "type": "tool_result"}]}}\n')
    os.utime(path, (NOW // 1_000 - 900,) * 2)
    assert find.catch_up(read.engine, seconds=None, cancelled=lambda: True, sessions=read.reach).pending == 1
    tracemalloc.start()
    made = read.cards()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 * 1_048_576
    assert len(made) == 5
    assert not [one for one in made if "zebra" in repr(one) or "iVBOR" in repr(one)]


def test_cards_of_sessions_are_withheld_when_switched_off_and_go_for_good(
    read: Read,
) -> None:
    read.write(work(read.cwd))
    assert len(read.cards()) == 4
    with open_cards(read.engine, private=True, sessions=read.reach) as look:
        mark = decide.decision_for(read.engine, look, find.search(look, "pings before").cards[0].word)
    decide.edit(read.engine, mark, {"note": "walrus"}, actor=ME)
    on = read.reach
    places, off = on.settings._replace(transcripts_keep="places"), on.settings._replace(transcripts_read="off")
    for switched in (places, off):
        read.reach = on._replace(settings=switched)
        assert read.found("pings before", client="claude-code") == read.found("pings before") == []
        assert len(read.cards()) == 4
    read.reach = on
    assert read.found("walrus")
    table = read.engine.observations
    assert decide.clear_sessions(read.engine, now=read.clock()) == (4, True)
    kept = b"".join(file.read_bytes() for file in (read.base / "state").rglob("*") if file.is_file())
    assert b"pings before" not in kept
    assert [mark for mark in table.marks() if not mark.root] == []
    derive.rebuild(read.engine, sessions=read.reach)
    assert read.cards() == []
