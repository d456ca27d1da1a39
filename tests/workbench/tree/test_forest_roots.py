"""Rows above the memories: groups that are switched, other projects that arrive, instructions that are put away."""

from memtui.agents.known.memtui_native import room_root
from memtui.engine.model import Address, Memory, Root
from memtui.workbench.tree.forest import Forest
from memtui.workbench.tree.nodes import OTHERS, ROOT

API = Root(
    "claude-code:project:-home-ann-api", "/c", "claude-code", "project", "Claude Code memory",
    aliases=("claude-code:project",),
)  # fmt: skip
RULES = Root("claude-code:project:instructions", "/i", "claude-code", "project", "Claude Code instructions")._replace(
    kind="instructions"
)
WEB = Root("claude-code:project:-web", "/w", "claude-code", "project", "Claude Code memory, x", project="/home/ann/web")
GONE = Root("claude-code:project:-gone", "/o", "claude-code", "project", "Claude Code memory, -gone")


def memory(root: Root, path: str) -> Memory:
    return Memory(Address(root.id, path), root.scope, root.agent, 10, 1_000, "a" * 64)


def forest(*memories: Memory) -> Forest:
    found = Forest()
    found.names.scopes = {"project": "api"}
    found.load([API, RULES], memories)
    return found


def labels(found: Forest) -> list[str]:
    return ["  " * node.depth + found.names.label(node) for node in found.rows()]


def test_other_projects_arrive_below_one_folded_row_and_nothing_else_moves() -> None:
    found = forest(memory(API, "a.md"), memory(RULES, "CLAUDE.md"))
    before = labels(found)
    found.learn_others([WEB, GONE], "/home/ann")
    after = labels(found)
    assert [row for row in after if row != "OTHER PROJECTS"] == before
    row = next(node for node in found.rows() if node.kind == OTHERS)
    assert found.projects_in(row) == 2
    found.set_open(row, open=True)
    assert [node.name for node in found.rows() if node.kind == ROOT] == ["-gone", "~/web"]
    assert not any(found.is_open(node) for node in found.rows() if node.kind == ROOT)


def test_memories_of_another_project_are_shown_only_when_they_are_wanted() -> None:
    found = forest(memory(API, "a.md"))
    found.learn_others([WEB], "/home/ann")
    listed = [memory(API, "a.md"), memory(WEB, "b.md")]
    assert list(found.replace_all([API, RULES, WEB], listed))
    assert len(found.nodes) == 1
    assert WEB.id not in found.roots
    found.others.shown.add(WEB.id)
    found.others.read.add(WEB.id)
    assert list(found.replace_all([API, RULES, WEB], listed))
    assert len(found.nodes) == 2
    assert WEB.id in found.roots
    home = found.homes[WEB.id]
    assert home.files == 1
    assert home.parent is not None
    assert home.parent.files == 1
    assert found.names.shown(Address(WEB.id, "b.md")) == "~/web: b.md"
    assert found.names.shown(Address(API.id, "a.md")) == "claude-code:project/a.md"
    said = f"Undid: move {API.id}/a b.md to {WEB.id}/b.md ({API.id}/c.md). {API.id} /etc x:y/z"
    assert found.names.named(said) == (
        f"Undid: move claude-code:project/a b.md to ~/web: b.md (claude-code:project/c.md). {API.id} /etc x:y/z"
    )


def test_the_one_chat_there_is_is_named_by_its_channel() -> None:
    room = room_root("/home/ann/.memtui", "team-eng", "0" * 16, "1" * 32)
    found = Forest()
    found.load([room], [memory(room, "CHANNEL.md")])
    assert labels(found)[0] == "CHANNEL team-eng"


def test_deletions_in_a_project_nobody_looks_at_are_not_counted() -> None:
    found = forest(memory(API, "a.md"))
    found.learn_others([WEB], None)
    found.set_deleted([Address(API.id, "x.md"), Address(WEB.id, "y.md")])
    assert found.losses.total == 1
    found.others.shown.add(WEB.id)
    found.set_deleted([Address(API.id, "x.md"), Address(WEB.id, "y.md")])
    assert found.losses.total == 2


def test_grouping_keeps_every_memory_and_its_sums() -> None:
    found = forest(memory(API, "a.md"), memory(RULES, "CLAUDE.md"))
    found.learn_others([WEB], None)
    found.others.shown.add(WEB.id)
    found.update([memory(WEB, "b.md")])
    there = set(found.nodes)
    found.group_by_agent(by_agent=True)
    assert set(found.nodes) == there
    assert found.top.files == 3
    assert labels(found)[0] == "CLAUDE CODE project api  memory"
    assert "INSTRUCTIONS project api  Claude Code instructions" in labels(found)
    found.group_by_agent(by_agent=False)
    assert labels(found)[0] == "PROJECT api Claude Code memory"


def test_instructions_can_be_put_away_and_come_back_for_whoever_goes_there() -> None:
    found = forest(memory(API, "a.md"), memory(RULES, "CLAUDE.md"))
    assert any("INSTRUCTIONS" in row for row in labels(found))
    found.show_instructions(wanted=False)
    assert not any("INSTRUCTIONS" in row for row in labels(found))
    assert found.reveal(Address(RULES.id, "CLAUDE.md")) is not None
    assert any("INSTRUCTIONS" in row for row in labels(found))


def test_a_memory_goes_by_the_shortest_name_of_its_root() -> None:
    native = Root("memtui:project", "/p", "memtui", "project", aliases=("memtui:project:checkout",))
    found = forest()
    found.load([API, native], [memory(API, "a.md"), memory(native, "b.md")])
    assert found.names.shown(Address(API.id, "a.md")) == "claude-code:project/a.md"
    assert found.names.shown(Address("memtui:project", "b.md")) == "memtui:project/b.md"
