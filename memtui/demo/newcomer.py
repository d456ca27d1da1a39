"""The home of somebody who has never seen memtui: three checkouts, used by Claude Code, Codex and Serena.

Claude Code's index of one of them is as a busy half year leaves it: over its limit, with a dead line, a duplicate line,
and a memory without a line. It is apart from the world because only the guide and `memtui demo --newcomer` use it.
"""

import json
import os
import textwrap
from pathlib import Path

from memtui.agents.layout import slug

PROJECT = "src/orchard"
OTHERS = ("src/orchard-web", "src/pump-firmware")
NEW = 5
"""How many memories are newest: their lines stand last in the index, below the limit."""

SUBJECTS = {
    "valves": "valve",
    "sensors": "soil sensor",
    "pumps": "pump",
    "forecast": "weather forecast",
    "schedules": "watering schedule",
    "alarms": "alarm",
    "billing": "water bill",
    "gateway": "radio gateway",
    "imports": "CSV import",
    "exports": "nightly export",
    "accounts": "grower's account",
    "maps": "field map",
    "reports": "season report",
    "login": "login",
    "mail": "mail",
    "cache": "cache",
    "queue": "job queue",
    "backup": "backup",
}
ASPECTS = {
    "tests": ("how the {0} tests run", "Start `make db` first; the {0} tests then take about a minute."),
    "names": ("what the {0} tables call things", "Columns of the {0} use metric units, and say so in their names."),
    "owner": ("who decides about the {0}", "Ask the field team before the {0} changes; they reply within a day."),
    "limits": ("what the {0} may cost", "One {0} run must end within ten seconds, or the next one is late."),
    "errors": ("what a failing {0} does", "A failing {0} is tried three times, then a person is told."),
    "deploy": ("how the {0} goes live", "The {0} goes live on Tuesdays, behind a flag for the first week."),
    "history": ("why the {0} is as it is", "The old {0} lost writes when two growers saved at once."),
    "logs": ("where the {0} writes", "The {0} writes one line for each decision, with the field's number."),
    "review": ("what a review of the {0} looks at", "A change of the {0} needs a test that failed before it."),
    "secrets": ("where the {0} gets its keys", "The {0} reads its keys from the vault, never from a file."),
}
NOTES = 22
"""How many notes about single sessions there are: the oldest, and of no use any more."""

LATELY = {
    "feedback_no_mocks": (
        "feedback",
        "Tests use the real database",
        "Never mock the database. It hid two bugs in May.",
    ),
    "feedback_small_commits": ("feedback", "One reason for each commit", "Wants commits that say one thing each."),
    "project_freeze": ("project", "No releases from 20 June to 5 July", "Harvest: nothing goes live in these days."),
    "project_moving_to_v3": ("project", "The gateway moves to protocol 3", "Write new code for protocol 3 only."),
    "reference_oncall": (
        "reference",
        "Who is on call",
        "The board in the kitchen, and `orchard oncall` say who it is.",
    ),
}
UNNAMED = ("user_editor", "user", "Works in a terminal over a slow line", "Keep answers short: the line is slow.")

CLAUDE_MD = """\
# Orchard

Waters 1,400 fields. Python 3.12, Postgres, one radio gateway for each valley.

- `make test` before each commit. `make lint` is run by CI too.
- Times are UTC in the code and the grower's own on the screen.
- Never open a valve from a test: `ORCHARD_DRY=1` is set in `conftest.py`, leave it there.
"""
USER_MD = "# Me\n\n- Plain words, short answers.\n- Ask before you add a dependency.\n"
AGENTS_MD = "# Orchard, for agents\n\n- `make test` starts what it needs.\n- Migrations are written by hand.\n"

SUMMARY = """\
v1

## User profile

Works on watering systems, mostly in Python, sometimes in C for the pumps.

## General tips

- Run `make test` in orchard, `just check` in pump-firmware.
- orchard-web is served by the API in development; there is no server of its own.

## What's in memory

- orchard: two database migrations that failed, and why
- pump-firmware: how to flash without the cradle
"""
BLOCKS = """\
# Task Group: orchard migrations

scope: writing and running database migrations
applies_to: cwd=~/src/orchard; reuse_rule=same repository

## Task 1: Split the table of readings, success

### rollout_summary_files

- rollout_summaries/2026-02-11-readings.md

### keywords

- migration, partition, readings

## Reusable knowledge

- A migration over 10 million rows needs `lock_timeout`, or the gateway's writes pile up behind it.
"""
SERENA = {
    "project_overview": "# Orchard\n\nWaters fields. Starts in `orchard/app.py`. See mem:suggested_commands.\n",
    "suggested_commands": "# Commands\n\n- `make test`, `make lint`, `make db`\n- `orchard dry-run` shows a plan.\n",
    "code_style": "# Style\n\nType hints everywhere, no abbreviations, docstrings in one sentence.\n",
    "gateway/protocol": "# Protocol\n\nFrames of 32 bytes, a checksum at the end. Version 3 adds a sequence number.\n",
}


