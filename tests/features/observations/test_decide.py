"""What a person decided is so at every door and through every rebuild; what is redacted is in no file any more."""

import re
import shutil
from contextlib import closing

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtui.engine import Engine
from memtui.engine.approval import Approver
from memtui.engine.model import Actor, Address, Write
from memtui.engine.observation import ObservationMark
from memtui.engine.proposal import Evidence, Proposal
from memtui.errors import MemtuiError, RefusedError, UsageError
from memtui.features.hot_set.assemble import build
from memtui.features.hot_set.shares import Door, load
from memtui.features.observations import decide, find, tool
from memtui.features.observations.derive import rebuild
from memtui.features.observations.find import open_cards
from memtui.features.observations.store import generations
from memtui.features.recall.find import recall
from memtui.features.search import tool as search
from tests.conftest import START, Clock
from tests.examples import examples
from tests.features.hot_set.test_view_rows import settings as hot_settings
from tests.features.observations.world import ME, Watched, card, cards, decided, titles

AGENT = Actor("mcp:claude-code")
WORDS = ("walrus", "gibbon", "ocelot", "tapir", "okapi", "dugong")


DECISIONS = st.tuples(st.sampled_from(WORDS), st.sampled_from(["private", "suppressed", "normal", "rm", "redact"]))


@given(st.lists(DECISIONS, max_size=8))
@settings(max_examples=examples(12))
def test_no_agent_learns_anything_of_what_is_withheld(
    tmp_path_factory: pytest.TempPathFactory, decisions: list[tuple[str, str]]
) -> None:
    world = Watched(tmp_path_factory.mktemp("leak"), lambda: START)
    for word in WORDS[:3]:
        world.write(f"own/{word}.md", f"# All about {word}\n\nThe {word} of `src/{word}.py`\n")
    world.write("theirs/many.txt", "\n\n".join(f"A rule for the {word}." for word in WORDS[3:]))
    withheld: dict[str, bool] = {}
    with world.engine() as engine:
        names = {word: card(engine, word).word for word in WORDS}
        for word, what in decisions:
            try:
                decided(engine, word, what)
            except (MemtuiError, IndexError):
                continue  # redacted, which is for good
            gone = what != "normal" or withheld.get(f"{word} rm", False)
            withheld |= {word: gone, f"{word} rm": what == "rm" or withheld.get(f"{word} rm", False)}
    hidden = [word for word in WORDS if withheld.get(word)]
    with world.engine() as engine:
        shown = tool.index(engine, AGENT, {"query": " ".join(WORDS), "limit": 50, "budget": 8_000}).text
        for word in WORDS:
            given = {"ids": [names[word]]}
            if word not in hidden:
                assert names[word][:8] in shown
                assert word in tool.details(engine, AGENT, given).text
                shown += tool.timeline(engine, AGENT, {"id": names[word], "before": 20, "after": 20}).text
                continue
            assert "No observation has these words." in tool.index(engine, AGENT, {"query": word}).text
            said = []
            for ids in (names[word], "a" * 16):
                with pytest.raises(MemtuiError) as caught:
                    tool.details(engine, AGENT, {"ids": [ids]})
                said.append(str(caught.value).replace(ids, ""))
            assert said[0] == said[1]
        lines = shown.splitlines()[1:]
        assert not [word for word in hidden if any(word in line or names[word][:8] in line for line in lines)]
        with open_cards(engine, client="claude-code") as look:
            assert look.reader.counts(look.wanted) == {"normal": len(WORDS) - len(hidden)}


