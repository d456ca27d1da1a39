"""Cards are found as their words are typed, in every script; and the bad inputs of observations, each with its test."""

import errno
import os
import random
import shutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.approval import Approver
from memtui.engine.model import Actor, Policy, Root
from memtui.errors import ConflictError, MemtuiError, NotFoundError, RefusedError, UsageError
from memtui.features.observations import decide, derive, find, rules, tool
from memtui.features.observations.derive import rebuild
from memtui.features.observations.find import catch_up, open_cards
from memtui.features.observations.model import detail
from memtui.features.observations.store import card_file, generations
from memtui.features.observations.store import generations as store
from memtui.features.observations.store.card_file import CardWriter
from memtui.given.tokens import estimate
from tests.conftest import Clock
from tests.faults.injector import failing, hooked
from tests.features.observations.world import ME, Watched, card, cards, decided, titles

SCRIPTS = {
    "库": "数据库连接池耗尽",
    "耗尽": "数据库连接池耗尽",
    "Token消耗": "先看Token消耗再说",
    "นโยบาย": "นี่คือนโยบายใหม่",
    "strasse": "Die Straße ist lang",
    "file": "the ﬁle is here",
    "cafe": "We meet in the café",
    "e\u0301t\u00e9": "l'été est là",
    "서버": "서버 설정",
    "pre_ping": "set pool_pre_ping",
    "connection": "call openConnectionPool first",
    "v1.2.3": "pinned to v1.2.3",
    "api/retry.py": "see src/api/retry.py",
}


def test_every_script_is_found_as_it_is_typed(engine: Engine, world: Watched) -> None:
    for number, text in enumerate(dict.fromkeys(SCRIPTS.values())):
        world.write(f"own/s{number}.md", f"# Note {number}\n\n{text}\n")
    with open_cards(engine, seconds=60) as look:
        for query, text in SCRIPTS.items():
            assert any(text in card.narrative for card in find.search(look, query).cards), query


def test_words_of_either_half_are_found(engine: Engine, world: Watched) -> None:
    rng = random.Random(14)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(4, 8))) for _ in range(400)]
    han = [chr(rng.randrange(0x4E00, 0x5000)) for _ in range(300)]
    texts = {n: rng.choices(words, k=80) if n % 4 else rng.choices(han, k=80) for n in range(60)}
    for number, some in texts.items():
        world.write(f"own/t{number}.md", ("" if number % 4 == 0 else " ").join(some))
    found = 0
    with open_cards(engine, seconds=60) as look:
        for number, some in texts.items():
            half = some[40 * rng.randrange(2) :][:40]
            at = rng.randrange(37)
            query = "".join(half[at : at + 3]) if number % 4 == 0 else " ".join(rng.sample(half, 3))
            found += any(card.path == f"t{number}.md" for card in find.search(look, query, limit=20).cards)
    assert found == len(texts)


def test_only_the_last_word_is_also_a_beginning(engine: Engine, world: Watched) -> None:
    world.write("own/w.md", "# Walrus\n\nkept beside others, and wal by itself\n")
    with open_cards(engine, seconds=60) as look:
        for query, full in (("kept walr", 1), ("walr kept", 0), ("walru", 1), ("kept wal", 1), ("walrus othe", 1)):
            assert find.search(look, query).full == full, query


@pytest.mark.parametrize(
    "query", ['"', "AND", "NEAR(a", "*", "t:x", "(" * 900, "a\0b", "\udcff", "-", "NOT retry", "^re"]
)
def test_no_query_is_an_operator(engine: Engine, query: str) -> None:
    assert all("retry" in title.casefold() for title in titles(engine, query))
    assert titles(engine, "never -nowhere retry") == ["Retry budget"]
    assert titles(engine, "never -post") == []


