"""The bad inputs of the life cycle: each row of the list by its number, tried here or by the tests that are named."""

import ast
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.ledger.tasks import MAX_WAITING
from memtui.engine.model import Actor, Address, Root, Write
from memtui.engine.proposal import Evidence
from memtui.errors import BusyError
from memtui.features.forget.work import search
from memtui.features.proposals.apply import carry_out, decide
from memtui.features.proposals.value import proposal
from memtui.workbench.edit.open_memory import FileState
from tests.house.source import ROOT
from tests.workbench.edit.merge import stage
from tests.workbench.edit.merge.stage import AGENT_TEXT, BASE, YOURS
from tests.workbench.workbench import address, until

ROUTES, LANES, QUEUE = "daemon/test_routes", "features/tasks/test_lanes", "engine/test_ledger_tasks"
EVENTS, REPLY, COMMAND = "daemon/test_served", "features/workers/test_prompts", "features/workers/test_ask"
FOLLOW, EXTRACT, FIND = "transcripts/test_sessions", "features/extract/test_work", "features/dream/test_find"
JUDGED, FORGET, RECALL = "features/proposals/test_value_judged", "features/forget/test_work", "features/recall"
ELSEWHERE = {
    1: (ROUTES, "a_bad_body_is_refused_and_repeated_nowhere"),
    2: (ROUTES, "a_bad_body_is_refused_and_repeated_nowhere"),
    3: (ROUTES, "the_longest_text_is_taken"),
    4: (ROUTES, "a_body_that_is_too_large_or_of_another_kind_is_refused",
         "a_body_that_comes_a_byte_at_a_time_is_not_waited_for"),
    5: ("daemon/test_client", "a_port_wants_the_token"),
    6: (ROUTES, "requests_that_are_none_are_refused"),
    7: (ROUTES, "no_page_reaches_it"),
    8: (ROUTES, "an_id_that_is_none_is_refused",
         "settings_count_at_the_next_request"),
    9: (ROUTES, "everything_that_is_no_task_of_this_client_is_the_same_404"),
    10: (ROUTES, "a_bad_body_is_refused_and_repeated_nowhere"),
    11: (ROUTES, "sixteen_may_wait"),
    12: (ROUTES, "a_key_means_one_task"),
    13: (QUEUE, "cancel_ends_what_waits_and_asks_what_runs_until_its_plan_is_kept"),
    14: ("daemon/test_sockets", "a_dead_socket_is_replaced_and_nothing_else_is",
         "a_path_that_is_too_long_is_moved"),
    15: ("daemon/test_app", "a_second_one_names_the_first"),
    16: ("faults/test_campaigns", "a_campaign_breaks_no_promise"),
    17: (LANES, "a_full_disk_refuses_what_is_asked_and_what_is_planned_waits",
         "a_full_disk_refuses_what_is_planned_and_keeps_the_text"),
    18: ("daemon/test_app", "a_ledger_that_cannot_be_written_is_said", "a_ledger_that_may_only_be_read_is_said",
         "a_ledger_that_is_gone_is_made_anew"),
    19: (QUEUE, "a_clock_that_jumps_changes_no_order_and_no_time_goes_back"),
    20: (LANES, "a_memory_that_came_meanwhile_is_kept"),
    21: (EVENTS, "one_who_takes_nothing_for_five_seconds_is_hung_up_on",
         "who_missed_too_much_or_is_ahead_reads_anew",
         "sixty_three_follow_a_hundred_changes_a_second_while_one_more_stalls"),
    22: (REPLY, "a_reply_that_breaks_a_rule_is_refused_with_what_is_wrong",
         "an_operation_is_read_as_it_was_said"),
    23: (COMMAND, "a_worker_that_does_not_end_is_ended_with_all_it_started"),
    24: (COMMAND, "a_worker_that_does_not_end_is_ended_with_all_it_started"),
    25: (COMMAND, "a_worker_that_is_not_there_is_named",
         "what_a_worker_complains_of_is_told",
         "a_worker_that_lacks_a_flag_is_not_run"),
    26: (ROUTES, "a_worker_that_names_what_it_was_not_shown_writes_nothing"),
    27: (REPLY, "a_reply_that_breaks_a_rule_is_refused_with_what_is_wrong"),
    28: (JUDGED, "what_a_text_must_not_bring_is_blocked",
         "a_head_is_not_smuggled_into_a_text_that_has_none"),
    29: (JUDGED, "a_text_that_is_lost_is_said_and_not_blocked"),
    30: (EXTRACT, "a_worker_adds_to_rules_and_may_only_quote_the_user"),
    31: ("features/workers/test_prompts", "nothing_in_a_prompt_ends_the_object_it_stands_in"),
    32: (FOLLOW, "half_a_line_waits_for_its_rest"),
    33: (FOLLOW, "another_file_is_read_from_its_beginning"),
    34: (FOLLOW, "what_is_no_plain_file_of_ours_is_left_alone",
         "a_line_of_50_mb_is_passed_over_in_bounded_memory"),
    35: (EXTRACT, "what_may_not_be_used_is_passed_over_with_why"),
    36: (EXTRACT, "only_sessions_of_this_project_are_used"),
    37: (QUEUE, "one_dream_and_one_extract_behind_the_one_that_runs"),
    40: (FORGET, "no_other_byte_of_a_list_changes",
         "what_is_no_text_is_left_alone"),
    41: (FORGET, "exactly_the_chosen_lines_go_and_undo_brings_them_back"),
    42: ("features/forget/test_work", "what_is_not_clear_is_refused",
         "so_many_never_go_by_words_alone"),
    43: (FIND, "pinned_and_protected_memories_are_left_alone_and_so_is_another_root",
         "a_double_goes_and_what_named_it_names_the_one_that_stays"),
    44: ("features/hygiene/test_memory_scan", "thousands_that_are_nearly_the_same_come_in_groups"),
    45: (f"{RECALL}/test_find", "no_request_is_an_error"),
    46: (f"{RECALL}/test_find", "the_answer_is_the_same_without_the_index_and_with_a_damaged_or_busy_one"),
    47: (f"{RECALL}/test_verbs", "what_is_no_request_is_answered_with_nothing"),
    48: (LANES, "switching_off_ends_what_runs"),
}  # fmt: skip
"""The file below `tests/`, and the tests in it. Rows 38 and 39, and parts of 11, 12 and 42, are tried here."""
ME = Actor("tui")


