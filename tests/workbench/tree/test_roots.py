"""What stands at the top of the tree: scopes or agents, other projects below one row, instructions on their own."""

from memtui.engine.model import Root
from memtui.workbench.tree.roots import groups, root_words

OWN = (
    Root("memtui:global", "/g", "memtui", "global", "memtui"),
    Root("memtui:project", "/p", "memtui", "project", "memtui"),
    Root("claude-code:project:-api", "/c", "claude-code", "project", "Claude Code memory"),
    Root("claude-code:project:instructions", "/i", "claude-code", "project", "Claude Code instructions")._replace(
        kind="instructions"
    ),
)
OTHERS = (
    Root("claude-code:project:-web", "/w", "claude-code", "project", "Claude Code memory, ~/web"),
    Root("mux:workspace:w1", "/m", "mux", "workspace", "Mux workspace w1"),
)


def outline(*, by_agent: bool) -> list[tuple[str, list[str]]]:
    return [(group.name, [root.id for root in group.roots]) for group in groups(OWN, OTHERS, by_agent=by_agent)]


def test_by_scope_the_own_project_comes_before_all_others() -> None:
    assert outline(by_agent=False) == [
        ("global", ["memtui:global"]),
        ("project", ["memtui:project", "claude-code:project:-api"]),
        ("other projects", ["claude-code:project:-web"]),
        ("other workspaces", ["mux:workspace:w1"]),
        ("instructions", ["claude-code:project:instructions"]),
    ]


def test_by_agent_each_agent_has_its_other_projects_below_it() -> None:
    assert outline(by_agent=True) == [
        ("memtui", ["memtui:global", "memtui:project"]),
        ("claude code", ["claude-code:project:-api"]),
        ("claude code, other projects", ["claude-code:project:-web"]),
        ("mux, other projects", ["mux:workspace:w1"]),
        ("instructions", ["claude-code:project:instructions"]),
    ]


def test_folders_that_are_no_roots_stand_last_in_a_group_of_their_own() -> None:
    alike = Root("files:unseen:kb-1", "/p/kb", "files", "project", "In no root, kb")
    for by_agent in (False, True):
        found = groups(OWN, (*OTHERS, alike), by_agent=by_agent)
        assert found[:-1] == groups(OWN, OTHERS, by_agent=by_agent)
        assert (found[-1].name, found[-1].roots) == ("looks like memories, in no root", (alike,))


def test_a_root_is_named_by_what_is_not_said_above_it() -> None:
    claude = OWN[2]
    names = {"project": "api"}
    assert root_words(claude, names, "scope") == "Claude Code memory"
    assert root_words(claude, names, "agent") == "project api  memory"
    assert root_words(claude, names, "") == "project api  Claude Code memory"
    assert root_words(OWN[0], names, "agent") == "global"