def test_the_best_comes_first_and_pages_go_on(engine: Engine, world: Watched, clock: Clock) -> None:
    for number in range(12):
        world.write(f"own/n{number:02}.md", f"# Walrus {number}\n\nsame\n")
    world.write("own/a.md", "# Other\n\na walrus in the text\n")
    world.write("own/b.md", "---\ntype: correction\n---\n# Walrus rule\n\ntext\n")
    world.write("own/twin.md", "# Walrus rule\n\ntwin\n")
    with open_cards(engine, seconds=60) as look:
        first = find.search(look, "walrus", limit=9)
        rest = find.search(look, "walrus", limit=9, cursor=first.next)
        assert first.cards[0].title == "Walrus rule"
        assert (rest.cards[-1].title, rest.next, len(first.cards) + len(rest.cards)) == ("Other", "", 15)
        assert not {card.name for card in first.cards} & {card.name for card in rest.cards}
        for cursor in (first.next[1:], "x", find.search(look, "other", limit=1).next + "1"):
            with pytest.raises(UsageError, match="another search"):
                find.search(look, "walrus", cursor=cursor)
        only = look._replace(wanted=look.wanted._replace(types=("correction",)))
        assert [card.title for card in find.search(only, "walrus").cards] == ["Walrus rule"]
        later = look._replace(wanted=look.wanted._replace(until=1_000))
        assert find.search(later, "walrus").cards == ()
        some = find.search(look, "walrus nowhere retry")
        assert (some.full, len(some.cards)) == (0, 10)


def test_a_timeline_has_its_card_in_the_middle(engine: Engine) -> None:
    with open_cards(engine, seconds=60) as look:
        pool = find.search(look, "pool").cards[0]
        assert pool in find.timeline(look, pool, 0, 0)
        around = find.timeline(look, pool, 20, 20)
        assert [card.path for card in sorted(around, key=lambda card: card.path)] == ["pool.md", "retry.md"]
        assert find.by_name(look, pool.word[:6].upper()) == pool
        for word in (pool.word[:5], "!" * 8, "a" * 17, "aaaaaaaa"):
            with pytest.raises((UsageError, NotFoundError)):
                find.by_name(look, word)
        assert pool.tokens == estimate(detail(pool))


def test_the_newest_of_many_are_enough(engine: Engine, world: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "NEWEST", 3)
    monkeypatch.setattr(find, "NEWEST", 3)
    for number in range(9):
        world.write(f"own/n{number}.md", f"Walrus {number}\n")
    with open_cards(engine, seconds=60) as look:
        found = find.search(look, "walrus")
        assert (len(found.cards), found.many) == (3, True)


def test_a_pipe_that_nobody_reads_is_no_fault_of_the_cards(engine: Engine) -> None:
    with pytest.raises(BrokenPipeError), open_cards(engine):
        raise BrokenPipeError