@pytest.mark.parametrize(
    "asked",
    [
        "SELECT count(*) FROM withheld",
        "SELECT title FROM withheld",
        "SELECT * FROM withheld_fts_docsize",
        "SELECT count(*) FROM shared, withheld_fts WHERE withheld_fts MATCH 'quokka'",
        "DELETE FROM shared",
        "ATTACH ':memory:' AS other",
    ],
)
def test_the_connection_of_an_agent_refuses_what_is_withheld(engine: Engine, asked: str) -> None:
    decided(engine, "quokka", "private")
    with open_cards(engine, client="claude-code") as look:
        assert list(look.reader.database.execute("SELECT count(*) FROM shared")) == [(4,)]
        with pytest.raises(apsw.Error, match=r"not authorized|prohibited|vtable constructor failed"):
            list(look.reader.database.execute(asked))


def doors(engine: Engine) -> str:
    """What agents are given unasked about repeated requests."""
    given = recall(engine, "retry a POST", agent="mcp:claude-code").items
    return f"{search.search(engine, {'query': 'retry'})} {build(engine).text} {[one.row.address for one in given]}"


def test_no_door_gives_the_memory_of_a_withheld_card_unasked(engine: Engine, world: Watched) -> None:
    assert doors(engine).count("retry.md") >= 3
    decided(engine, "retry", "private")
    assert "retry" not in doors(engine).replace("'retry'", "")
    decided(engine, "retry", "normal")
    assert doors(engine).count("retry.md") >= 3
    decided(engine, "retry", "private")
    (world.base / "own" / "retry.md").rename(world.base / "own" / "retrying.md")
    shutil.copy(world.base / "own" / "retrying.md", world.base / "own" / "retry-copy.md")
    assert "retry" not in doors(engine).replace("'retry'", "")


def test_a_person_sees_what_is_private_and_asks_for_what_is_hidden(engine: Engine) -> None:
    decided(engine, "quokka", "private")
    decided(engine, "billing", "suppressed")
    with open_cards(engine, private=True) as look:
        assert len(find.search(look, "quokka").cards) == 1
        assert find.search(look, "billing").cards == ()
        counts = look.reader.counts(look.wanted)
    assert counts == {"normal": 3, "private": 1, "brought": 0, "hidden": 1, "redacted": 0, "adrift": 0}
    for query, what in (("quokka", "normal"), ("billing", "normal")):
        decided(engine, query, what)
    assert titles(engine, "billing") == ["Ask before touching billing."]


def test_edits_and_deletions_outlive_rebuilds_and_come_back(engine: Engine) -> None:
    decided(engine, "quokka", "edit", title="Tables", type="decision", note="walrus")
    decided(engine, "quokka", "rm")
    rebuild(engine)
    assert titles(engine, "walrus") == []
    decided(engine, "walrus", "restore")
    (edited,) = [one for one in cards(engine) if one.patch]
    assert (edited.title, edited.type, edited.note, titles(engine, "tables")) == (
        "Tables",
        "decision",
        "walrus",
        ["Tables"],
    )
    decided(engine, "walrus", "edit", title="", type="", note="")
    assert titles(engine, "quokka") == ["Use quokka for tables."]
    with pytest.raises(RefusedError, match="not deleted"):
        decided(engine, "quokka", "restore")


@pytest.mark.parametrize(
    "patch",
    [
        *({"state": "x"}, {"title": "a\nb"}, {"title": "x" * 161}, {"type": "nothing"}, {"note": 7}),
        *({"title": "\x1b["}, {"concepts": ["x"] * 13}, {"narrative": "x"}, {"": "x"}),
    ],
)
def test_what_no_edit_may_hold(engine: Engine, patch: dict[str, object]) -> None:
    with pytest.raises(UsageError) as caught:
        decided(engine, "quokka", "edit", **patch)
    assert caught.value.code == "E_PATCH"


