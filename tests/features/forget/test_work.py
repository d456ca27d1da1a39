"""Forgetting: exactly the chosen lines, found first; as a task within what a client may do, and by `memtui forget`."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.config.read import load_settings, read_environment
from memtui.engine import Engine
from memtui.engine.model import Address
from memtui.engine.observation import ObservationMark
from memtui.engine.task import Task
from memtui.errors import ConflictError, NotFoundError, UsageError
from memtui.features.forget.work import Candidate, ForgetPlan, bullets, named, plan_forget, search
from memtui.features.tasks.lanes import work_off
from memtui.features.tasks.work import workspace_of
from memtui.wire.session import Options, Session, open_session
from tests.cli.conftest import Cli, Result
from tests.features.transfer.agents import ME, Agents, root


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    for scope in ("global", "project"):
        (tmp_path / scope).mkdir()
        (tmp_path / scope / "likes.md").write_text("- Use tabs\n- Use ruff\n", encoding="utf-8")
    roots = tuple(f"{scope[0]}={tmp_path / scope},scope={scope}" for scope in ("global", "project"))
    found = open_session(load_settings(read_environment()), Options(roots=roots, only_roots=True), lock_wait=5)
    yield found
    found.engine.close()


def done(session: Session, client: str = "http:page", **request: Any) -> Task:
    """Ask, and have it done."""
    lane = workspace_of(session.surroundings)
    task = session.engine.tasks.enqueue("forget", lane.id, client, request, trigger="manual")
    assert work_off(session, workspace=lane, stop=lambda: False) == 1
    return session.engine.tasks.get(task.id)


def result(task: Task) -> dict[str, Any]:
    """What came of it."""
    assert task.error is None, task.error
    return dict(task.result or {})


def test_a_query_shows_and_ids_take_exactly_the_line(session: Session, tmp_path: Path) -> None:
    found = result(done(session, query="tabs", scope="user"))
    (item,) = found["items"]
    assert (found["summary"], found["outcome"], item["title"], found["changes"]) == (
        "1 found.",
        "found",
        "Use tabs",
        [],
    )
    gone = done(session, ids=[item["id"]], apply=True)
    assert result(gone)["touchedScopes"] == ["user"]
    assert result(gone)["addresses"] == ["g/likes.md"]
    assert (tmp_path / "global/likes.md").read_text() == "- Use ruff\n"
    assert (tmp_path / "project/likes.md").read_text() == "- Use tabs\n- Use ruff\n"
    (record,) = session.engine.history.audit(txn=gone.txn)
    assert record.actor == "http:page"
    session.engine.undo.undo(actor=session.options.actor)
    assert (tmp_path / "global/likes.md").read_text() == "- Use tabs\n- Use ruff\n"


def test_nothing_goes_by_words_or_where_a_client_may_not_look(session: Session, tmp_path: Path) -> None:
    for request, code in (
        ({"query": "tabs", "apply": True}, "E_USAGE"),
        ({"query": ""}, "E_QUERY"),
        ({"ids": ["p/likes.md#9@abcdef"], "apply": True}, "E_CONFLICT"),
    ):
        task = done(session, **request)
        assert task.error is not None
        assert task.error[0] == code
    config = Path(session.settings.config_file)
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('[access."http:page"]\nglobal = "off"\nproject = "ro"\n', encoding="utf-8")
    assert [one["id"][0] for one in result(done(session, query="tabs"))["items"]] == ["p"]
    assert result(done(session, ids=["g/likes.md"], apply=True))["outcome"] == "found"
    refused = done(session, ids=["p/likes.md"], apply=True)
    assert refused.error is not None
    assert refused.error[0] == "E_ACCESS"
    assert (tmp_path / "project/likes.md").exists()


def test_an_agents_becomes_a_proposal_that_says_what_goes(session: Session, tmp_path: Path) -> None:
    assert result(done(session, "agent:claude", ids=["p/likes.md"], apply=True))["outcome"] == "proposed"
    (waiting,) = session.engine.proposals.all(("open",))
    assert (waiting.kind, waiting.targets, waiting.evidence[0].name) == ("remove", ("p/likes.md",), "p/likes.md")
    assert (tmp_path / "project/likes.md").exists()


def test_what_is_private_is_found_and_told_to_a_person_alone(session: Session, tmp_path: Path) -> None:
    text = "<private>\nzebra\n</private> pangolin\n<private> giraffe"
    (tmp_path / "global/plan.md").write_text(text, encoding="utf-8")
    assert result(done(session, query="zebra"))["items"] == result(done(session, query="giraffe"))["items"] == []
    assert "zebra" not in str(result(done(session, query="pangolin")))
    assert "zebra" not in str(result(done(session, ids=["g/plan.md"])))
    assert len(result(done(session, "cli", query="zebra"))["items"]) == 1


def withhold(session: Session, address: Address) -> None:
    """Withhold a card of a memory."""
    (uid,) = (uid for uid, name in session.engine.roots.names().items() if name == address.root)
    mark = ObservationMark(b"n" * 10, 0, uid, address.path, b"", b"k" * 10, b"", 1)
    session.engine.observations.put(mark, actor="cli")


def test_only_a_person_is_told_of_what_is_withheld(session: Session) -> None:
    name = result(done(session, query="tabs", scope="user"))["items"][0]["id"]
    withhold(session, Address("g", "likes.md"))
    assert result(done(session, query="tabs", scope="user"))["items"] == []
    error = done(session, ids=[name]).error
    assert error is not None
    assert error[0] == "E_NOT_FOUND"
    assert len(result(done(session, "cli", query="tabs", scope="user"))["items"]) == 1


LIST = (
    b"\xef\xbb\xbf---\r\nname: Likes\r\n---\r\n# Feedback Memory\r\n\r\n- Use tabs\r\n"
    b"  - Why: habit\r\n\r\n* Use tabs in Go\r\n- Use tabs\r\n**How to apply:** always"
)


def world(tmp_path: Path) -> Agents:
    """Lists, single memories, entries, and an index that names them."""
    agents = Agents(tmp_path, "memtui", "claude-code", "qwen-code", "goose")
    agents.lay("memtui", {"likes.md": LIST, "prose.md": "Words about tabs.\n\n- and an item\n"})
    agents.lay(
        "claude-code",
        {
            "MEMORY.md": "- [Tabs](tabs.md) — tabs\n- [Role](role.md) — SQL\n",
            "tabs.md": "Use tabs\n",
            "role.md": "SQL\n",
        },
    )
    agents.lay("qwen-code", {"pinned/tabs.md": "Use tabs\n", "other.md": "- Use spaces\n- See [it](pinned/tabs.md)\n"})
    agents.lay("goose", {"development.txt": "# style\nUse tabs\n\nUse ruff\n\n"})
    return agents


def found(engine: Engine, query: str) -> list[str]:
    """The ids of what a query finds, with their titles."""
    return sorted(f"{one.id.partition('@')[0]} {one.title}" for one in search(engine, engine.roots.all(), query))


def forget(engine: Engine, chosen: tuple[Candidate, ...]) -> ForgetPlan:
    """Plan it and do it."""
    wanted = plan_forget(engine, chosen)
    engine.together.do(wanted.steps, actor=ME, label=wanted.label)
    return wanted


def test_entries_are_found_by_all_words_and_by_the_whole_query_first(tmp_path: Path) -> None:
    with world(tmp_path).engine() as engine:
        assert found(engine, "tabs USE") == [
            "claude-code:project/tabs.md Use tabs",
            "goose:project/development.txt#1 Use tabs",
            "memtui:project/likes.md#1 Use tabs",
            "memtui:project/likes.md#2 Use tabs in Go",
            "memtui:project/likes.md#3 Use tabs",
            "qwen-code:project/pinned/tabs.md Use tabs",
        ]
        assert found(engine, "go tabs") == found(engine, "tabs in go") == ["memtui:project/likes.md#2 Use tabs in Go"]
        assert found(engine, "and about") == ["memtui:project/prose.md Words about tabs."]
        assert found(engine, "tab") == found(engine, "us* tabs") == []
        assert [one.partition(" ")[0] for one in found(engine, "*")] == [
            "memtui:project/likes.md#2",
            "memtui:project/likes.md#3",
        ]
        for nothing in ("", " \n"):
            with pytest.raises(UsageError):
                found(engine, nothing)


def test_exactly_the_chosen_lines_go_and_undo_brings_them_back(tmp_path: Path) -> None:
    agents = world(tmp_path)
    before = agents.everything()
    with agents.engine() as engine:
        likes = [one for one in search(engine, engine.roots.all(), "use tabs") if one.address.name == "likes.md"]
        forget(engine, named(engine, [likes[0].id, likes[0].id]))
        assert agents.held("memtui")["likes.md"] == LIST.replace(b"- Use tabs\r\n  - Why: habit\r\n", b"")
        engine.undo.undo(actor=ME)
        assert agents.everything() == before
        forget(engine, named(engine, [likes[2].id, likes[1].id]))
        assert agents.held("memtui")["likes.md"] == LIST[: LIST.index(b"* Use tabs in Go")]
        engine.undo.undo(actor=ME)
        forget(engine, tuple(likes))
        assert set(agents.held("memtui")) == {"prose.md"}
        engine.undo.undo(actor=ME)
        assert agents.everything() == before


def test_pointers_follow_pinned_and_protected_stay_and_other_roots_are_not_touched(tmp_path: Path) -> None:
    agents = world(tmp_path)
    before = agents.everything()
    with agents.engine() as engine:
        (role,) = named(engine, ["claude-code:project/role.md"])
        engine.pins.set([role.address], pinned=True, actor=ME)
        ids = ["claude-code:project/tabs.md", "claude-code:project/role.md", "qwen-code:project/pinned/tabs.md"]
        wanted = forget(engine, named(engine, ids))
        assert [(one.address.name, one.stays) for one in wanted.staying] == [
            ("role.md", "it is pinned"),
            ("tabs.md", "its agent's layout protects it"),
        ]
        assert wanted.also == "1 link updated"
        assert agents.held("claude-code") == {"MEMORY.md": b"- [Role](role.md) \xe2\x80\x94 SQL\n", "role.md": b"SQL\n"}
        assert agents.held("qwen-code") == before["qwen-code"]
        engine.undo.undo(actor=ME)
        assert agents.everything() == before


def test_a_link_in_a_text_is_named_and_an_index_is_no_list_of_entries(tmp_path: Path) -> None:
    agents = Agents(tmp_path, "claude-code")
    agents.lay("claude-code", {"MEMORY.md": "- [A](a.md)\n- [L](l.md)\n", "a.md": "x\n", "l.md": "See [it](a.md)\n"})
    with agents.engine() as engine:
        index = named(engine, ["claude-code:project/MEMORY.md"])
        assert plan_forget(engine, index).steps == ()
        wanted = forget(engine, named(engine, ["claude-code:project/a.md"]))
        assert "l.md" in wanted.rest
        assert agents.held("claude-code") == {"MEMORY.md": b"- [L](l.md)\n", "l.md": b"See [it](a.md)\n"}


def test_what_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    agents = world(tmp_path)
    with agents.engine() as engine:
        chosen = search(engine, engine.roots.all(), "tabs in go")
        agents.lay("memtui", {"likes.md": LIST + b"\r\n- more"})
        with pytest.raises(ConflictError):
            plan_forget(engine, chosen)
        assert forget(engine, named(engine, [chosen[0].id])).going
        for gone in (chosen[0].id, "memtui:project/prose.md#1@123456", "memtui:project/none.md"):
            with pytest.raises((ConflictError, NotFoundError)):
                named(engine, [gone])


def test_what_is_no_text_is_left_alone(tmp_path: Path) -> None:
    agents = Agents(tmp_path, "memtui")
    agents.lay("memtui", {"a.md": b"gone\0\n", "b.md": b"- gone\n- \xff\n"})
    with agents.engine() as engine:
        wanted = plan_forget(engine, search(engine, engine.roots.all(), "gone"))
        assert (wanted.steps, {one.stays for one in wanted.staying}) == ((), {"it is not UTF-8 text"})


def test_files_of_instructions_are_never_taken_whole_by_a_word(tmp_path: Path) -> None:
    agents = Agents(tmp_path, "memtui")
    agents.lay("memtui", {"CLAUDE.md": "Use tabs. Always.\n", "RULES.md": "- Use tabs\n- Use ruff\n"})
    written = root("memtui", str(tmp_path / "memtui"))._replace(kind="instructions")
    with Engine.open([written], state_dir=str(tmp_path / "state")) as engine:
        assert found(engine, "use tabs") == ["memtui:project/RULES.md#1 Use tabs"]


LINES = st.sampled_from(["- one", "* two", "- one", "  more", "\tmore", "Why: so", "# H", "", "_No entries yet._"])


@given(st.lists(LINES, max_size=12), st.sampled_from(["\n", "\r\n", "\r"]), st.booleans(), st.data())
def test_no_other_byte_of_a_list_changes(lines: list[str], end: str, closed: bool, data: st.DataObject) -> None:
    from memtui.features.entries.model import EntryFile
    from memtui.features.forget.work import _without_bullets

    text = (end.join(lines) + (end if closed else "")).encode()
    entries = bullets(text)
    if len(entries) < 2:
        return
    gone = data.draw(st.sets(st.sampled_from([one.number for one in entries]), max_size=len(entries) - 1))
    left = _without_bullets(EntryFile("bullets", text, entries), gone)
    kept = [line for line in left.split(end.encode()) if line.strip()]
    cut = [text[one.start : one.end] for one in entries if one.number in gone]
    assert len(text) - len(left) <= sum(len(one) + len(end) for one in cut)
    assert sorted(kept + [line for one in cut for line in one.split(end.encode()) if line.strip()]) == sorted(
        line for line in text.split(end.encode()) if line.strip()
    )


class World:
    """A folder of memories with a secret in several of them."""

    def __init__(self, cli: Cli, base: Path) -> None:
        self.cli, self.base = cli, base
        base.mkdir(parents=True)
        self.write("likes.md", "- Use tabs\n- The door code is 4711-swordfish\n")
        self.write("code.md", "The door code is 4711-swordfish\n")

    def write(self, name: str, text: str) -> None:
        """Write as an agent does."""
        (self.base / name).write_text(text, encoding="utf-8")

    def __call__(self, *words: str) -> Result:
        return self.cli("--only-root", "--root", f"n={self.base}", *words)

    def held(self) -> dict[str, str]:
        """Every file."""
        return {path.name: path.read_text(encoding="utf-8") for path in sorted(self.base.iterdir())}


@pytest.fixture
def folder(cli: Cli, tmp_path: Path) -> World:
    return World(cli, tmp_path / "notes")


def test_it_is_shown_first_and_nothing_changes_without_yes_or_id(folder: World) -> None:
    before = folder.held()
    result = folder("forget", "4711", "DOOR")
    assert [line.split("\t")[0].partition("@")[0] for line in result.lines] == ["n/code.md", "n/likes.md#2"]
    assert "--yes forgets all 2" in result.err
    document = folder("forget", "door code", "--json").json
    assert (document["written"], document["txn"]) == (False, None)
    assert folder("forget", "nobody-said-this").err == "Nothing to forget.\n"
    assert folder.held() == before


def test_ids_and_yes_forget_and_one_undo_brings_back(folder: World) -> None:
    before = folder.held()
    items = folder("forget", "tabs", "--json").items
    done = folder("forget", "--id", str(items[0]["id"]))
    assert done.lines[-1] == f"forgot\t{items[0]['id']}"
    assert folder.held()["likes.md"] == "- The door code is 4711-swordfish\n"
    assert folder("undo").status == 0
    document = folder("forget", "door code", "--yes", "--json").json
    assert document["written"] is True
    assert folder.held() == {"likes.md": "- Use tabs\n"}
    assert folder("undo").status == 0
    assert folder.held() == before


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ((), "E_USAGE"),
        (("", "--yes"), "E_QUERY"),
        (("tabs", "--id", "n/likes.md"), "E_USAGE"),
        (("--id", "n/none.md"), "E_NOT_FOUND"),
        (("--id", "n/likes.md#9@abcdef"), "E_CONFLICT"),
        (("tabs", "--yes", "--redact"), "E_USAGE"),
        (("tabs", "--yes", "--redact", "--reason", "x"), "E_PERSON"),
    ],
)
def test_what_is_not_clear_is_refused(folder: World, words: tuple[str, ...], code: str) -> None:
    before = folder.held()
    assert folder("forget", *words, "--json").error["code"] == code
    assert folder.held() == before


def test_switched_off_it_is_only_shown(folder: World, config: Path) -> None:
    config.write_text("[lifecycle]\nenabled = false\n")
    before = folder.held()
    assert len(folder("forget", "4711").lines) == 2
    for option in (("4711", "--yes"), ("--id", "n/code.md")):
        assert folder("forget", *option, "--json").error["code"] == "E_DISABLED"
    assert folder.held() == before


def test_so_many_never_go_by_words_alone(folder: World) -> None:
    folder.write("many.md", "".join(f"- number {number} swordfish\n" for number in range(101)))
    before = folder.held()
    assert len(folder("forget", "number", "--json").items) == 101
    assert folder("forget", "number", "--yes", "--json").error["code"] == "E_TOO_MANY"
    assert folder.held() == before


def test_what_an_agent_chooses_is_only_proposed(folder: World) -> None:
    before = folder.held()
    document = folder("--actor", "agent:x", "forget", "tabs", "--yes", "--json").json
    assert (document["written"], document["state"]) == (False, "open")
    line = folder("--actor", "agent:x", "forget", "--id", "n/code.md").lines[-1]
    assert line.startswith("proposed\t")
    assert line.endswith("\tn/code.md")
    assert folder.held() == before


def test_an_agent_is_told_nothing_that_is_marked_as_private(folder: World, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.write("plan.md", "---\nname: <private>zebra name</private>\n---\n<private>\nzebra\n</private>\npangolin\n")
    folder.write("open.md", "- pangolin <private>zebra\n- a zebra pangolin\n")
    assert len(folder("forget", "zebra", "--json").items) == 3
    monkeypatch.setenv("CLAUDECODE", "1")
    assert folder("forget", "zebra", "--json").items == []
    items = folder("forget", "pangolin", "--json").items
    assert [one["title"] for one in items] == ["pangolin [private]", "[private]"]
    for words in (("pangolin",), ("pangolin", "--yes"), ("--id", str(items[0]["id"]), "--id", "n/plan.md")):
        assert "zebra" not in folder("forget", *words, "--json").out
        assert "zebra" not in folder("forget", *words).out
    for number in ("1", "2"):
        assert "zebra" not in folder("review", number).out
        assert "zebra" not in folder("review", number, "--json").out
    assert "zebra" not in folder("review", "--json").out


def test_for_good_leaves_it_in_no_file_of_memtui(folder: World, person: Callable[[str], None], tmp_path: Path) -> None:
    folder.write("likes.md", "- Use tabs\n- The door code is 4711-swordfish\n- Use ruff\n")
    assert folder("changes").status == 0
    assert folder("rm", "n/code.md").status == 0
    assert folder("remember", "The door code is 4711-swordfish").status == 0  # it waits for a memtui that is open
    assert folder("--actor", "agent:x", "remember", "The door code is 4711-swordfish, says the porter").status == 0
    person("yes\n")
    items = folder("forget", "swordfish", "--json").items
    result = folder("forget", "--id", str(items[0]["id"]), "--redact", "--reason", "was shown to agents", "--json")
    assert result.status == 0, result.err
    assert result.json["redacted"] == 2
    assert "agents' own session files, git" in result.err
    assert folder.held() == {"likes.md": "- Use tabs\n- Use ruff\n"}
    left = [path for path in tmp_path.rglob("*") if path.is_file() and b"4711-swordfish" in path.read_bytes()]
    assert left == []


def test_an_id_is_shown_whole_however_narrow_the_terminal(folder: World, monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"{'a-long-name-' * 5}.md"
    folder.write(name, "Use spaces\n")
    monkeypatch.setenv("COLUMNS", "60")
    result = folder.cli("--only-root", "--root", f"n={folder.base}", "forget", "spaces", terminal=True)
    assert any(line.startswith(f"n/{name}") for line in result.lines)