AGENT = Actor("mcp:claude-code")
KEY = "ghp_" + "a1B2" * 9
HERE = "tests.features.observations"
ROWS = {
    1: "tests.transcripts.test_sessions:test_lines_that_are_no_records_are_counted",
    2: "tests.transcripts.test_sessions:test_no_record_makes_a_reader_fail",
    3: f"{__name__}:test_3_a_time_that_cannot_be_is_the_nearest_that_can",
    4: f"{__name__}:test_4_what_does_not_fit_in_a_second_is_in_the_next",
    5: f"{HERE}.test_sessions:test_growing_resuming_and_rebuilding_give_the_same_cards",
    6: "tests.transcripts.test_sessions:test_another_file_is_read_from_its_beginning",
    7: "tests.transcripts.test_sessions:test_half_a_line_waits_for_its_rest",
    8: "tests.transcripts.test_sessions:test_what_is_no_plain_file_of_ours_is_left_alone",
    9: f"{HERE}.test_sessions:test_each_event_is_its_own_folders",
    10: f"{HERE}.test_sessions:test_large_results_and_pictures_are_in_no_card_and_no_memory",
    11: f"{__name__}:test_11_a_key_is_masked_wherever_it_is_cut",
    12: f"{__name__}:test_12_a_key_in_a_name_is_masked_and_not_found",
    13: "tests.test_markers:test_time_grows_with_the_text_and_no_faster",
    14: "tests.test_markers:test_private_is_cut",
    15: f"{HERE}.test_sessions:test_nothing_private_and_no_echo",
    16: f"{__name__}:test_16_odd_files_have_cards_or_a_sentence",
    17: f"{HERE}.test_derive:test_marks_follow_texts_names_and_files",
    18: f"{HERE}.test_decide:test_of_two_equal_entries_the_one_in_other_words_is_not_given",
    19: f"{HERE}.test_decide:test_a_decision_goes_adrift_rather_than_to_another_card",
    20: f"{HERE}.test_find:test_no_query_is_an_operator",
    21: f"{HERE}.test_find:test_every_script_is_found_as_it_is_typed",
    22: f"{__name__}:test_22_parts_of_names_are_found",
    23: f"{HERE}.test_find:test_the_newest_of_many_are_enough",
    24: f"{__name__}:test_24_and_25_cursors_limits_and_budgets",
    25: f"{__name__}:test_24_and_25_cursors_limits_and_budgets",
    26: f"{__name__}:test_26_names_of_cards",
    27: f"{__name__}:test_27_what_an_agent_may_not_have_and_what_is_made_up_is_one_answer",
    28: f"{HERE}.test_find:test_a_timeline_has_its_card_in_the_middle",
    29: f"{HERE}.test_tool:test_other_agents_cards_and_hostile_texts",
    30: f"{__name__}:test_30_a_patch_is_by_a_person_and_of_what_is_there",
    31: f"{HERE}.test_decide:test_what_is_redacted_is_in_no_file",
    32: f"{HERE}.test_decide:test_a_reader_in_the_way_leaves_the_rest_for_the_next",
    33: f"{__name__}:test_33_what_cannot_be_written_is_said_and_nothing_is_half",
    34: "tests.features.proposals.test_value:test_a_proposal_knows_its_folders_and_needs_evidence "
    "tests.features.proposals.test_tool:test_what_is_malformed_is_refused_and_not_cut "
    "tests.features.proposals.test_tool:test_a_path_of_no_memory_is_an_answer "
    "tests.features.proposals.test_value_judged:test_pinned_protected_and_read_only_memories_are_left_alone",
    35: "tests.features.proposals.test_apply:test_two_processes_never_do_the_same_twice",
    36: "tests.features.proposals.test_tool:test_so_many_wait_and_no_more",
    37: f"{HERE}.test_verbs:test_notes_are_kept_with_their_time_and_found",
    38: f"{HERE}.test_sessions:test_cards_of_sessions_are_withheld_when_switched_off_and_go_for_good",
    39: f"{__name__}:test_39_a_copy_of_the_state_withholds_the_same",
    40: f"{__name__}:test_40_what_a_checkout_brought_is_for_people_until_it_is_reviewed",
}
LESSONS = {
    "L1": "tests.test_markers:test_private_is_cut",
    "L2": "tests.test_markers:test_nothing_marked_is_left",
    "L3": "tests.test_markers:test_no_memory_is_about_the_whole_turn_or_a_span",
    "L4": f"{__name__}:test_l4_no_word_makes_a_card_private",
    "L5": f"{HERE}.test_decide:test_no_agent_learns_anything_of_what_is_withheld",
    "L6": f"{HERE}.test_decide:test_what_is_redacted_is_in_no_file",
    "L7": f"{HERE}.test_decide:test_what_is_redacted_is_in_no_file",
    "L8": f"{__name__}:test_l8_and_l9_cards_are_written_at_one_place",
    "L9": f"{__name__}:test_l8_and_l9_cards_are_written_at_one_place",
    "L10": f"{__name__}:test_l10_no_agent_says_that_a_person_asked",
    "L11": f"{HERE}.test_sessions:test_nothing_private_and_no_echo",
    "L12": f"{HERE}.test_derive:test_a_rebuild_gives_the_same_cards",
    "L13": f"{__name__}:test_39_a_copy_of_the_state_withholds_the_same",
}


@pytest.mark.parametrize("named", [*ROWS.values(), *LESSONS.values()])
def test_each_row_and_each_lesson_has_its_test(named: str) -> None:
    for one in named.split():
        module, _, name = one.partition(":")
        assert callable(getattr(import_module(module), name))