def test_the_other_rows_have_their_tests() -> None:
    assert sorted({*ELSEWHERE, 38, 39}) == list(range(1, 49))
    for row, (file, *names) in ELSEWHERE.items():
        tree = ast.parse((ROOT / "tests" / f"{file}.py").read_text("utf-8"))
        known = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
        assert {f"test_{name}" for name in names} <= known, row


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[[], Engine]]:
    """Opens engines on one folder, as several processes do."""
    (tmp_path / "notes").mkdir()
    engines: list[Engine] = []

    def make() -> Engine:
        engines.append(Engine.open([Root("notes", str(tmp_path / "notes"))], state_dir=str(tmp_path / "state")))
        return engines[-1]

    yield make
    for engine in engines:
        engine.close()


def test_rows_11_and_12_two_daemons_at_once_take_sixteen_and_a_key_once(opened: Callable[[], Engine]) -> None:
    def ask(at: int) -> str:
        key = "k" if at < 8 else None
        try:
            return engines[at % 2].tasks.enqueue("remember", "w", "http", {}, trigger="manual", key=key).id
        except BusyError as error:
            return error.code

    engines = [opened(), opened()]
    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(ask, range(40)))
    assert len(set(told[:8]) - {"E_QUEUE_FULL"}) == 1
    assert len(engines[0].tasks.all("w")) == MAX_WAITING == len(set(told) - {"E_QUEUE_FULL"})


async def test_row_38_what_is_accepted_while_a_draft_is_open_is_merged_by_the_person(tmp_path: Path) -> None:
    bench = stage.make(tmp_path)
    async with bench.run_test() as pilot:
        bench.flow.open(address())
        await until(pilot, lambda: bench.flow.address == address())
        bench.editor.replace_text(YOURS)
        step = Write(address(), AGENT_TEXT, bench.engine.read(address()).sha256)
        shown = [Evidence("memory", str(address()), quote="one")]
        made = proposal(bench.engine, kind="replace", steps=[step], by="claude", why="so", evidence=shown)
        (one,) = bench.engine.proposals.add([made])
        decide(bench.engine, [one.id], "accepted", actor=ME)
        carry_out(bench.engine, [one.id], actor=ME)
        bench.flow.check_disk()
        await until(pilot, lambda: bench.editor.state is FileState.CONFLICT)
        await pilot.press("ctrl+s")
        await stage.shown(bench, pilot)
        kept = {bench.engine.history.read(address(), each.sha256) for each in bench.engine.history.of(address())}
        assert kept == {BASE, YOURS, AGENT_TEXT}


def test_row_39_a_checkout_of_500_files_leaves_every_proposal_stale(
    opened: Callable[[], Engine], tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    git = ("git", "-C", str(notes), "-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run([*git, "init", "-q", "-b", "one"], check=True)
    for branch in ("one", "two"):
        for number in range(500):
            (notes / f"{number}.md").write_text(f"Berth {number} is {branch}.\n")
        subprocess.run([*git, "checkout", "-q", "-B", branch], check=True)
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-q", "-m", branch], check=True)
    engine = opened()
    made = []
    for number in range(20):
        old = f"Berth {number} is two.\n"
        step = Write(Address("notes", f"{number}.md"), b"Berths are gone.\n", sha256(old.encode()).hexdigest())
        shown = [Evidence("memory", f"notes/{number}.md", quote=old)]
        made.append(proposal(engine, kind="replace", steps=[step], by="claude", why="so", evidence=shown))
    ids = [one.id for one in engine.proposals.add(made)]
    subprocess.run([*git, "checkout", "-q", "one"], check=True)
    decide(engine, ids, "accepted", actor=ME)
    carry_out(engine, ids, actor=ME)
    assert {engine.proposals.get(one).state for one in ids} == {"stale"}
    assert {(notes / f"{number}.md").read_text() for number in range(500)} == {
        f"Berth {n} is one.\n" for n in range(500)
    }


def test_row_42_a_star_is_a_star(opened: Callable[[], Engine], tmp_path: Path) -> None:
    (tmp_path / "notes/a.md").write_text("- Stars (*) are stars\n- Use tabs\n")
    engine = opened()
    assert [one.title for one in search(engine, engine.roots.all(), "*")] == ["Stars (*) are stars"]
