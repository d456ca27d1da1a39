"""The tree as values: scopes, folders, sums, sorting, filters, drafts; and updates touch only what they concern."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.model import Address, Draft, Memory, Root
from memtui.workbench.tree.forest import Forest
from memtui.workbench.tree.nodes import FOLDER, MEMORY, NO_SIGNS, ROOT, SCOPE, Node, Signs

ROOTS = (
    Root("memtui:global", "/g", "memtui", "global", "memtui"),
    Root("memtui:project", "/p", "memtui", "project", "memtui"),
    Root("claude-code:project", "/c", "claude-code", "project", "Claude Code memory"),
)


def memory(name: str, **row: object) -> Memory:
    address = Address.parse(name)
    base = Memory(address, "global", "memtui", 10, 1_000, "a" * 64)
    return base._replace(**row)  # type: ignore[arg-type]


def forest(*memories: Memory, roots: tuple[Root, ...] = ROOTS) -> Forest:
    found = Forest()
    found.load(roots, memories)
    return found


def names(found: Forest) -> list[str]:
    return ["  " * node.depth + node.name for node in found.rows()]


def test_scopes_then_roots_where_there_are_several_then_folders_first() -> None:
    found = forest(
        memory("memtui:global/b.md"),
        memory("memtui:global/style/a.md"),
        memory("claude-code:project/MEMORY.md"),
    )
    assert names(found) == [
        "global",
        "  style",
        "    a.md",
        "  b.md",
        "project",
        "  Claude Code memory",
        "    MEMORY.md",
    ]
    assert [node.kind for node in found.rows()][:3] == [SCOPE, FOLDER, MEMORY]
    assert found.rows()[5].kind == ROOT


def test_sums_include_what_is_below() -> None:
    found = forest(
        memory("memtui:global/a/b/c.md", unseen=True, bytes=5),
        memory("memtui:global/a/d.md", unseen=True, pinned=True, bytes=7),
    )
    scope = found.rows()[0]
    assert (scope.files, scope.bytes) == (2, 12)
    assert scope.signs == Signs(pinned=1, unseen=2)
    assert found.top.signs.unseen == 2


def test_numbers_in_names_sort_as_numbers() -> None:
    found = forest(*(memory(f"memtui:global/r{number}.md") for number in (10, 2, 1)))
    assert [node.name for node in found.rows()[1:4]] == ["r1.md", "r2.md", "r10.md"]


def test_sorting_by_each_value_and_back() -> None:
    found = forest(
        memory("memtui:global/a.md", bytes=1, modified_at=3, heat=2.0, actor="tui"),
        memory("memtui:global/b.md", bytes=2, modified_at=2, heat=1.0, actor="outside"),
        memory("memtui:global/c.md", bytes=3, modified_at=1, heat=3.0, actor="tui", unseen=True),
        roots=ROOTS[:1],
    )

    def order(sort: str) -> str:
        found.sort_by(sort)
        return "".join(node.name[0] for node in found.rows()[1:])

    assert [order(sort) for sort in ("size", "age", "uses", "edited")] == ["cba", "abc", "cab", "bca"]
    assert order("edited") == "acb"
    assert found.reverse


def test_a_filter_keeps_parents_and_counts() -> None:
    found = forest(
        memory("memtui:global/style/prose.md", description="Short sentences"),
        memory("memtui:global/notes.md", description="Other things"),
    )
    found.filter.set_words("SHORT prose")
    assert names(found) == ["global", "  style", "    prose.md"]
    assert (found.matched, len(found.nodes), found.filter.active) == (1, 2, True)
    found.filter.clear()
    assert len(found.rows()) == 4


def test_a_filter_opens_what_was_closed_and_leaves_it_closed() -> None:
    found = forest(memory("memtui:global/deep/er/x.md"), roots=ROOTS[:1])
    top, whole = found.rows()[0], ["global", "  deep", "    er", "      x.md"]
    found.set_open(top, open=False)
    assert names(found) == ["global"]
    found.filter.set_words("x.md")
    assert names(found) == whole
    found.set_open(top, open=False)
    assert (names(found), found.matched, found.is_open(top)) == (["global"], 1, False)
    found.set_open(top, open=True)
    assert names(found) == whole
    found.filter.clear()
    assert names(found) == ["global"]
    found.filter.set_words("x.md")
    found.reveal(Address.parse("memtui:global/deep/er/x.md"))
    found.filter.clear()
    assert names(found) == whole


def test_show_only() -> None:
    found = forest(
        memory("memtui:global/a.md", unseen=True), memory("memtui:global/b.md", pinned=True), roots=ROOTS[:1]
    )
    found.filter.toggle("unseen")
    assert names(found)[1:] == ["  a.md"]
    found.filter.toggle("unseen")
    found.filter.toggle("pinned")
    assert names(found)[1:] == ["  b.md"]
    found.filter.toggle("conflicts")
    assert not found.rows()


def test_a_draft_shows_and_a_stale_one_is_a_conflict() -> None:
    found = forest(memory("memtui:global/a.md"), memory("memtui:global/b.md"), roots=ROOTS[:1])
    a, b = (Address("memtui:global", name) for name in ("a.md", "b.md"))
    effect = found.set_drafts([Draft(a, "a" * 64, "x", (0, 0), 1), Draft(b, "b" * 64, "x", (0, 0), 1)])
    assert not effect.rebuilt
    assert found.nodes[a].signs == Signs(draft=1)
    assert found.nodes[b].signs == Signs(draft=1, conflict=1)
    assert found.top.signs == Signs(draft=2, conflict=1)
    assert found.set_drafts([]).touched
    assert found.top.signs == NO_SIGNS


def test_a_draft_without_a_memory_has_a_row_until_it_goes() -> None:
    found = forest(roots=ROOTS[:1])
    gone = Address("memtui:global", "gone.md")
    assert found.set_drafts([Draft(gone, "a" * 64, "mine", (0, 0), 1)]).rebuilt
    assert names(found) == ["global", "  gone.md"]
    assert found.set_drafts([]).rebuilt
    assert names(found) == []


def test_a_deleted_memory_with_a_draft_stays_as_one() -> None:
    a = Address("memtui:global", "a.md")
    found = forest(memory("memtui:global/a.md"), roots=ROOTS[:1])
    found.set_drafts([Draft(a, "a" * 64, "mine", (0, 0), 1)])
    found.update([], [a])
    row = found.nodes[a].memory
    assert row is not None
    assert row.missing
    assert "draft" in row.problems[0].text


def test_an_update_touches_the_row_and_what_is_above() -> None:
    found = forest(memory("memtui:global/a/x.md"), memory("memtui:global/b/y.md"), roots=ROOTS[:1])
    rows = found.rows()
    effect = found.update([memory("memtui:global/a/x.md", unseen=True)])
    assert not effect.rebuilt
    assert effect.touched == {
        (MEMORY, "memtui:global", "a/x.md"),
        (FOLDER, "memtui:global", "a"),
        (SCOPE, "global"),
    }
    assert found.rows() is rows


def test_a_new_memory_and_a_gone_one() -> None:
    found = forest(memory("memtui:global/a/x.md"), roots=ROOTS[:1])
    assert found.update([memory("memtui:global/b/y.md", unseen=True)]).rebuilt
    assert names(found) == ["global", "  a", "    x.md", "  b", "    y.md"]
    assert found.update([], [Address("memtui:global", "b/y.md")]).rebuilt
    assert names(found) == ["global", "  a", "    x.md"]
    assert found.top.signs == NO_SIGNS


def test_rows_of_unknown_roots_are_left_out() -> None:
    found = forest(memory("elsewhere/a.md"))
    assert not found.nodes
    assert not found.update([memory("elsewhere/b.md")]).rebuilt


def test_a_full_list_is_an_update() -> None:
    found = forest(memory("memtui:global/a.md"), memory("memtui:global/b.md"), roots=ROOTS[:1])
    effects = tuple(found.replace_all(ROOTS[:1], [memory("memtui:global/a.md"), memory("memtui:global/c.md")]))
    assert any(effect.rebuilt for effect in effects)
    assert names(found) == ["global", "  a.md", "  c.md"]
    assert next(found.replace_all(ROOTS, [memory("memtui:global/a.md")])).rebuilt
    assert len(found.roots) == 3


def test_a_full_list_comes_in_parts_and_leaves_alone_what_is_newer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memtui.workbench.tree.forest.BATCH_SIZE", 2)
    old = [memory(f"memtui:global/{number}.md") for number in range(9)]
    found = forest(*old, roots=ROOTS[:1])
    newer: set[Address] = set()
    parts = found.replace_all(ROOTS[:1], [one._replace(bytes=7) for one in old[:5]], newer)
    next(parts)
    assert [found.nodes[one.address].bytes for one in old[:4]] == [7, 7, 10, 10]
    newer.update(one.address for one in (old[2], old[8]))
    assert len(list(parts)) == 4
    assert [found.nodes[one.address].bytes for one in old[:5]] == [7, 7, 10, 7, 7]
    assert found.nodes.keys() == {one.address for one in (*old[:5], old[8])}


def test_many_memories_start_with_closed_folders() -> None:
    found = forest(*(memory(f"memtui:global/f{number % 3}/{number}.md") for number in range(301)), roots=ROOTS[:1])
    assert names(found) == ["global", "  f0", "  f1", "  f2"]
    found.set_open(found.rows()[0], open=True, below=True)
    assert len(found.rows()) == 305


def test_revealing_opens_every_folder_above() -> None:
    found = forest(memory("memtui:global/a/b/x.md"), roots=ROOTS[:1])
    found.set_open(found.rows()[0], open=False, below=True)
    node = found.reveal(Address("memtui:global", "a/b/x.md"))
    assert node in found.rows()
    assert found.reveal(Address("memtui:global", "nowhere.md")) is None


def test_the_folder_of_a_row() -> None:
    found = forest(memory("memtui:global/a/b/x.md"), roots=ROOTS[:1])
    assert [node.folder for node in found.rows()] == ["", "a/", "a/b/", "a/b/"]


PATHS = st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map(lambda parts: "/".join(parts) + ".md")
STEPS = st.lists(st.tuples(st.booleans(), PATHS, st.booleans(), st.integers(0, 9)), max_size=25)


@given(STEPS, st.sampled_from(["name", "age", "uses", "size"]))
def test_any_order_of_updates_ends_as_a_fresh_load(steps: list[tuple[bool, str, bool, int]], sort: str) -> None:
    found = forest(roots=ROOTS[:1])
    found.sort_by(sort)
    rows: dict[str, Memory] = {}
    for add, path, unseen, size in steps:
        if add:
            rows[path] = memory(f"memtui:global/{path}", unseen=unseen, bytes=size, modified_at=size, heat=float(size))
            found.update([rows[path]])
        else:
            rows.pop(path, None)
            found.update([], [Address("memtui:global", path)])
        found.rows()
    fresh = forest(*rows.values(), roots=ROOTS[:1])
    fresh.sort = sort
    fresh.reverse = found.reverse

    def shape(node: Node) -> tuple[object, ...]:
        return (node.key, node.files, node.bytes, node.signs)

    assert [shape(node) for node in found.rows()] == [shape(node) for node in fresh.rows()]