def test_what_is_redacted_is_in_no_file(world: Watched) -> None:
    with world.engine() as engine:
        cards(engine)
        decided(engine, "quokka", "edit", note="the quokka says")
        assert b"quokka" in world.bytes()
        generations.building(engine.observations).close()
        with closing(generations.building(engine.observations)) as half:
            half.copy_source(generations.writer(engine.observations), (2, "many.txt"), list)
        decided(engine, "quokka", "redact")
        assert cards(engine)
    with world.engine() as engine:
        assert b"quokka" not in world.bytes()
        assert titles(engine, "quokka") == []
        for what in ("normal", "rm", "redact", "edit"):
            with pytest.raises((RefusedError, IndexError)):
                decided(engine, "quokka", what, title="x")
        rebuild(engine)
        assert b"quokka" not in world.bytes()


def test_the_text_of_what_was_deleted_goes_after_its_days_and_a_restore_makes_it_anew(
    world: Watched, clock: Clock
) -> None:
    def kept() -> bytes:
        return b"".join(file.read_bytes() for file in world.state.glob("observed-*"))

    with world.engine() as engine:
        cards(engine)
        decided(engine, "quokka", "edit", note="the numbat")
        name = decided(engine, "quokka", "rm").name
    for day in range(31):
        clock.advance(days=1)
        assert b"quokka" in kept(), "its days are not over"
        with world.engine() as engine:
            engine.observations.put(
                ObservationMark(f"other{day}".encode(), 0, 1, f"gone{day}.md", b"", b"", b""), actor="tui"
            )
    with world.engine() as engine:
        gone = next(one for one in cards(engine) if one.name == name)
    assert (gone.deleted, gone.title, gone.narrative, gone.note, gone.patch) == (True, "", "", "", "")
    assert not re.search(b"quokka|numbat", kept())
    with world.engine() as engine:
        rebuild(engine)
        assert b"quokka" not in kept(), "no rebuild brings it back"
        mark = engine.observations.mark(name)
        assert mark is not None
        assert mark.withholds
        decide.restore(engine, [mark], actor=ME)
        assert titles(engine, "quokka") == ["Use quokka for tables."]


def test_a_reader_in_the_way_leaves_the_rest_for_the_next(engine: Engine, world: Watched) -> None:
    cards(engine)
    with open_cards(engine) as look:
        rows = look.reader.database.execute("SELECT * FROM shared")
        next(rows)
        decided(engine, "quokka", "redact")
        assert b"quokka" in world.bytes()
        list(rows)
    assert titles(engine, "tabs") == ["Use tabs."]
    assert b"quokka" not in world.bytes()


def test_a_redacted_version_is_in_no_card(engine: Engine, world: Watched) -> None:
    address = Address("memtui:project", "pool.md")
    cards(engine)
    snapshot = engine.read(address)
    engine.save(address, "# Pool\n\nfine\n", expected_sha256=snapshot.sha256, actor=ME)
    engine.redaction.redact(address, snapshot.sha256, reason="a slip", actor=ME)
    assert b"pre_ping" not in world.bytes()
    assert titles(engine, "pool") == ["Pool"]


def test_decisions_are_applied_before_anything_is_read(world: Watched) -> None:
    def put(query: str) -> None:
        """Decide as a process does that is killed before it applies the decision."""
        marked = card(engine, query)
        with open_cards(engine, private=True) as look:
            mark = decide.decision_for(engine, look, marked.word)
        engine.observations.put(mark._replace(state=1), actor="tui")

    with world.engine() as engine:
        put("billing")
        assert titles(engine, "billing", client="claude-code") == []
        put("quokka")
        with world.engine(read_only=True) as other, pytest.raises(RefusedError, match="wait to be applied"):
            titles(other, "quokka")
        with generations.alone(engine.observations):
            assert titles(engine, "quokka", client="claude-code") == []


def test_without_a_ledger_nothing_is_handed_out(engine: Engine, world: Watched) -> None:
    cards(engine)
    engine.close()
    (world.state / "state.db").unlink()
    (world.state / "state.db").mkdir()
    with world.engine() as other, pytest.raises(MemtuiError) as caught:
        titles(other, "quokka")
    assert caught.value.code == "E_STORE"


