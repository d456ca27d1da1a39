"""Each file belongs to one root, the innermost, and a folder found twice is one root."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from memtui.agents.discovery import innermost, merge_same
from memtui.engine import Engine
from memtui.engine.model import Policy, Root
from tests.agents.machine import Machine


def root(name: str, path: str | Path, *include: str) -> Root:
    return Root(name, str(path), policy=Policy(include=include or None))


def elsewhere(*roots: Root) -> dict[str, tuple[str, ...]]:
    return {found.id: found.policy.elsewhere for found in innermost(roots)}


def test_a_root_inside_another_is_taken_out_of_it() -> None:
    assert elsewhere(root("outer", "/a"), root("inner", "/a/b/c")) == {"outer": ("b/c/",), "inner": ()}
    assert elsewhere(root("inner", "/a/b/c"), root("outer", "/a")) == {"inner": (), "outer": ("b/c/",)}
    assert elsewhere(root("top", "/"), root("inner", "/a")) == {"top": ("a/",), "inner": ()}


def test_names_that_only_begin_alike_are_not_nested() -> None:
    assert elsewhere(root("outer", "/a"), root("other", "/ab")) == {"outer": (), "other": ()}


def test_of_a_root_of_named_files_only_those_are_taken_out() -> None:
    named = root("named", "/a/b", "CLAUDE.md", "rules/")
    assert elsewhere(root("outer", "/a"), named) == {"outer": ("b/CLAUDE.md", "b/rules/"), "named": ()}


def test_a_root_of_named_files_loses_the_names_a_root_further_in_has() -> None:
    project = root("project", "/home", "CLAUDE.md", ".claude/CLAUDE.md", ".claude/rules/")
    found = innermost([project, root("own", "/home/.claude", "CLAUDE.md", "rules/")])
    assert [one.policy.include for one in found] == [("CLAUDE.md",), ("CLAUDE.md", "rules/")]


def test_instructions_of_which_no_file_is_left_go(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").touch()
    policies = Policy(include=("AGENTS.md",)), Policy(include=("AGENTS.md", "AGENTS.local.md"))
    roots = [Root(f"{number}", str(tmp_path), kind="instructions", policy=one) for number, one in enumerate(policies)]
    assert [one.id for one in innermost(roots)] == ["0"]
    (tmp_path / "AGENTS.local.md").touch()
    assert [one.id for one in innermost(roots)] == ["0", "1"]


def test_part_of_a_named_folder_can_be_taken_out() -> None:
    found = innermost([root("project", "/p", ".claude/rules/"), root("inner", "/p/.claude/rules/shared")])
    assert (found[0].policy.include, found[0].policy.elsewhere) == ((".claude/rules/",), (".claude/rules/shared/",))


def test_a_root_of_which_nothing_is_left_goes() -> None:
    found = innermost([root("project", "/p", ".claude/rules/"), root("inner", "/p/.claude")])
    assert [one.id for one in found] == ["inner"]


def test_at_the_same_place_the_earlier_root_keeps_a_file() -> None:
    claude, qwen = root("claude", "/p", "CLAUDE.md", "AGENTS.md"), root("qwen", "/p", "QWEN.md", "AGENTS.md")
    found = innermost([claude, qwen])
    assert [one.policy.include for one in found] == [("CLAUDE.md", "AGENTS.md"), ("QWEN.md",)]
    assert [one.id for one in innermost([root("by hand", "/p"), claude])] == ["by hand"]
    assert elsewhere(claude, root("later", "/p")) == {"claude": (), "later": ("CLAUDE.md", "AGENTS.md")}


def test_two_ids_for_one_whole_folder_are_left_for_the_engine_to_report() -> None:
    assert elsewhere(root("a", "/p"), root("b", "/p")) == {"a": (), "b": ()}


def test_links_do_not_hide_nesting(tmp_path: Path) -> None:
    (tmp_path / "real" / "inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    assert elsewhere(root("outer", tmp_path / "link"), root("inner", tmp_path / "real" / "inner"))["outer"] == (
        "inner/",
    )


def test_a_folder_found_twice_is_one_root(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    second = root("second", tmp_path / "link")._replace(aliases=("other",))
    found = merge_same([root("first", tmp_path / "real")], [second])
    assert [(one.id, one.aliases) for one in found] == [("first", ("second", "other"))]
    assert "second" in found[0].note


def test_roots_given_by_hand_keep_their_ids(tmp_path: Path) -> None:
    first, second = root("first", tmp_path), root("second", tmp_path)
    assert merge_same([first, second], []) == (first, second)


def test_missing_folders_are_not_the_same(tmp_path: Path) -> None:
    first, second = root("first", tmp_path / "missing"), root("second", tmp_path / "missing")
    assert merge_same([first], [second]) == (first, second)


def test_roots_of_named_files_share_a_folder(tmp_path: Path) -> None:
    first, second = root("first", tmp_path, "CLAUDE.md"), root("second", tmp_path, "QWEN.md")
    assert merge_same([], [first, second]) == (first, second)


def owners(roots: tuple[Root, ...], file: str) -> list[str]:
    """Name the roots that list a file, by what their policies say alone."""
    return [found.id for found in roots if _lists(found, file)]


def _lists(found: Root, file: str) -> bool:
    base = found.path.rstrip("/") + "/"
    if not file.startswith(base):
        return False
    path = file[len(base) :]
    include = found.policy.include
    inside = include is None or any(_under(path, entry) for entry in include)
    return inside and not any(_under(path, entry) for entry in found.policy.elsewhere)


def _under(path: str, entry: str) -> bool:
    return path == entry or (entry.endswith("/") and path.startswith(entry))


folders = st.lists(st.sampled_from("abc"), max_size=3).map(lambda parts: "/".join(["/made-up-base", *parts]))
entries = st.lists(st.sampled_from(["a/", "b/", "a/b/", "f", "a/f", "b/c/f"]), max_size=3, unique=True)


@given(st.lists(st.tuples(folders, entries), min_size=1, max_size=6, unique_by=lambda pair: (pair[0], not pair[1])))
def test_no_file_is_listed_twice_and_none_is_lost(made: list[tuple[str, list[str]]]) -> None:
    before = tuple(root(str(number), path, *include) for number, (path, include) in enumerate(made))
    after = innermost(before)
    for folder in {path for path, _ in made} | {f"{path}/{part}" for path, _ in made for part in ("a", "a/b", "b/c")}:
        for file in (f"{folder}/f", f"{folder}/g"):
            had, has = owners(before, file), owners(after, file)
            assert len(has) == min(1, len(had)), (file, had, has)
            if has:
                depth = {one.id: len(one.path) for one in before}
                assert depth[has[0]] == max(depth[name] for name in had)


def test_the_engine_lists_each_file_once(machine: Machine) -> None:
    machine.write("~/.claude/CLAUDE.md")
    machine.write("~/.claude/rules/style.md")
    machine.write("~/.claude/agent-memory/reviewer/MEMORY.md")
    machine.write("~/notes/inner/a.md")
    machine.write("~/notes/b.md")
    (machine.home / ".git").mkdir()
    roots = machine.roots("~/", f"home={machine.home}", "notes=notes", "inner=notes/inner").values()
    with Engine.open(roots, state_dir=str(machine.folder / "state")) as engine:
        listed = [str(row.address) for row in engine.rows.list().items]
    assert sorted(listed) == [
        "claude-code:global/CLAUDE.md",
        "claude-code:global/rules/style.md",
        "claude-code:global:agent-memory/reviewer/MEMORY.md",
        "inner/a.md",
        "notes/b.md",
    ]
