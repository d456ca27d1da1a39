"""What a start costs: sums over what is loaded and made, memories by their addresses, no use counted by looking."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest

from memtui.agents.agent import CUT_OFF, KnownAgent
from memtui.agents.discovery import discover
from memtui.agents.layout import slug
from memtui.agents.session_start import LoadedFile, gather
from memtui.agents.table import agent_of
from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.engine.model import Actor, Address, Root
from memtui.errors import NotFoundError
from memtui.features.cost import start_cost, view_rows
from memtui.features.cost.start_cost import MEMTUI, Cost, agent_named, agents, look, short, with_made, work_out
from memtui.features.cost.view_rows import ITEM, CostRow
from memtui.features.hot_set import shares
from memtui.features.hot_set.assemble import build
from memtui.given.tokens import Counter, counter
from memtui.pointers.lines import measure
from memtui.ui.draw.text import count_words
from tests.agents import homes
from tests.agents.machine import Machine, snapshot
from tests.given.world import World
from tests.pointers.folder import with_missing
from tests.workbench.shown import DIRECTORIES

BYTES = Counter("bytes", lambda text: len(text.encode()))


@pytest.fixture
def machine(home, tmp_path) -> Machine:  # type: ignore[no-untyped-def]
    """A home and a checkout."""
    return Machine(home, tmp_path)


@contextmanager
def opened(machine: Machine) -> Iterator[Engine]:
    state = str(machine.folder / "state")
    with Engine.open(discover(machine.surroundings()), state_dir=state) as engine:
        yield engine


def cost(machine: Machine, agent: str) -> Cost:
    with opened(machine) as engine:
        return work_out(engine, machine.surroundings(), agent_named(agent), count=BYTES)


def test_sums_are_of_what_is_loaded(machine: Machine) -> None:
    homes.claude_code(machine.home, machine.app)
    found = cost(machine, "claude-code")
    loaded = [item for item in found.items if item.loaded.at_start]
    assert found.files == len(loaded) == 9
    assert found.bytes == found.tokens == sum(len(item.loaded.text) for item in loaded)
    assert found.marked("needs approval") == 1
    assert found.marked("on demand") == 6
    assert found.below == 0


def test_what_is_lost_of_an_index_has_the_numbers_of_its_health(machine: Machine) -> None:
    lines = [b"- [a](a.md) - hook\n"] * 200
    file = machine.write(f"~/.claude/projects/{slug(str(machine.app))}/memory/MEMORY.md")
    for end in (b"", b"\n", b"\n\n \n\n", b"- one\n\n- two\n\n\n\n", b"- one\n- two", b"- one\n<!-- x -->\n\n"):
        data = b"".join(lines) + end
        file.write_bytes(data)
        with opened(machine) as engine:
            health = measure(data, engine.roots.find("claude-code:project").policy)
            found = work_out(engine, machine.surroundings(), agent_named("claude-code"), count=BYTES)
        (item,) = [one for one in found.items if one.loaded.label == "memory index"]
        assert item.below == health.lost_bytes
        gaps = item.loaded.gaps
        assert all(one.end <= other.start for one, other in pairwise(gaps))
        assert item.loaded.text == b"".join(lines)
        row = CostRow(ITEM, found, item)
        page, starts = view_rows.page(cast("Any", None), row, machine.surroundings(), 100, plain=True)
        said = "".join("".join(text for text, _ in page[at].runs) for at in starts)
        words = count_words(health.lost_lines, "line")
        assert said.startswith(f"-- cut here: {words}, {health.lost_bytes:,} bytes") if health.cut else not said


def test_a_memory_that_no_loaded_line_names_is_not_read_on_demand(machine: Machine) -> None:
    folder = f"~/.claude/projects/{slug(str(machine.app))}/memory"
    lines = "- [a](a.md)\n- [more](MEMORY-more.md)\n" + "- x\n" * 200 + "- [cut](cut.md)\n"
    for name, text in {
        "MEMORY": lines,
        "MEMORY-more": "- [b](b.md)\n",
        "a": "",
        "b": "",
        "cut": "",
        "lost": "",
    }.items():
        machine.write(f"{folder}/{name}.md", text or "x\n")
    found = {one.address.path: one.loaded for one in cost(machine, "claude-code").items if one.address is not None}
    marks = {path: one.mark for path, one in found.items()}
    assert [path for path, mark in marks.items() if mark == "skipped"] == ["cut.md", "lost.md"]
    assert {marks[path] for path in ("a.md", "b.md", "MEMORY-more.md")} == {"on demand"}
    assert "no line of the index that is loaded names it" in found["lost.md"].why


def test_memories_have_their_address_and_other_files_none(machine: Machine) -> None:
    machine.write("app/CLAUDE.md", "@docs/a.md\n")
    machine.write("app/docs/a.md")
    addresses = [item.address for item in cost(machine, "claude-code").items]
    assert addresses == [Address("claude-code:project:instructions", "CLAUDE.md"), None]


def test_looking_is_no_use_and_changes_nothing(machine: Machine) -> None:
    homes.mux(machine.home, machine.app)
    homes.claude_code(machine.home, machine.app)
    with opened(machine) as engine:
        uses = {row.address: row.uses for row in engine.rows.list().items}
        before = [entry for entry in snapshot(machine.folder) if "state" not in entry[0]]
        for table in agents(engine, machine.surroundings()):
            work_out(engine, machine.surroundings(), table)
        assert {row.address: row.uses for row in engine.rows.list().items} == uses
        assert [entry for entry in snapshot(machine.folder) if "state" not in entry[0]] == before


def test_more_than_is_read_counts_in_proportion(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    from memtui.agents.reader import BoundedReader

    monkeypatch.setattr(BoundedReader.head, "__kwdefaults__", {"limit": 100})
    machine.write("app/AGENTS.md", "x" * 1_000)
    (machine.home / ".codex").mkdir()
    machine.write("~/.codex/config.toml", "project_doc_max_bytes = 5000\n")
    (item,) = cost(machine, "codex").items
    assert (item.bytes, item.tokens) == (1_000, 1_000)


def test_agents_in_use_and_memtui_itself(machine: Machine) -> None:
    machine.write("app/CLAUDE.md")
    with opened(machine) as engine:
        assert [agent.id for agent in agents(engine, machine.surroundings())] == ["claude-code", "memtui"]
        assert look(engine, machine.surroundings(), MEMTUI)[0].label == "memory index"


def test_an_agent_is_found_by_any_of_its_names() -> None:
    assert agent_named("Claude Code").id == "claude-code"
    assert agent_named("gemini-cli").id == "gemini"
    assert agent_named("memtui") is MEMTUI
    with pytest.raises(NotFoundError, match="claude-cod") as error:
        agent_named("claude-cod")
    assert error.value.hint == "Did you mean claude-code?"
    with pytest.raises(NotFoundError) as error:
        agent_named("Cursor")
    assert error.value.hint == "What Cursor loads cannot be checked against its own source."
    with pytest.raises(NotFoundError) as error:
        agent_named("zzz")
    assert "openclaw" in error.value.hint


def test_paths_are_short_for_people(machine: Machine) -> None:
    around = machine.surroundings()
    assert short(f"{machine.app}/a.md", around) == "./a.md"
    assert short(f"{machine.home}/b.md", around) == "~/b.md"
    assert short("/etc/c.md", around) == "/etc/c.md"


def test_uses_by_agents_make_muxs_hot_set(machine: Machine) -> None:
    homes.mux(machine.home, machine.app)
    with opened(machine) as engine:
        address = next(row.address for row in engine.rows.list().items if row.address.root == "mux:global")
        engine.pins.record_use(address, actor=Actor("mcp:mux"))
        found = work_out(engine, machine.surroundings(), agent_named("mux"), count=BYTES)
    made = {item.loaded.label: item.loaded.text.decode() for item in found.items if item.loaded.made}
    assert address.path in made["memory index"]
    assert address.path in made["hot set"]


def test_an_agent_that_cannot_be_worked_out_takes_no_other_along(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.write("~/.codex/AGENTS.md", "Small commits.\n")
    machine.write("~/.claude/CLAUDE.md", "Be short.\n")

    def fail(agent: KnownAgent, *rest: Any) -> tuple[LoadedFile, ...]:
        if agent.id == "claude-code":
            raise RecursionError("too deep")
        return gather(agent, *rest)

    monkeypatch.setattr(start_cost, "gather", fail)
    with opened(machine) as engine:
        found = {one.agent: one for one in start_cost.of_all(engine, machine.surroundings(), count=BYTES)}
        assert list(found) == ["claude-code", "codex", "memtui"]
        assert (found["codex"].bytes, found["codex"].problem) == (15, "")
        assert found["claude-code"].problem == "Claude Code cannot be worked out: RecursionError: too deep."
        assert [item.loaded.mark for item in found["claude-code"].items] == ["skipped"]


@pytest.mark.parametrize("link", [".memtui/memory", ".memtui"])
def test_memories_behind_a_link_of_the_checkout_are_a_row(machine: Machine, link: str) -> None:
    machine.write(".secret/SECRET.md", "SECRET\n")
    machine.write(".secret/memory/SECRET.md", "SECRET\n")
    (machine.app / link).parent.mkdir(exist_ok=True)
    (machine.app / link).symlink_to("../../.secret" if "/" in link else "../.secret")
    found = cost(machine, "memtui")
    (row,) = [item.loaded for item in found.items if item.loaded.path == str(machine.app / link)]
    assert (row.mark, row.why) == (
        "needs approval",
        "It is a link to a folder, not followed: it leads out. Its memories are given to nobody.",
    )
    assert not [item for item in found.items if b"SECRET" in item.loaded.raw]


def test_a_few_bytes_that_are_not_read_are_no_cost_of_nothing(machine: Machine) -> None:
    machine.write("app/opencode.json", '{"instructions": ["../x.md"]}')
    (machine.folder / "x.md").write_text("ok\n")
    with opened(machine) as engine:
        found = work_out(engine, machine.surroundings(), agent_named("opencode"), count=Counter("few", lambda text: 1))
    assert [item.tokens for item in found.items if item.loaded.path.endswith("x.md")] == [1]


def test_memtuis_own_are_what_agents_are_given(world: World) -> None:
    address = world.write("global", "a.md", "text\n")
    with world.engine() as engine:
        world.use(engine, address)
        index, hot = with_made(engine, "memtui", ())
        given = build(engine)
    assert (index.text.decode(), hot.text.decode()) == (given.index_block.text, given.hot_block.text)
    assert index.made


def test_the_hot_set_shows_as_many_tokens_for_the_same_bytes(world: World) -> None:
    address = world.write("global", "a.md", "Release notes go below docs, one page a version.\n" * 20)
    with world.engine() as engine:
        world.use(engine, address)
        given = shares.counted(shares.load(engine, Settings(DIRECTORIES, "/home/ann"), shares.Door()))
        costs = [counter().of(one.text.decode()) for one in with_made(engine, "memtui", ())]
    assert given.context is not None
    assert given.tokens == sum(costs) < given.context.index_block.tokens + given.context.hot_block.tokens
    assert 0 < given.context.items[0].shown.tokens < costs[1]


def test_mux_is_said_to_begin_with_what_it_makes_itself(home: Path, tmp_path: Path) -> None:
    """Its own hot set holds a memory, which is then not among those that are not given."""
    machine = Machine(home, tmp_path)
    homes.mux(home, machine.app)
    roots, around = tuple(machine.roots().values()), machine.surroundings()
    with Engine.open(roots, state_dir=str(tmp_path / "state")) as engine:
        engine.pins.set([Address("mux:global", "preferences.md")], pinned=True, actor=Actor("tui"))
        found = shares.own_memories(engine, around, agent_of("mux"), roots)
    assert [one.path for one in found.itself if one.made] == ["memory index", "hot set"]
    assert "Short." in found.itself[-1].text.decode()
    assert not found.pinned
    assert not found.used


def test_what_has_no_room_is_said(world: World) -> None:
    for number in range(400):
        name = f"{number:03}.md"
        world.write("global", name, f"---\ndescription: {'long ' * 40}\n---\n")
    with world.engine() as engine:
        (index, *_) = with_made(engine, "memtui", ())
    assert index.mark == CUT_OFF
    assert "of 400 memories" in index.why


def test_other_agents_make_nothing(world: World) -> None:
    found = (LoadedFile("a", "/a"),)
    with world.engine() as engine:
        assert with_made(engine, "codex", found) is found
        assert with_made(engine, "mux", found) is found


def test_mux_is_not_told_of_what_may_be_gone(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "mux"
    folder.mkdir()
    (folder / "here.md").write_text("text\n")
    with world.engine() as engine:
        engine.roots.add([Root("mux:global", str(folder), "mux", "global")])
        monkeypatch.setattr(engine.rows, "list", with_missing(engine))
        (index, *_) = with_made(engine, "mux", ())
    assert "here.md" in index.text.decode()
    assert "held.md" not in index.text.decode()