@pytest.mark.parametrize(("time_said", "at"), [("9999-01-01", None), ("1970-01-01", 978_307_200_000)])
def test_3_a_time_that_cannot_be_is_the_nearest_that_can(
    engine: Engine, world: Watched, clock: Clock, time_said: str, at: int | None
) -> None:
    notes = world.base / "notes"
    notes.mkdir()
    (notes / "2026-01.md").write_text(f"## {time_said}T00:00:00Z note\n\nA walrus came.\n\n## never note\n\nZebra.\n")
    policy = Policy(entries=(("*.md", "notes"),))
    engine.roots.add([Root("memtui:notes", str(notes), "memtui", "global", kind="notes", policy=policy)])
    assert card(engine, "walrus").at == (clock() + 86_400_000 if at is None else at) // 1_000 * 1_000
    assert card(engine, "zebra").at <= clock() + 86_400_000


def test_4_what_does_not_fit_in_a_second_is_in_the_next(engine: Engine) -> None:
    (one, *_) = cards(engine)
    with generations.in_use(engine.observations) as writer:
        assert writer is not None
        base = 5 << card_file.SECOND
        for number, free in ((4_094, 4_095), (4_095, 4_096), (4_096, 4_097)):
            writer._put(one._replace(id=base + number, name=bytes([number % 256]) * 10))
            assert writer._free(base) == base + free


