"""Imports from another agent's root: translated as a copy would be, compared in that shape, one step of undo."""

import json
import tempfile
from hashlib import sha256
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from memtui.engine import Engine
from memtui.engine.model import Address
from memtui.features.bundles import import_plan
from memtui.features.bundles.bundle import LIST, Bundle, BundledMemory, Origin, collect, read, write
from memtui.features.bundles.import_plan import CONFLICT, MERGED, NEW, NEWER, OLDER, SAME, STAYS, Imported, ImportPlan
from memtui.features.bundles.tarball import pack, unpack
from memtui.features.transfer.model import LOST
from memtui.features.transfer.plan import TransferOptions, apply, plan
from tests.examples import examples
from tests.features.transfer.agents import ME, POLICIES, Agents
from tests.features.transfer.machines import results

FRONT = "---\nname: Testing\ndescription: How tests are wanted\nmetadata:\n  type: feedback\n---\n"
MAPPED = "---\nname: Testing\ndescription: How tests are wanted\ntype: feedback\n---\n"
BODY = "\none\ntwo\nthree\nfour\n"
HEADED = "# How tests are wanted\n" + BODY
BARE = "SQL.\n"
INDEX = "# Index\n\n- [Testing](testing.md) — no mocks\n- [Role](role.md) — knows SQL\n"
QWEN = "qwen-code:project"
NOW = 1_767_225_600_000


def source(base: Path) -> Agents:
    """Return a machine on which Claude Code has memories."""
    agents = Agents(base, "claude-code")
    agents.lay("claude-code", {"MEMORY.md": INDEX, "testing.md": FRONT + BODY, "role.md": BARE})
    return agents


def bundle_of(agents: Agents, *, history: bool = False) -> bytes:
    """Return everything a machine has, as a file."""
    with agents.engine() as engine:
        engine.watch.reconcile()
        return write(collect(engine, engine.rows.list().items, history=history).bundle)


def wanted(engine: Engine, data: bytes, into: str = QWEN, *, as_is: bool = False) -> ImportPlan:
    """Plan an import."""
    return import_plan.plan(engine, read(data), {"": into}, as_is=as_is)


def take(engine: Engine, data: bytes, into: str = QWEN, *, as_is: bool = False) -> Imported:
    """Carry out an import."""
    return import_plan.apply(engine, wanted(engine, data, into, as_is=as_is), actor=ME, now=NOW)


def put(engine: Engine, name: str, text: str, root: str = QWEN) -> None:
    """Save a memory, as the user does."""
    address = Address(root, name)
    engine.save(address, text, expected_sha256=engine.read(address).sha256, actor=ME)


def test_what_arrives_is_what_a_copy_would_be_and_one_undo_takes_it_back(tmp_path: Path) -> None:
    data = bundle_of(source(tmp_path / "a"))
    here = Agents(tmp_path / "b", "qwen-code")
    here.lay("qwen-code", {"MEMORY.md": "* [x.md](x.md): old\n", "x.md": MAPPED})
    both = Agents(tmp_path / "c", "claude-code", "qwen-code")
    both.lay("claude-code", source(tmp_path / "d").held("claude-code"))
    both.lay("qwen-code", here.held("qwen-code"))
    with both.engine() as engine:
        pairs = [(Address("claude-code:project", name), Address(QWEN, name)) for name in ("role.md", "testing.md")]
        apply(engine, plan(engine, pairs, TransferOptions()), actor=ME)
    before = here.everything()
    with here.engine() as engine:
        found = wanted(engine, data)
        assert here.everything() == before
        assert results(found) == {"MEMORY.md": STAYS, "role.md": NEW, "testing.md": NEW}
        assert found.also == f"front matter of 2 mapped, 2 lines added in {QWEN}/MEMORY.md"
        done = import_plan.apply(engine, found, actor=ME, now=NOW)
        assert here.held("qwen-code") == both.held("qwen-code")
        assert b"* [role.md](role.md): knows SQL\n" in here.held("qwen-code")["MEMORY.md"]
        assert done.done is not None
        engine.undo.undo(actor=ME)
        assert here.everything() == before
        assert engine.undo.next() is None


