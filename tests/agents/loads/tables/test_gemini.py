"""Gemini CLI: names from its settings, its own rule for imports, and its private index."""

import os

from tests.agents import homes
from tests.agents.loads.test_tables import started, told
from tests.agents.machine import Machine


def test_a_home_as_it_leaves_it(machine: Machine) -> None:
    homes.gemini(machine.home, machine.app)
    home = os.path.relpath(machine.home, machine.folder)
    found = told(machine, started(machine, "gemini"))
    assert found[0] == f"{home}/.gemini/GEMINI.md"
    assert found[1] == "app/GEMINI.md"
    assert f"{home}/.gemini/tmp/app/memory/MEMORY.md" in found
    assert f"{home}/.gemini/tmp/app/memory/deploy.md: on demand" in found


def test_imports_out_of_the_project_are_refused_and_chains_end(machine: Machine) -> None:
    machine.write("secret.md", "SECRET")
    machine.write("app/GEMINI.md", "@../secret.md @1.md `@code.md`\n")
    for number in range(1, 8):
        machine.write(f"app/{number}.md", f"@{number + 1}.md\n")
    machine.write("app/a1.md", "@a2.md")
    found = started(machine, "gemini")
    assert told(machine, found)[:2] == ["app/GEMINI.md", "secret.md: skipped"]
    machine.write("app/GEMINI.md", "@a1.md\n")
    for number in range(1, 8):
        machine.write(f"app/a{number}.md", f"@a{number + 1}.md\n")
    found = started(machine, "gemini")
    assert [one.mark for one in found] == ["", "", "", "", "", "", "skipped"]
