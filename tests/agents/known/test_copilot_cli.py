"""Copilot CLI: files of many names, in the order in which it puts them together."""

from tests.agents.listing import marked
from tests.agents.machine import Machine
from tests.agents.test_session_start_memories import started


def test_all_it_loads(machine: Machine) -> None:
    for name in ("AGENTS.md", "CLAUDE.md", "a/AGENTS.md", "a/b/GEMINI.md", ".github/copilot-instructions.md"):
        machine.write(f"app/{name}")
    machine.write("app/.github/instructions/none.instructions.md", "x\n")
    machine.write("app/.github/instructions/some.instructions.md", "---\napplyTo: '**/*.py'\n---\nx\n")
    machine.write("app/a/.github/instructions/of-a-folder.instructions.md")
    assert marked(machine, started(machine, "copilot-cli", "app/a/b")) == [
        "app/.github/copilot-instructions.md",
        "app/AGENTS.md",
        "app/CLAUDE.md",
        "app/a/b/GEMINI.md",
        "app/a/AGENTS.md",
        "app/.github/instructions/none.instructions.md",
        "app/.github/instructions/some.instructions.md: only when matching files are touched",
    ]


def test_its_imports_end_where_a_sentence_does(machine: Machine) -> None:
    machine.write("app/CLAUDE.md", '(@a.md) "@b.md", @c.md. @c.md @~/d.md **@e.md**\n')
    for name in ("app/a.md", "app/b.md", "app/c.md", "~/d.md", "app/e.md"):
        machine.write(name)
    found = [one.path.rpartition("/")[2] for one in started(machine, "copilot-cli") if one.at_start]
    assert found == ["CLAUDE.md", "a.md", "b.md", "c.md"]


def test_further_folders_come_from_its_variable(machine: Machine) -> None:
    machine.write("more/x.instructions.md")
    machine.write("more/AGENTS.md")
    machine.write("app/AGENTS.md")
    found = started(machine, "copilot-cli", COPILOT_CUSTOM_INSTRUCTIONS_DIRS=str(machine.folder / "more"))
    assert marked(machine, found) == ["app/AGENTS.md", "more/x.instructions.md"]
