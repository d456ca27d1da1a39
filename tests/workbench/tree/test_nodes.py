"""What stands at the top of the tree: scopes or agents, other projects below one row, instructions on their own."""

from __future__ import annotations

from memtui.agents.layout import ORPHANED
from memtui.engine.model import Address, Memory, Root
from memtui.workbench.tree.forest import Forest
from memtui.workbench.tree.nodes import Losses, Node, OtherProjects, describe, groups, root_words

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


WEB = Root("claude-code:project:-home-ann-web", "/c", "claude-code", "project", "Claude Code memory, ~/web")


def test_a_project_is_called_by_its_short_path() -> None:
    known = describe(WEB._replace(project="/home/ann/src/web"), "/home/ann")
    assert (known.place, known.what, known.gone) == ("~/src/web", "Claude Code memory", False)
    assert describe(WEB._replace(project="/srv/web"), "/home/ann").place == "/srv/web"


def test_an_unknown_one_by_its_label_and_without_one_by_its_id() -> None:
    assert describe(WEB, "/home/ann").place == "~/web"
    bare = describe(WEB._replace(label=""), None)
    assert bare.place == "-home-ann-web"
    assert describe(WEB._replace(note=ORPHANED), None).gone


def test_only_what_is_wanted_is_shown_and_what_is_gone_is_forgotten() -> None:
    others = OtherProjects()
    mux = Root("mux:project:x", "/x", "mux", "project", "Mux memory, x")
    others.learn([WEB, mux], None)
    assert WEB.id in others
    assert "memtui:global" not in others
    assert others.hides(WEB.id)
    assert not others.hides("memtui:global")
    others.shown.add(WEB.id)
    others.read.add(WEB.id)
    assert not others.hides(WEB.id)
    assert others.unread == (mux.id,)
    others.learn([mux], None)
    assert WEB.id not in others
    assert (others.shown, others.read) == (set(), set())
    assert len(others) == 1


def forest() -> Forest:
    found = Forest()
    roots = (Root("a", "/a"), Root("b", "/b"))
    found.load(roots, [Memory(Address("a", "d/e/x.md"), "global", "files", 1, 0, "f" * 64)])
    return found


def node(found: Forest, *names: str) -> Node:
    here = found.top
    for name in names:
        here = here.children[name]
    return here


def test_every_row_above_counts_it_also_folders_that_are_gone() -> None:
    found, losses = forest(), Losses()
    touched = losses.set_deleted([Address("a", "d/y.md"), Address("a", "d/e/z.md"), Address("b", "q.md")], found.homes)
    assert losses.total == 3
    assert losses.below(node(found, "global")) == 3
    assert losses.below(node(found, "global", "a")) == 2
    assert losses.below(node(found, "global", "a", "d/")) == 2
    assert losses.below(node(found, "global", "a", "d/", "e/")) == 1
    assert node(found, "global", "b").key in touched


def test_only_rows_whose_count_changed_are_touched() -> None:
    found, losses = forest(), Losses()
    losses.set_deleted([Address("a", "d/y.md"), Address("b", "q.md")], found.homes)
    touched = losses.set_deleted([Address("a", "d/y.md")], found.homes)
    assert touched == {node(found, "global", "b").key, node(found, "global").key}
