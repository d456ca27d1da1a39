"""Hermes' folders: profiles, their limits, and the files that shape the agent."""

from pathlib import Path

from tests.agents import homes_more
from tests.agents.listing import listed
from tests.agents.machine import NATIVE, Machine

LIMITS = {"MEMORY.md": 2_200, "USER.md": 1_375}


def test_what_is_found(machine: Machine, tmp_path: Path) -> None:
    homes_more.hermes(machine.home, machine.app)
    roots = machine.roots()
    assert list(roots) == [
        *NATIVE,
        "hermes:global",
        "hermes:global:instructions",
        "hermes:global:profile-work",
        "hermes:project:instructions",
    ]
    assert [roots[name].kind for name in list(roots)[3:]] == ["memories", "instructions", "memories", "instructions"]
    policy = roots["hermes:global"].policy
    assert [policy.format_of(name) for name in LIMITS] == ["hermes", "hermes"]
    assert dict(policy.shown_chars) == LIMITS
    assert listed(roots, tmp_path / "state") == {
        "hermes:global": ["MEMORY.md", "USER.md"],
        "hermes:global:instructions": ["SOUL.md"],
        "hermes:global:profile-work": ["USER.md"],
        "hermes:project:instructions": [".hermes.md"],
    }


def test_each_profile_has_its_own_limits(machine: Machine) -> None:
    homes_more.hermes(machine.home, machine.app)
    machine.write("~/.hermes/config.yaml", "memory:\n  memory_char_limit: 4000 # more\n")
    roots = machine.roots()
    assert dict(roots["hermes:global"].policy.shown_chars) == {**LIMITS, "MEMORY.md": 4_000}
    assert dict(roots["hermes:global:profile-work"].policy.shown_chars) == {**LIMITS, "USER.md": 20}


def test_a_profile_in_use_is_the_first_and_the_others_stand_beside_it(machine: Machine) -> None:
    for name in ("work", "play"):
        machine.write(f"~/.hermes/profiles/{name}/memories/USER.md")
    machine.write("~/.hermes/profiles/.deleted/old")
    roots = machine.moved("HERMES_HOME", "~/.hermes/profiles/work")
    assert roots["hermes:global"].path == str(machine.home / ".hermes/profiles/work/memories")
    assert list(roots) == [*NATIVE, "hermes:global", "hermes:global:profile-play"]
    assert roots["hermes:global"].aliases == ()
