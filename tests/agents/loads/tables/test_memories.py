"""Agents with memories of their own form: what each begins with."""

from tests.agents.loads.test_tables import started
from tests.agents.machine import Machine


def marks(machine: Machine, agent: str) -> list[tuple[str, str]]:
    return [(one.path.rpartition("/")[2], one.mark) for one in started(machine, agent)]


def test_goose_loads_all_of_the_users_and_none_of_the_projects(machine: Machine) -> None:
    machine.write("~/.config/goose/memory/work.txt", "# tag\nx\n")
    machine.write("~/.config/goose/.goosehints")
    machine.write("app/.goosehints")
    machine.write("app/.goose/memory/app.txt")
    assert marks(machine, "goose") == [
        (".goosehints", ""),
        (".goosehints", ""),
        ("work.txt", ""),
        ("app.txt", "on demand"),
    ]


def test_goose_takes_hints_from_the_checkout_down(machine: Machine) -> None:
    machine.write("app/.goosehints")
    machine.write("app/api/.goosehints")
    found = started(machine, "goose", "app/api")
    assert [one.path for one in found] == [str(machine.app / ".goosehints"), str(machine.app / "api/.goosehints")]


def test_serena_is_given_names_only(machine: Machine) -> None:
    machine.write("app/.serena/memories/deep/code style.md", "x" * 500)
    (found,) = started(machine, "serena")
    assert (found.mark, found.text, found.size) == ("names only", b"deep/code style\n", 500)


def test_letta_loads_what_lies_at_the_top_or_in_system(machine: Machine) -> None:
    base = "~/.letta/agents/agent-1/memory"
    for name in ("MEMORY.md", "persona.md", "system/a.md", "reference/b.md"):
        machine.write(f"{base}/{name}")
    machine.write(f"{base}/.git/HEAD")
    assert marks(machine, "letta") == [
        ("MEMORY.md", ""),
        ("persona.md", ""),
        ("a.md", ""),
        ("b.md", "on demand"),
    ]


def test_deepagents_drops_comments(machine: Machine) -> None:
    machine.write("~/.deepagents/agent/AGENTS.md", "<!-- x -->\na\n")
    machine.write("~/.deepagents/other/AGENTS.md")
    machine.write("app/.deepagents/AGENTS.md")
    found = started(machine, "deepagents")
    assert [one.mark for one in found] == ["", "", "on demand"]
    assert found[0].text == b"a\n"


def test_hermes_says_when_a_file_is_over_its_limit(machine: Machine) -> None:
    machine.write("~/.hermes/SOUL.md")
    machine.write("~/.hermes/memories/MEMORY.md", "x" * 2_300)
    machine.write("~/.hermes/memories/USER.md", "x" * 1_000)
    found = started(machine, "hermes")
    assert [bool(one.why) for one in found] == [False, True, False]


def test_openclaw_reads_its_daily_notes_on_demand(machine: Machine) -> None:
    machine.write("~/.openclaw/workspace/MEMORY.md")
    machine.write("~/.openclaw/workspace/AGENTS.md")
    machine.write("~/.openclaw/workspace/memory/2026-03-01.md")
    assert marks(machine, "openclaw") == [("AGENTS.md", ""), ("MEMORY.md", ""), ("2026-03-01.md", "on demand")]