def test_front_matter_that_may_not_be_there_is_left_out_and_said_and_history_has_it(tmp_path: Path) -> None:
    data = bundle_of(source(tmp_path / "a"), history=True)
    here = Agents(tmp_path / "b", "serena")
    with here.engine() as engine:
        found = wanted(engine, data, "serena:project")
        (testing,) = (one for one in found.arrivals if one.packed.path == "testing.md")
        assert [note.text.split(":")[0] for note in testing.notes if note.kind == LOST] == [
            "name",
            "metadata",
        ]
        import_plan.apply(engine, found, actor=ME, now=NOW)
        address = Address("serena:project", "testing.md")
        texts = [engine.history.read(address, one.sha256) for one in engine.history.of(address)]
        assert texts == [HEADED.encode(), (FRONT + BODY).encode()]
    assert here.held("serena") == {"role.md": BARE.encode(), "testing.md": HEADED.encode()}


def diverged(tmp_path: Path, mine: str, theirs: str) -> tuple[Agents, bytes]:
    """Return a machine with Qwen Code, and a newer bundle of Claude Code; both changed one memory since."""
    agents, here = source(tmp_path / "a"), Agents(tmp_path / "b", "qwen-code")
    with here.engine() as engine:
        take(engine, bundle_of(agents, history=True))
        put(engine, "testing.md", theirs)
    with agents.engine() as engine:
        put(engine, "testing.md", mine, "claude-code:project")
    return here, bundle_of(agents, history=True)


def test_both_changed_since_is_merged_in_the_shape_of_here(tmp_path: Path) -> None:
    theirs = MAPPED + BODY.replace("four", "FOUR")
    here, data = diverged(tmp_path, FRONT.replace("wanted", "done") + BODY.replace("one", "ONE"), theirs)
    with here.engine() as engine:
        assert results(wanted(engine, data))["testing.md"] == MERGED
        take(engine, data)
        text = MAPPED.replace("wanted", "done") + BODY.replace("one", "ONE").replace("four", "FOUR")
        assert here.held("qwen-code")["testing.md"].decode() == text
        assert results(wanted(engine, data))["testing.md"] in (OLDER, SAME)
        engine.undo.undo(actor=ME)
        assert here.held("qwen-code")["testing.md"].decode() == theirs


def test_a_newer_text_is_taken_and_an_older_one_is_not(tmp_path: Path) -> None:
    agents, here = source(tmp_path / "a"), Agents(tmp_path / "b", "qwen-code")
    old = bundle_of(agents, history=True)
    with here.engine() as engine:
        take(engine, old)
        with agents.engine() as other:
            put(other, "testing.md", FRONT + "newer\n", "claude-code:project")
        new = bundle_of(agents, history=True)
        assert results(wanted(engine, new))["testing.md"] == NEWER
        put(engine, "MEMORY.md", "No line, as the user wants it.\n")
        index = here.held("qwen-code")["MEMORY.md"]
        take(engine, new)
        assert here.held("qwen-code")["testing.md"].decode() == MAPPED + "newer\n"
        assert here.held("qwen-code")["MEMORY.md"] == index
        assert results(wanted(engine, old))["testing.md"] == OLDER


def test_a_conflict_is_of_three_texts_in_the_shape_of_here(tmp_path: Path) -> None:
    theirs = MAPPED + BODY.replace("one", "eins")
    here, data = diverged(tmp_path, FRONT + BODY.replace("one", "ONE"), theirs)
    with here.engine() as engine:
        assert results(wanted(engine, data))["testing.md"] == CONFLICT
        take(engine, data)
        found = engine.drafts.conflict(Address(QWEN, "testing.md"))
        assert found is not None
        mine, base = MAPPED + BODY.replace("one", "ONE"), MAPPED + BODY
        assert (found.yours, found.theirs) == (mine.encode(), theirs.encode())
        assert found.base_sha256 == sha256(base.encode()).hexdigest()
        (draft,) = engine.drafts.all()
        assert (draft.text, draft.base_sha256) == (mine, sha256(base.encode()).hexdigest())