@pytest.mark.parametrize("key", [KEY, f"{KEY[:9]}\u200b{KEY[9:]}"])
@pytest.mark.parametrize("before", ['{"token": "', "x " * (rules.MAX_TEXT // 2 - 4), f"{'word ' * 46}"])
def test_11_a_key_is_masked_wherever_it_is_cut(key: str, before: str) -> None:
    (one,) = rules.derive(f'{before} {key}", "end"\n'.encode(), None).items
    assert one.masked == 1
    assert KEY[5:12] not in repr(one[3:]).replace("\\u200b", "")


def test_12_a_key_in_a_name_is_masked_and_not_found(engine: Engine, world: Watched) -> None:
    world.write(f"own/{KEY}/walrus.md", f"---\ntags: [{KEY}]\nname: {KEY}\n---\nThe walrus of `src/{KEY}.py`.\n")
    name = card(engine, "walrus").word
    answers = [
        *(tool.index(engine, AGENT, {"query": one}).text for one in ("walrus", KEY, KEY[:7], KEY[4:12])),
        tool.index(engine, AGENT, {"query": "the", "file": KEY[:7]}).text,
        tool.details(engine, AGENT, {"ids": [name]}).text,
    ]
    assert "walrus" in answers[0]
    assert not [text for text in answers if KEY[4:] in text]
    assert not [text for text in answers[1:5] if "No observation" not in text]


def test_16_odd_files_have_cards_or_a_sentence(engine: Engine, world: Watched) -> None:
    world.write("own/latin.md", "Zebra caf\xe9 ol\xe9\n".encode("latin-1"))
    world.write("own/long.md", "walrus " * 140_000)
    world.write("own/head.md", "---\nname: Okapi\n---\n")
    world.write("theirs/many.txt", "a\n\n" * 5_000)
    assert [titles(engine, one)[0][:6] for one in ("zebra", "walrus", "okapi")] == ["Zebra ", "walrus", "Okapi"]
    done = catch_up(engine, seconds=None)
    assert (done.failed, done.error) == (1, "claude-code:global/many.txt has 3000 more entries than are observed.")


def test_22_parts_of_names_are_found(engine: Engine, world: Watched) -> None:
    world.write("own/names.md", "The `retry_budget_left` of PaymentGateway came with v1.2.3.\n")
    for one in ("budget", "retry_budget", "gateway", "paymentGateway", "v1.2.3"):
        assert len(titles(engine, one)) >= 1, one


def test_24_and_25_cursors_limits_and_budgets(engine: Engine, world: Watched) -> None:
    for number in range(5):
        world.write(f"own/w{number}.md", f"walrus {number}\n")
    with open_cards(engine, seconds=60) as look:
        page = find.search(look, "walrus", limit=2)
        assert len(find.search(look, "walrus", limit=2, cursor=page.next).cards) == 2
        for cursor in (page.next[:5], "zz", f"{page.next[:8]}--", "-1-"):
            with pytest.raises(UsageError):
                find.search(look, "walrus", cursor=cursor)
        with pytest.raises(UsageError):
            find.search(look, "retry", cursor=page.next)
    for given, lines in (({"limit": 0}, 5), ({"limit": 10**9}, 5), ({"limit": "2"}, 2), ({"budget": 1}, 5)):
        assert tool.index(engine, AGENT, {"query": "walrus", **given}).text.count("\n- ") == lines
    wrong: object
    for wrong in (-1, True, 1.5, {}):
        with pytest.raises(UsageError):
            tool.index(engine, AGENT, {"query": "walrus", "limit": wrong})
    with pytest.raises(MemtuiError):
        tool.index(engine, AGENT, {"query": "x" * 1_001})


def test_26_names_of_cards(engine: Engine) -> None:
    name = card(engine, "quokka").word
    assert tool.details(engine, AGENT, {"ids": [name, name[:8]]}).text.count(name) == 1
    for ids in ([name[:5]], [], [name] * 11, [7]):
        with pytest.raises(UsageError):
            tool.details(engine, AGENT, {"ids": ids})


def test_27_what_an_agent_may_not_have_and_what_is_made_up_is_one_answer(engine: Engine, world: Watched) -> None:
    other = world.base / "codex"
    other.mkdir()
    (other / "yak.md").write_text("The yak is of another agent.\n")
    engine.roots.add([Root("codex:global", str(other), "codex", "global")])
    names = [card(engine, "yak").word, decided(engine, "quokka", "private").word, "a" * 16]
    names += [decided(engine, "billing", "redact").word, decided(engine, "tabs", "rm").word]
    said = set()
    for name in names:
        for call, given in ((tool.details, {"ids": [name]}), (tool.timeline, {"id": name})):
            with pytest.raises(MemtuiError) as caught:
                call(engine, AGENT, given)
            said.add((caught.value.code, caught.value.message.replace(name, ""), caught.value.hint))
    assert len(said) == 1


def test_30_a_patch_is_by_a_person_and_of_what_is_there(world: Watched, engine: Engine) -> None:
    with open_cards(engine, private=True) as look:
        mark = decide.decision_for(engine, look, card(engine, "quokka").word)
    decide.edit(engine, mark, {"title": "Tables"}, actor=ME)
    with pytest.raises(ConflictError):
        decide.edit(engine, mark, {"title": "Chairs"}, actor=ME)
    with world.engine(approver=lambda: Approver(agent="Claude Code runs it.")) as theirs:
        for what in ("private", "rm", "edit", "redact"):
            with pytest.raises(RefusedError) as refused:
                decided(theirs, "tables", what, **({"title": "x"} if what == "edit" else {}))
            assert refused.value.code == "E_PERSON"
    assert card(engine, "quokka").title == "Tables"


def test_33_what_cannot_be_written_is_said_and_nothing_is_half(engine: Engine, world: Watched) -> None:
    only = Root("claude-code:only", str(world.base / "only"), "claude-code", "global", read_only=True)
    roots = {root.id: root for root in (*engine.roots.all(), only)}
    one = card(engine, "quokka")
    made = decide.plan_memory(engine, one, "memtui:project/tables.md", roots)
    for address, code in (("memtui:project/pool.md", "E_EXISTS"), ("claude-code:only/a.md", "E_READ_ONLY")):
        with pytest.raises(MemtuiError) as caught:
            decide.write_memory(engine, decide.plan_memory(engine, one, address, roots), actor=ME)
        assert caught.value.code == code
    codes, target = set(), world.base / "own/tables.md"
    for step in range(1, 200):
        before = sorted((world.base / "own").glob("[!.]*"))
        with hooked(failing(step, errno.ENOSPC)) as calls:
            try:
                decide.write_memory(engine, made, actor=ME)
            except MemtuiError as error:
                codes.add(error.code)
        if target.exists():
            assert target.read_bytes() == made.changes[0].after
            target.unlink()
        assert sorted((world.base / "own").glob("[!.]*")) == before
        if len(calls) < step:
            break
    assert codes == {"E_DISK_FULL"}


def test_39_a_copy_of_the_state_withholds_the_same(world: Watched) -> None:
    with world.engine() as engine:
        decided(engine, "quokka", "private")
        cards(engine)
    shutil.copytree(world.state, world.base / "copied")
    shutil.rmtree(world.state)
    (world.base / "copied").rename(world.state)
    for path in world.state.glob("observed-*"):
        path.unlink()
    with world.engine() as engine:
        assert titles(engine, "quokka", client="claude-code") == []
        assert card(engine, "quokka").state == 1


def test_40_what_a_checkout_brought_is_for_people_until_it_is_reviewed(world: Watched) -> None:
    (world.base / ".git").mkdir()
    roots = (Root("memtui:project", str(world.base / "own"), "memtui", "project", in_checkout=True),)
    with Engine.open(roots, state_dir=str(world.state), clock=world.clock) as engine:
        assert titles(engine, "retry", client="claude-code") == []
        assert card(engine, "retry").brought
        row = next(row for row in engine.rows.list().items if row.address.path == "retry.md")
        engine.history.review([(row.address, str(row.sha256))], actor=ME)
        assert titles(engine, "retry", client="claude-code") == ["Retry budget"]


# --- faults


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EACCES])
def test_a_call_that_fails_leaves_decisions_and_says_why(world: Watched, number: int) -> None:
    with world.engine() as engine:
        decided(engine, "quokka", "private")
        before = cards(engine)
    codes = set()
    for step in range(1, 60, 4):
        try:
            with hooked(failing(step, number)), world.engine() as engine:
                rebuild(engine)
        except MemtuiError as error:
            codes.add(error.code)
    assert {"E_DISK_FULL", "E_STORE"} & codes
    with world.engine() as engine:
        assert cards(engine) == before
        assert titles(engine, "quokka", client="claude-code") == []


def test_a_full_disk_pauses_cards_and_reads_go_on(
    engine: Engine, world: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    cards(engine)
    world.write("own/new.md", "A zebra came.\n")
    with generations.in_use(engine.observations) as writer:
        assert writer is not None
        ((pages,),) = writer.database.execute("PRAGMA page_count")
    put = CardWriter._put

    def full(writer: CardWriter, one: object) -> None:
        writer.database.execute(f"PRAGMA max_page_count={pages}")
        writer.database.execute("CREATE TABLE filler AS SELECT randomblob(9000000)")
        put(writer, one)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(CardWriter, "_put", full)
        with pytest.raises(MemtuiError) as caught:
            catch_up(engine, seconds=None)
    assert caught.value.code == "E_DISK_FULL"
    assert titles(engine, "zebra") == ["A zebra came."]


def test_a_clock_that_goes_back_or_far_on_changes_no_card(engine: Engine, world: Watched, clock: Clock) -> None:
    for file in (*world.base.glob("own/*"), *world.base.glob("theirs/*")):
        os.utime(file, (1_600_000_000, 1_600_000_000))
    before = cards(engine)
    for days in (-1, 3_650):
        clock.advance(days=days)
        rebuild(engine)
        assert cards(engine) == before


def test_l4_no_word_makes_a_card_private(engine: Engine, world: Watched) -> None:
    world.write(
        "own/a.md", "Private authentication: the password rule. <private>hush</private> The rest counts: zebra.\n"
    )
    assert titles(engine, "zebra authentication", client="claude-code") == [
        "Private authentication: the password rule. [private] The rest counts: zebra."
    ]
    assert card(engine, "zebra").state == 0


def test_l8_and_l9_cards_are_written_at_one_place() -> None:
    room = Path(derive.__file__).parent
    writes = [
        path.relative_to(room).as_posix() for path in room.rglob("*.py") if "INSERT INTO {table} (" in path.read_text()
    ]
    assert writes == ["store/card_file.py"]
    others = [
        path for path in room.parent.rglob("*.py") if "CardWriter" in path.read_text() and room not in path.parents
    ]
    assert others == []


def test_l10_no_agent_says_that_a_person_asked(engine: Engine) -> None:
    offers: list[Callable[[Engine], object]] = [tool.offer_index, tool.offer_timeline, tool.offer_details]
    assert not [offer for offer in offers if "explicit" in repr(offer(engine)).lower()]
    assert set(decide.PATCH_LIMITS) == {"title", "type", "note"}