def test_a_decision_goes_adrift_rather_than_to_another_card(engine: Engine, world: Watched) -> None:
    parts = "".join(f"## Part {n}\n\nwalrus{n} {'word ' * 150}\n" for n in range(7))
    world.write("own/a.md", f"# Zebra\n\nintro zebra\n\n{parts}")
    world.write("theirs/many.txt", "# n\nalpha\n\n# n\nokapi\n\n# n\nomega\n")
    decided(engine, "zebra", "private")
    decided(engine, "okapi", "private")
    world.write("own/a.md", f"# Zebra\n\nintro zebra\n\n{parts}{'more ' * 200}\n")
    world.write("theirs/many.txt", "# n\nnew\n\n# n\nalpha\n\n# n\nokapi now\n\n# n\nomega\n")
    for word in ("walrus3", "zebra", "okapi"):
        assert titles(engine, word, client="claude-code") == []
    assert titles(engine, "alpha", client="claude-code")
    assert len(decide.adrift(engine)) == 2


def test_a_memory_that_is_one_card_again_is_withheld_with_its_parts(engine: Engine, world: Watched) -> None:
    world.write("own/a.md", f"zebra\n\n# Walrus\n\nsecretive\n\n# More\n\n{'word ' * 1300}\n")
    decided(engine, "zebra", "edit", title="Plans")
    decided(engine, "secretive", "private")
    world.write("own/a.md", "zebra\n\n# Walrus\n\nsecretive\n")
    assert titles(engine, "secretive", client="claude-code") == []


def test_an_edit_releases_nothing(engine: Engine, world: Watched) -> None:
    decided(engine, "quokka", "private")
    world.write("theirs/many.txt", "# data\nUse okapi for tables.\n\nUse tabs.\n")
    decided(engine, "okapi", "edit", title="Tables")
    assert titles(engine, "okapi", client="claude-code") == []
    decided(engine, "okapi", "normal")
    assert titles(engine, "okapi", client="claude-code") == ["Tables"]


def test_of_two_equal_entries_the_one_in_other_words_is_not_given(engine: Engine, world: Watched) -> None:
    world.write("theirs/many.txt", "walrus\n\nUse tabs.\n\nwalrus\n")
    decided(engine, "walrus", "private")
    for text in ("the okapi\n\nUse tabs.\n\nwalrus\n", "walrus\n\nUse tabs.\n\nthe okapi\n", "an okapi\n\nUse tabs.\n"):
        world.write("theirs/many.txt", text)
        assert titles(engine, "okapi", client="claude-code") == []
        assert titles(engine, "walrus", client="claude-code") == []
        assert titles(engine, "tabs", client="claude-code") == ["Use tabs."]


def test_u_takes_decisions_back_one_step_after_the_other(engine: Engine, world: Watched) -> None:
    def told() -> tuple[list[str], list[str]]:
        return titles(engine, "quokka", client="claude-code"), titles(engine, "tabs", client="claude-code")

    everything = told()
    with open_cards(engine, private=True, seconds=60) as look:
        marks = [decide.decision_for(engine, look, card(engine, word).word) for word in ("quokka", "tabs")]
    decide.set_state(engine, marks, "private", actor=ME)
    assert told() == ([], [])
    decided(engine, "quokka", "edit", title="Tables")
    decided(engine, "quokka", "rm")
    assert card(engine, "quokka").deleted
    assert engine.undo.undo(actor=ME).label == "delete an observation of claude-code:global/many.txt"
    assert (card(engine, "quokka").title, card(engine, "quokka").deleted) == ("Tables", False)
    engine.undo.undo(actor=ME)
    assert card(engine, "quokka").title != "Tables"
    assert engine.undo.undo(actor=ME).outcomes[0].ok
    assert told() == everything
    assert not engine.observations.marks()
    for _ in range(2):
        engine.undo.redo(actor=ME)
    assert told() == ([], [])
    assert card(engine, "quokka").title == "Tables"
    (world.base / "theirs/many.txt").rename(world.base / "theirs/other.md")
    engine.watch.reconcile()
    engine.undo.undo(actor=ME)
    engine.undo.undo(actor=ME)
    assert [one.title for one in cards(engine) if one.path == "other.md" and not one.state] == ["db"]