def test_what_was_made_up_and_where_the_type_is_stay_as_they_are_here(tmp_path: Path) -> None:
    agents, here = source(tmp_path / "a"), Agents(tmp_path / "b", "qwen-code", "memtui")
    with here.engine() as engine:
        take(engine, bundle_of(agents))
        take(engine, bundle_of(agents), "memtui:project")
        nested = here.held("memtui")["testing.md"]
        agents.lay("claude-code", {"MEMORY.md": INDEX.replace("knows SQL", "another hook")})
        here.lay("memtui", {"newest.md": MAPPED})
        data = bundle_of(agents)
        assert results(wanted(engine, data))["role.md"] == SAME
        assert results(wanted(engine, data, "memtui:project"))["testing.md"] == SAME
        described = here.held("qwen-code")["role.md"].decode().replace("knows SQL", "mine")
        put(engine, "role.md", described + "More.\n")
        assert results(wanted(engine, bundle_of(source(tmp_path / "c"))))["role.md"] == OLDER
        put(engine, "role.md", described)
        assert results(wanted(engine, data))["role.md"] == SAME
    assert here.held("memtui")["testing.md"] == nested


def test_a_text_that_came_in_another_shape_is_known_again(tmp_path: Path) -> None:
    agents, here = source(tmp_path / "a"), Agents(tmp_path / "b", "memtui")
    data = bundle_of(agents)
    with here.engine() as engine:
        take(engine, data, "memtui:project")
        assert here.held("memtui")["testing.md"].decode() == FRONT + BODY
        put(engine, "testing.md", MAPPED + BODY + "five\n", "memtui:project")
        assert results(wanted(engine, data, "memtui:project"))["testing.md"] == OLDER


def test_as_is_keeps_every_byte_and_takes_the_index_as_a_file(tmp_path: Path) -> None:
    agents = source(tmp_path / "a")
    here = Agents(tmp_path / "b", "qwen-code")
    with here.engine() as engine:
        found = wanted(engine, bundle_of(agents), as_is=True)
        assert (found.indexes, found.also) == ((), "")
        take(engine, bundle_of(agents), as_is=True)
    assert here.held("qwen-code") == agents.held("claude-code")


def test_a_name_gets_the_ending_that_is_read_and_two_of_one_name_do_not_meet(tmp_path: Path) -> None:
    origin = Origin("serena:project", "serena", "project")
    data = write(Bundle((BundledMemory(origin, "a.md", b"md\n"), BundledMemory(origin, "a.txt", b"txt\n"))))
    here = Agents(tmp_path, "goose")
    with here.engine() as engine:
        assert results(wanted(engine, data, "goose:project")) == {"a.md": NEW, "a.txt": STAYS}
        take(engine, data, "goose:project")
    assert here.held("goose") == {"a.txt": b"md\n"}


def test_a_memory_of_another_agent_does_not_become_the_index(tmp_path: Path) -> None:
    data = write(Bundle((BundledMemory(Origin("serena:project", "serena", "project"), "MEMORY.md", b"text\n"),)))
    here = Agents(tmp_path, "claude-code")
    with here.engine() as engine:
        assert results(wanted(engine, data, "claude-code:project")) == {"MEMORY.md": STAYS}


def test_an_index_that_comes_along_gets_the_lines_of_the_others(tmp_path: Path) -> None:
    claude, serena = Origin("c", "claude-code", "project"), Origin("s", "serena", "project")
    memories = (BundledMemory(claude, "MEMORY.md", b"- [a](a.md)\n"), BundledMemory(claude, "a.md", b"A\n"))
    data = write(Bundle((*memories, BundledMemory(serena, "b.md", b"# Bee\n"))))
    here = Agents(tmp_path, "claude-code")
    with here.engine() as engine:
        take(engine, data, "claude-code:project")
        assert here.held("claude-code")["MEMORY.md"] == b"- [a](a.md)\n- [B](b.md)\n"
        engine.undo.undo(actor=ME)
    assert here.held("claude-code") == {}


def test_an_index_in_conflict_gets_no_line_and_that_is_said(tmp_path: Path) -> None:
    claude, serena = Origin("c", "claude-code", "project"), Origin("s", "serena", "project")
    data = write(Bundle((BundledMemory(claude, "MEMORY.md", b"theirs\n"), BundledMemory(serena, "b.md", b"# Bee\n"))))
    here = Agents(tmp_path, "claude-code")
    here.lay("claude-code", {"MEMORY.md": b"mine\n"})
    with here.engine() as engine:
        (change,) = wanted(engine, data, "claude-code:project").indexes
        assert change.notes == ("The index gets no line: it is in conflict itself.",)
        take(engine, data, "claude-code:project")
    assert here.held("claude-code") == {"MEMORY.md": b"mine\n", "b.md": b"# Bee\n"}