def furnish(home: str, written: int) -> str:
    """Fill an empty home folder and return the checkout to start in; `written` is the newest file's time in ns."""
    top = Path(home)
    project = top / PROJECT
    files = {top / ".claude/CLAUDE.md": USER_MD, project / "CLAUDE.md": CLAUDE_MD, project / "AGENTS.md": AGENTS_MD}
    for checkout in (PROJECT, *OTHERS):
        files[top / checkout / ".git/HEAD"] = "ref: refs/heads/main\n"
        place = top / ".claude/projects" / slug(str(top / checkout))
        files[place / "5d0c6f0e-3c1e-4a64-9f0d-0c4f2f6a7b11.jsonl"] = json.dumps({"cwd": str(top / checkout)}) + "\n"
    files |= _claude_code(top / ".claude/projects" / slug(str(project)) / "memory")
    files |= _elsewhere(top)
    files[top / ".codex/memories/memory_summary.md"] = SUMMARY
    files[top / ".codex/memories/MEMORY.md"] = BLOCKS
    files[top / ".codex/memories/rollout_summaries/2026-02-11-readings.md"] = "# Readings\n\nSplit in two steps.\n"
    files |= {project / f".serena/memories/{name}.md": text for name, text in SERENA.items()}
    for age, (path, text) in enumerate(reversed(files.items())):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        os.utime(path, ns=(written - age * 3_600_000_000_000,) * 2)
    return str(project)


def _claude_code(memory: Path) -> dict[Path, str]:
    """Return half a year of memories, the oldest first, and their index."""
    files: dict[Path, str] = {}
    lines: list[str] = []

    def remember(name: str, kind: str, words: str, text: str, *, named: bool = True) -> None:
        files[memory / f"{name}.md"] = f"---\nname: {name}\ndescription: {words}\ntype: {kind}\n---\n\n{text}\n"
        if named:
            lines.append(f"- [{words}]({name}.md) — {textwrap.shorten(text, 44, placeholder=' …')}")

    for number in range(NOTES):
        day = f"2025-{9 + number // 11:02}-{1 + 2 * (number % 11):02}"
        words = f"Session of {day}"
        remember(f"session_{day.replace('-', '_')}", "project", words, "Went on where the day before ended")
    for name, thing in SUBJECTS.items():
        for aspect, (words, text) in ASPECTS.items():
            said = words.format(thing)
            remember(f"project_{name}_{aspect}", "project", said[0].upper() + said[1:], text.format(thing))
    remember(*UNNAMED, named=False)
    lines.insert(30, "- [The old valve simulator](reference_simulator.md) — Port 7070, started by hand")
    lines.insert(140, lines[25])
    for name, (kind, words, text) in LATELY.items():
        remember(name, kind, words, text)
    files[memory / "MEMORY.md"] = "\n".join(lines) + "\n"
    return files


def _elsewhere(top: Path) -> dict[Path, str]:
    web, pumps = (top / ".claude/projects" / slug(str(top / name)) / "memory" for name in OTHERS)
    return {
        web / "feedback_colours.md": "---\ndescription: Colours come from the map\n---\n\nNo new colours.\n",
        web / "MEMORY.md": "- [Colours](feedback_colours.md) — they come from the map\n",
        pumps / "reference_flash.md": "---\ndescription: Flash without the cradle\n---\n\nHold the left button.\n",
        pumps / "MEMORY.md": "- [Flash](reference_flash.md) — without the cradle\n",
        top / OTHERS[1] / ".serena/memories/tooling.md": "# Tooling\n\n`just check`, then `just flash`.\n",
        top / OTHERS[1] / "AGENTS.md": "# Pump firmware\n\nC11, no allocation after start.\n",
    }
