"""Creation and validation of schedules, for the command line, chats and agents alike.

A schedule runs a verb that its entry calls schedulable, or a job of the settings, which reads its text on standard
input.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from hashlib import sha256

from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.engine.ledger.schedules import PlannedRun, ScheduleTable
from memtui.engine.model import is_person
from memtui.errors import RefusedError
from memtui.features.delivery.outbox import usable_entry
from memtui.features.feature import entries
from memtui.features.schedules.due import TeamSchedules, check, due_times, invalid
from memtui.features.tasks.work import ROOT
from memtui.mask import mask
from memtui.wire.params import GLOBALS

JOB = "job"
CHAT_PREFIX = "chat-"
"""Prefix of the names of schedules made in a chat."""
MAX_TEXT = 4_000
"""Characters of the text that a job is given."""
_FORBIDDEN_OPTIONS = frozenset(one.name for one in GLOBALS) - {"--json", "--all-projects", "--read-only"}
"""Global options that would change where, as whom, or how it runs."""
_LOCAL_OPTIONS = frozenset({"--fix", "--mute", "--unmute", "--reason"})
"""Options that team schedules may not use: a member cannot change memories of another."""
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,40}")


def add(
    engine: Engine, settings: Settings, wanted: PlannedRun, *, agreed: bool = False, table: TeamSchedules | None = None
) -> PlannedRun:
    """Create a schedule, in `table` for one of the team; it waits for a person unless one made it or it is `agreed`.

    Its id and times are set here. Raises:
        UsageError: `E_SCHEDULE`: invalid name, time, zone or command. ConflictError: `E_EXISTS`.
        RefusedError: `E_TOO_MANY`; `E_DELIVERY`: its target is unusable.
    """
    if not _NAME.fullmatch(wanted.name):
        raise invalid(f"{wanted.name!r} cannot name a schedule.", "Use 1 to 40 letters, digits, `-`, `_` and `.`.")
    now = engine.schedules.clock()
    spec = check(wanted.spec, wanted.zone, now)
    words = runnable(settings, wanted.words, team=table is not None)
    if wanted.target:
        usable_entry(settings, wanted.target)
    label, waits = " ".join(wanted.label.split())[:80] or wanted.name, not (agreed or is_person(wanted.creator))
    made = wanted._replace(spec=spec, words=words, label=label, made=now, upto=now, waits=waits)
    return (table or engine.schedules).add(made)


def runnable(settings: Settings, words: Sequence[str], *, team: bool = False) -> tuple[str, ...]:
    """Validate the command of a schedule; called when it is made and before each run. Raises `E_SCHEDULE`."""
    if words and words[0] == JOB:
        jobs = settings.entries("jobs")
        if len(words) < 2 or words[1] not in jobs:
            raise invalid(
                f"There is no job {words[1] if len(words) > 1 else ''!r} in the settings.",
                f"There are: {', '.join(jobs) or 'none'}. A job is a table [jobs.NAME] with argv and cwd.",
            )
        text = " ".join(words[2:]).strip()
        if len(text) > MAX_TEXT:
            raise invalid(f"The text is over {MAX_TEXT:,} characters.", "Keep long texts in a file that the job reads.")
        return (JOB, words[1], text)
    known = [verb for each in entries().values() for verb in each.schedulable]
    if not words or words[0] not in known:
        raise invalid(
            f"A schedule cannot run {' '.join(words)[:40] or 'nothing'}.", f"It can run: {', '.join(known)}, job NAME."
        )
    if words[0] == "digest" and len(words) > 1:
        raise invalid("A digest in a schedule takes no words.", "Name where it goes with --to before the verb.")
    if any(word.startswith("--yes") for word in words):
        raise invalid("A schedule agrees to nothing in your place.", "Leave out --yes.")
    options = {word.partition("=")[0] for word in words}
    if wrong := options & _FORBIDDEN_OPTIONS:
        raise invalid(f"A schedule takes no {min(wrong)}.", "Leave it out: it runs here, and as itself.")
    if team and (wrong := options & _LOCAL_OPTIONS):
        raise invalid(f"A schedule of the team takes no {min(wrong)}.", "Leave it out: it only looks.")
    if any("\0" in word or len(word) > MAX_TEXT for word in words):
        raise invalid("A word of it cannot be given to a program.", "Leave it out.")
    return tuple(words)


def command_text(one: PlannedRun) -> str:
    """Write what a schedule runs: `digest -> team`, `job standup 'What did you do?'`."""
    return shlex.join(mask(word).text for word in one.words if word) + (f" -> {one.target}" if one.target else "")


def next_due(one: PlannedRun, now: int) -> int | None:
    """Return the next due time in milliseconds, or None."""
    return next(due_times(one.spec, one.zone, max(one.upto, now)), None)


def off_reason(one: PlannedRun) -> str:
    """Return why a schedule does not run; empty when it does."""
    if one.waits:
        return f"waits for you: set by {one.creator}"
    return f"paused: {one.paused}" if one.paused else ""


def question(one: PlannedRun) -> str:
    """Write what a person is asked to agree to, with text of others in quotes."""
    label, who = shlex.quote(mask(one.label).text), shlex.quote(one.creator)
    return f"{one.name} runs {command_text(one)} at {one.spec} ({one.zone}), labelled {label}, set by {who}."


def resume(engine: Engine, table: ScheduleTable | TeamSchedules, one: PlannedRun) -> None:
    """Resume a schedule, and record the consent where it waited for a person.

    Raises RefusedError: `E_PERSON`: it waits for a person, and an agent runs this process.
    """
    with engine.claims.together():
        if one.waits:
            sha = sha256("\0".join((one.label, *one.words)).encode("utf-8", "replace")).hexdigest()
            said = f"schedule {one.name} of {one.creator} agreed to: {one.spec} {one.zone}, words {sha}"
            engine.history.record_setting(ROOT, said)
        table.pause(one.id, "")


def refuse_waiting(one: PlannedRun) -> None:
    """Refuse to run a schedule that waits for a person."""
    if one.waits:
        raise RefusedError(
            f"Nobody has agreed to the schedule {one.name} yet.",
            code="E_PERSON",
            hint=f"Do it in a terminal of your own: memtui schedule resume {one.name}.",
        )


def refuse_reserved(name: str) -> None:
    """Refuse a name reserved for schedules of chats."""
    if name.startswith(CHAT_PREFIX):
        raise invalid(f"Names that begin with {CHAT_PREFIX} are those of chats.", "Take another name.")


def split_words(text: str) -> list[str]:
    """Split a command line as a shell does; raises `E_SCHEDULE` on an open quotation."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise invalid(f"What it is to run cannot be read: {error}.", "Close each quotation.") from None