def test_an_old_bundle_that_does_not_name_the_index_is_read_by_its_agent(tmp_path: Path) -> None:
    files = dict(unpack(bundle_of(source(tmp_path / "a"))))
    document = json.loads(files[LIST])
    assert document["roots"][0].pop("index_file") == "MEMORY.md"
    files[LIST] = json.dumps(document).encode()
    here = Agents(tmp_path / "b", "qwen-code")
    with here.engine() as engine:
        found = wanted(engine, pack(files.items()))
        assert results(found) == {"MEMORY.md": STAYS, "role.md": NEW, "testing.md": NEW}
        import_plan.apply(engine, found, actor=ME, now=NOW)
    assert b"knows SQL" in here.held("qwen-code")["role.md"]


def test_an_agent_nobody_knows_brings_its_index_by_the_list(tmp_path: Path) -> None:
    origin = Origin("new:project", "new", "project", index_file="INDEX.md")
    data = write(
        Bundle((BundledMemory(origin, "INDEX.md", b"- [a](a.md): hook\n"), BundledMemory(origin, "a.md", b"text\n")))
    )
    here = Agents(tmp_path, "qwen-code")
    with here.engine() as engine:
        assert results(wanted(engine, data)) == {"INDEX.md": STAYS, "a.md": NEW}
        take(engine, data)
    assert b"description: hook" in here.held("qwen-code")["a.md"]


def test_a_link_that_leads_nowhere_here_is_said(tmp_path: Path) -> None:
    origin = Origin("serena:project", "serena", "project")
    data = write(Bundle((BundledMemory(origin, "a.md", b"[b](b.md)\n"), BundledMemory(origin, "b.md", b"B\n"))))
    here = Agents(tmp_path, "goose", "memtui")
    with here.engine() as engine:
        said = {
            one.packed.path: [note.text for note in one.notes] for one in wanted(engine, data, "goose:project").arrivals
        }
        assert said["a.md"][0] == "named a.txt: Goose reads .txt"
        assert said["a.md"][-1] == "links that lead nowhere there: b.md"
        assert not [one.notes for one in wanted(engine, data, "memtui:project").arrivals if one.notes]


FIELD = st.sampled_from(
    [
        "name: A\n",
        "title: T\n",
        "description: D\n",
        "type: user\n",
        "metadata:\n  type: odd\n",
        "x: [1, 2]\n",
        "type: [\n",
        "a\n",
    ]
)
FRONTS = st.lists(FIELD, max_size=4, unique=True).map(lambda fields: f"---\n{''.join(fields)}---\n")
BODIES = st.sampled_from(["", "\n", "# A\n", "---\nname: B\n---\n", "text", "a\r\nb\r\n", "[b](b.md)\n"])
TEXTS = st.one_of(BODIES, st.builds("".join, st.tuples(FRONTS, BODIES))).map(str.encode)
LINES = st.sampled_from(["", "- [A](a.md) — hook\n", "- [B](b.md): b\n- [A](a.md)\n"])
AGENTS = st.sampled_from(sorted(POLICIES))


@settings(max_examples=examples(25))
@given(st.tuples(TEXTS, TEXTS, TEXTS), LINES, AGENTS, AGENTS, st.booleans())
def test_any_memories_arrive_once_whatever_the_agents(
    texts: tuple[bytes, bytes, bytes], index: str, old: str, new: str, history: bool
) -> None:
    with tempfile.TemporaryDirectory() as base:
        agents, here = Agents(Path(base) / "a", old), Agents(Path(base) / "b", new)
        agents.lay(old, dict(zip(("a.md", "b.md", "c.txt"), texts, strict=True)) | {"MEMORY.md": index.encode()})
        data = bundle_of(agents, history=history)
        with here.engine() as engine:
            done = take(engine, data, f"{new}:project")
            assert not done.conflicts
            before = here.everything()
            assert set(results(wanted(engine, data, f"{new}:project")).values()) <= {SAME, STAYS}
            assert take(engine, data, f"{new}:project").done is None
            assert here.everything() == before
            if done.done is not None:
                engine.undo.undo(actor=ME)
            assert here.held(new) == {}