def test_a_redaction_is_not_taken_back_nor_what_was_decided_before_it(engine: Engine, world: Watched) -> None:
    for title in ("the secret numbat", "another"):
        decided(engine, "quokka", "edit", title=title)
    assert b"numbat" in world.bytes()
    decided(engine, "quokka", "redact")
    assert b"numbat" not in world.bytes()
    done = engine.undo.undo(actor=ME)
    assert "redacted by now" in str(done.outcomes[0].error)
    assert titles(engine, "quokka") == []


def test_an_agent_takes_no_decision_back(engine: Engine, world: Watched) -> None:
    decided(engine, "quokka", "private")
    refuses = pytest.raises(RefusedError, match="Only a person may decide")
    with world.engine(approver=lambda: Approver("cli", "", "Claude Code runs it.")) as other, refuses:
        other.undo.undo(actor=AGENT)
    assert titles(engine, "quokka", client="claude-code") == []


def test_a_decision_by_somebody_else_is_not_taken_back(engine: Engine, world: Watched) -> None:
    decided(engine, "quokka", "private")
    with world.engine() as other:
        found = card(other, "quokka")
        with open_cards(other, private=True) as look:
            other.observations.put(decide.decision_for(other, look, found.word)._replace(state=2), actor="cli")
    done = engine.undo.undo(actor=ME)
    assert "decided about the observation since" in str(done.outcomes[0].error)
    assert titles(engine, "quokka", client="claude-code") == []


def proposed(engine: Engine, shown: Evidence, text: str, fingerprint: str) -> Proposal:
    """Propose to remember what a card says."""
    step = Write(Address("memtui:project", f"{fingerprint}.md"), text.encode(), None)
    new = Proposal("", "", "rule:unkept", "add", (step,), (), f"You said {text}", (shown,), 0.6, fingerprint)
    return engine.proposals.add([new])[0]


def test_what_is_proposed_because_of_a_card_goes_with_it(world: Watched) -> None:
    with world.engine() as engine:
        name = card(engine, "quokka").word
        by_place = Evidence("memory", "claude-code:global/many.txt", "", f"observation {name[:8]}", "quokka")
        some = [proposed(engine, by_place, "quokka", "a" * 64)]
        decided(engine, "quokka", "private")
        some.append(proposed(engine, Evidence("observation", name, quote="quokka"), "quokka", "b" * 64))
        other = proposed(engine, Evidence("observation", "a" * 16), "fine", "c" * 64)
        first, second = (engine.proposals.get(one.id) for one in some)
        assert (first.state, first.steps, first.why, first.evidence) == ("superseded", (), "", ())
        assert (second.state, second.steps) == ("open", some[1].steps)
        engine.proposals.decide([second.id], "rejected", by="cli")
        decided(engine, "quokka", "redact")
        assert [engine.proposals.get(one.id).steps for one in (second, other)] == [(), other.steps]
    assert b"You said quokka" not in world.bytes()


def test_view_4_tells_a_person_what_is_not_given_because_it_is_withheld(engine: Engine, world: Watched) -> None:
    cards(engine)
    engine.pins.set([Address("memtui:project", "pool.md")], pinned=True, actor=ME)
    decided(engine, "pool", "private")
    assert [(one.row.address.path, one.reason) for one in load(engine, hot_settings(), Door()).left_out] == [
        ("pool.md", "withheld")
    ]
    with world.engine(approver=lambda: Approver(agent="CLAUDECODE is set.")) as agents:
        assert load(agents, hot_settings(), Door()).left_out == ()
