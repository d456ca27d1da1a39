"""Qwen Code: instruction files, the indexes of its tiers and their limits."""

import json
import os

from tests.agents import homes
from tests.agents.listing import marked
from tests.agents.machine import Machine
from tests.agents.test_session_start_agents import started

TIERS = ("user", "project", "team")


def test_a_home_as_it_leaves_it(machine: Machine) -> None:
    homes.qwen_code(machine.home, machine.app)
    found = [(one.label, one.mark) for one in started(machine, "qwen-code")]
    assert ("user memory index", "") in found
    assert ("project memory index", "") in found
    assert ("local instructions", "") in found
    assert ("user memories", "on demand") in found


def test_the_index_is_cut_at_its_lines_and_the_team_is_off_by_default(machine: Machine) -> None:
    machine.write("~/.qwen/memories/MEMORY.md", "- x\n" * 250)
    machine.write("app/.qwen/team-memory/MEMORY.md", "- x\n")
    user, team = started(machine, "qwen-code")
    assert (user.mark, user.text.count(b"\n"), user.cut is not None) == ("cut", 200, True)
    assert team.mark == "skipped"
    machine.write("~/.qwen/settings.json", json.dumps({"memory": {"enableTeamMemory": True}}))
    assert [one.mark for one in started(machine, "qwen-code")] == ["cut", ""]


def test_names_come_from_its_settings(machine: Machine) -> None:
    machine.write("app/QWEN.md")
    machine.write("app/NOTES.md")
    machine.write("~/.qwen/settings.json", json.dumps({"context": {"fileName": ["NOTES.md", "../x", "*.md"]}}))
    assert [one.path for one in started(machine, "qwen-code")] == [str(machine.app / "NOTES.md")]


def test_rules_the_folder_above_and_the_language_by_name(machine: Machine) -> None:
    names = ("~/.qwen/QWEN.md", "~/.qwen/AGENTS.md", "~/.qwen/output-language.md", "~/.qwen/rules/r.md")
    for name in (*names, "QWEN.md", "app/QWEN.md", "app/AGENTS.md", "app/.qwen/QWEN.local.md"):
        machine.write(name)
    machine.write("app/.qwen/rules/a.md", "---\ntitle: x\n---\na\n<!-- b -->\n")
    machine.write("app/.qwen/rules/some.md", '---\npaths: "**"\n---\na\n')
    home = os.path.relpath(machine.home, machine.folder)
    found = started(machine, "qwen-code")
    assert marked(machine, found) == [
        f"{home}/.qwen/QWEN.md",
        "QWEN.md",
        "app/QWEN.md",
        f"{home}/.qwen/AGENTS.md",
        "app/AGENTS.md",
        f"{home}/.qwen/output-language.md",
        "app/.qwen/QWEN.local.md",
        f"{home}/.qwen/rules/r.md",
        "app/.qwen/rules/a.md",
        "app/.qwen/rules/some.md: only when matching files are touched",
    ]
    assert found[-2].text == b"a\n"


def test_a_file_counts_as_often_as_it_is_imported(machine: Machine) -> None:
    machine.write("app/QWEN.md", "@a.md @a.md @b.md,\n")
    machine.write("app/a.md", "@QWEN.md\n")
    machine.write("app/b.md")
    assert marked(machine, started(machine, "qwen-code")) == [
        "app/QWEN.md",
        "app/a.md",
        "app/a.md",
        "app/b.md,: missing",
    ]


def test_rules_may_be_a_link_and_links_in_them_are_passed_over(machine: Machine) -> None:
    for name in ("~/kept/rules/a.md", "~/one/x.md", "~/.qwen/x"):
        machine.write(name)
    machine.path("~/kept/rules/x.md").symlink_to(machine.path("~/one/x.md"))
    machine.path("~/.qwen/rules").symlink_to(machine.path("~/kept/rules"))
    found = {os.path.basename(one.path): one.mark for one in started(machine, "qwen-code")}
    assert found == {"a.md": "", "x.md": "skipped"}
    assert machine.roots()["qwen-code:global:link-rules"].path == str(machine.path("~/kept/rules"))


def test_memories_that_are_switched_off_are_shown_and_not_loaded(machine: Machine) -> None:
    homes.qwen_code(machine.home, machine.app)
    before = list(machine.roots())
    off = {"memory": {"enableManagedAutoMemory": False, "enableTeamMemory": False}}
    machine.write("~/.qwen/settings.json", "// mine\n" + json.dumps(off))
    found = [one for one in started(machine, "qwen-code") if "memor" in one.label]
    assert {one.label for one in found} == {f"{tier} memor{what}" for tier in TIERS for what in ("y index", "ies")}
    assert {(one.mark, one.text) for one in found} == {("skipped", b"")}
    assert all(one.why.startswith("Not loaded: switched off in ~/.qwen/settings.json") for one in found)
    roots = machine.roots()
    assert list(roots) == before
    where = "in ~/.qwen/settings.json (memory.enableManagedAutoMemory)"
    assert roots["qwen-code:global"].switched_off == where
    assert f"switched off {where}" in roots["qwen-code:global"].note
