"""Roots named by hand: ids as given, layouts by name, and names that are not free."""

from pathlib import Path

import pytest

from memtui.agents.discovery import PLAIN_POLICY, layouts
from memtui.agents.known import claude_code, memtui_native, mux, qwen_code
from memtui.errors import UsageError
from tests.agents.machine import NATIVE, Machine


def test_a_root_has_the_id_given(machine: Machine) -> None:
    machine.write("notes/a.md")
    roots = machine.roots("app", f"notes={machine.folder / 'notes'},scope=project")
    assert list(roots) == [*NATIVE, "notes"]
    root = roots["notes"]
    assert (root.agent, root.scope, root.path, root.label) == (
        "files",
        "project",
        str(machine.folder / "notes"),
        "notes",
    )


def test_a_root_chosen_by_hand_is_accepted_even_in_a_checkout(machine: Machine) -> None:
    machine.write("app/docs/a.md")
    assert not machine.roots("app", "docs=docs")["docs"].in_checkout


def test_a_missing_folder_is_an_empty_root(machine: Machine) -> None:
    assert machine.roots("app", "notes=missing")["notes"].path == str(machine.app / "missing")


@pytest.mark.parametrize(
    ("agent", "policy"),
    [
        ("files", PLAIN_POLICY),
        ("memtui", memtui_native.POLICY),
        ("claude-code", claude_code.AUTO),
        ("qwen-code", qwen_code.AUTO),
        ("mux", mux.POLICY),
    ],
)
def test_a_root_can_follow_a_layout(machine: Machine, agent: str, policy: object) -> None:
    root = machine.roots("app", f"notes=/,agent={agent}")["notes"]
    assert root.agent == agent
    assert root.policy._replace(elsewhere=()) == policy


def test_every_layout_can_be_followed(machine: Machine) -> None:
    kinds: dict[str, set[str]] = {"memories": set(), "instructions": set()}
    for agent in layouts():
        root = machine.roots("app", f"notes=missing,agent={agent}")["notes"]
        assert root.agent == agent
        kinds[root.kind].add(agent)
    assert kinds["instructions"] == {"cursor", "kiro", "agents-md"}


@pytest.mark.parametrize(
    "options", [["n=a,agent=emacs"], ["n=a", "n=b"], ["memtui:global=a"], ["claude-code:x=a"], ["mux:global=a"]]
)
def test_what_cannot_be_is_refused(machine: Machine, options: list[str]) -> None:
    with pytest.raises(UsageError) as error:
        machine.roots("app", *options)
    assert (error.value.code, bool(error.value.hint)) == ("E_USAGE", True)


def test_a_mistake_in_the_settings_says_where(machine: Machine) -> None:
    machine.write("own/config.toml", "[[roots]]\nname = 'n'\ndir = '/n'\nagent = 'emacs'\n")
    with pytest.raises(UsageError, match=r"config\.toml, line 1") as error:
        machine.roots()
    assert error.value.code == "E_CONFIG"


def test_only_roots_leaves_out_the_settings_and_the_agents(machine: Machine) -> None:
    machine.write("own/config.toml", f"[[roots]]\nname = 'b'\ndir = '{machine.folder}/b'\n")
    Path(machine.folder / "b").mkdir()
    machine.write("app/CLAUDE.md")
    assert list(machine.roots("app", "a=x", "b2=y")) == [*NATIVE, "a", "b2", "b", "claude-code:project:instructions"]
    assert list(machine.roots("app", "a=x", only_roots=True)) == [*NATIVE, "a"]
