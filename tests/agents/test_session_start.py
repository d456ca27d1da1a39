"""What a session begins with: places, limits, imports and rules."""

import os
import sys
from pathlib import Path

import pytest

from memtui.agents import reader, session_start
from memtui.agents.agent import (
    ANCESTORS,
    APPROVAL,
    BY_NAME,
    CHAIN,
    CUT_OFF,
    FOLDER,
    FOLLOWED,
    HOME,
    MATCHING,
    MISSING,
    NAMED,
    NAMES_ONLY,
    ON_DEMAND,
    PROJECT,
    SKIPPED,
    SYSTEM,
    WHOLE,
    AgentHome,
    Excluded,
    ImportRule,
    KnownAgent,
    Limits,
    LoadOptions,
    Loads,
    LoadSource,
    RuleVerdict,
)
from memtui.agents.discovery import discover
from memtui.agents.loaded_text import CUT, DROPPED, Gap
from memtui.agents.session_start import LoadedFile
from memtui.engine.model import Policy
from tests.agents.listing import marked
from tests.agents.machine import Machine
from tests.agents.measured import APP, Fixture, Laid, compared, rows
from tests.agents.recorder import Fetched, Program
from tests.agents.recorder import started as started_program
from tests.agents.test_session_start_memories import started

ASKS = ImportRule(depth=2, markdown=True, approval=True)


def whole(data: bytes, policy: Policy) -> tuple[int | None, int]:
    """An index that is never cut."""
    return None, len(data)


def table(*sources: LoadSource, **rest: object) -> KnownAgent:
    loads = Loads(sources)._replace(**rest)  # type: ignore[arg-type]
    return KnownAgent("x", "X", home=AgentHome(at_home=(".x",)), loads=loads)


def gather(machine: Machine, found: KnownAgent, cwd: str = "app", **environ: str) -> list[LoadedFile]:
    around = machine.surroundings(cwd, **environ)
    return list(session_start.gather(found, around, discover(around), whole))


def test_places_are_looked_at_in_order_and_each_file_once(machine: Machine) -> None:
    machine.write("~/.x/A.md")
    machine.write("etc/x/A.md")
    machine.write("A.md")
    machine.write("app/A.md")
    machine.write("app/deep/A.md")
    (machine.app / "B.md").symlink_to("A.md")
    sources = (
        LoadSource("managed", SYSTEM, ("A.md",), system=("none", "x")),
        LoadSource("user", HOME, ("A.md",)),
        LoadSource("above", ANCESTORS, ("A.md",)),
        LoadSource("again", PROJECT, ("A.md", "B.md")),
    )
    home = os.path.relpath(machine.home, machine.folder)
    found = marked(machine, gather(machine, table(*sources), "app/deep"))
    assert found == ["etc/x/A.md", f"{home}/.x/A.md", "A.md", "app/A.md", "app/deep/A.md"]


def test_a_chain_begins_at_the_checkout_and_takes_the_first_name_of_a_folder(machine: Machine) -> None:
    machine.write("A.md")
    machine.write("app/A.md")
    machine.write("app/B.md")
    machine.write("app/deep/B.md")
    found = gather(machine, table(LoadSource("x", CHAIN, ("A.md", "B.md"), first=True)), "app/deep")
    assert marked(machine, found) == ["app/A.md", "app/deep/B.md"]


def test_files_share_a_number_of_bytes(machine: Machine) -> None:
    for name in ("a/A.md", "a/b/A.md", "a/b/c/A.md"):
        machine.write(f"app/{name}", "x" * 10)
    found = gather(machine, table(LoadSource("x", CHAIN, ("A.md",), budget="all"), budgets=(("all", 15),)), "app/a/b/c")
    assert marked(machine, found) == ["app/a/A.md", "app/a/b/A.md: cut", "app/a/b/c/A.md: cut"]
    assert [len(one.text) for one in found] == [10, 5, 0]
    assert [one.cut.end - one.cut.start if one.cut else 0 for one in found] == [0, 5, 10]
    assert "5 were left" in found[1].why


def test_files_share_a_number_of_lines_and_each_takes_one_for_its_name(machine: Machine) -> None:
    for name in "abc":
        machine.write(f"app/{name}.md", "1\n2\n3\n")
    source = LoadSource("x", PROJECT, ("*",), budget="all", by_lines=True)
    found = gather(machine, table(source, budgets=(("all", 8),)))
    assert [(one.mark, one.text) for one in found] == [(WHOLE, b"1\n2\n3\n"), (CUT_OFF, b"1\n2\n"), (CUT_OFF, b"")]


def test_imports_are_followed_to_their_depth_and_loops_end(machine: Machine) -> None:
    machine.write("app/A.md", "@b.md @alice\n```\n@code.md\n```\n")
    machine.write("app/b.md", "@A.md\n@c.md\n")
    machine.write("app/c.md", "@b.md @d.md\n")
    machine.write("app/d.md")
    found = gather(machine, table(LoadSource("x", PROJECT, ("A.md",), imports=ASKS)))
    assert marked(machine, found) == ["app/A.md", "app/b.md", "app/c.md", "app/d.md: skipped"]
    assert [one.depth for one in found] == [0, 1, 2, 3]


def test_what_leads_out_is_listed_and_not_read(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.write("secret.md", "SECRET")
    machine.write("~/private.md", "SECRET")
    machine.write("app/A.md", "@../secret.md\n@~/private.md\n@link.md\n@/etc/hostname\n@gone.md\n")
    machine.write("other.md", "SECRET")
    (machine.app / "link.md").symlink_to("../other.md")
    read: list[str] = []
    real = reader.BoundedReader.head

    def head(self: reader.BoundedReader, path: str, bounds: tuple[str, ...], **rest: int) -> reader.Head | str:
        answer = real(self, path, bounds, **rest)
        read.extend([path] if isinstance(answer, reader.Head) else [])
        return answer

    monkeypatch.setattr(reader.BoundedReader, "head", head)
    found = gather(machine, table(LoadSource("x", PROJECT, ("A.md",), imports=ASKS)))
    assert [one.mark for one in found] == [WHOLE, APPROVAL, APPROVAL, APPROVAL, APPROVAL, MISSING]
    assert read == [str(machine.app / "A.md")]
    refuses = table(LoadSource("x", PROJECT, ("A.md",), imports=ASKS._replace(approval=False, home=False)))
    assert [one.mark for one in gather(machine, refuses)] == [WHOLE, SKIPPED, SKIPPED, SKIPPED, MISSING]
    assert not any(b"SECRET" in one.raw for one in found)


def test_a_file_that_is_a_link_out_is_not_read(machine: Machine) -> None:
    machine.write("secret.md", "SECRET")
    (machine.app / "A.md").symlink_to("../secret.md")
    found = gather(machine, table(LoadSource("x", PROJECT, ("A.md",))))
    assert [(one.mark, one.raw, one.unread) for one in found] == [(WHOLE, b"", 6)], "it is loaded, and not read here"


def test_a_link_to_a_folder_is_listed_and_not_entered(machine: Machine) -> None:
    machine.write("elsewhere/a.md", "SECRET")
    machine.write("app/other/b.md")
    machine.write("app/rules/c.md")
    (machine.app / "rules" / "out").symlink_to("../../elsewhere")
    (machine.app / "rules" / "in").symlink_to("../other")
    (machine.app / "rules" / "loop").symlink_to(".")
    found = gather(machine, table(LoadSource("rule", PROJECT, ("rules/**/*.md",))))
    assert marked(machine, found) == [
        "app/rules/c.md",
        "app/rules/in: skipped",
        "app/rules/loop: skipped",
        "app/rules/out: needs approval",
    ]


def test_special_and_large_files_are_skipped(machine: Machine) -> None:
    os.mkfifo(machine.app / "A.md")
    machine.write("app/B.md", "x" * 11)
    found = gather(machine, table(LoadSource("x", PROJECT, ("A.md", "B.md"), largest=10)))
    assert marked(machine, found) == ["app/A.md: skipped", "app/B.md: skipped"]
    assert [one.raw for one in found] == [b"", b""]


def test_more_than_memtui_reads_is_counted_all_the_same(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "FILE_BYTES", 10)
    monkeypatch.setattr(reader.BoundedReader.head, "__kwdefaults__", {"limit": 10})
    machine.write("app/A.md", "x" * 25)
    (found,) = gather(machine, table(LoadSource("x", PROJECT, ("A.md",))))
    assert (len(found.text), found.unread, found.mark) == (10, 15, WHOLE)


def test_front_matter_decides_about_a_rule(machine: Machine) -> None:
    machine.write("app/rules/a.md", "---\npaths: x\n---\ntext\n")
    machine.write("app/rules/b.md", "---\ndescription: x\n---\n<!-- no -->\ntext\n")
    deep = "---\npaths: " + "[" * 600 + "]" * 600 + "\n---\nx"
    machine.write("app/rules/c.md", deep)

    def judge(fields: dict[str, str]) -> RuleVerdict:
        return RuleVerdict(MATCHING, fields["paths"]) if "paths" in fields else RuleVerdict()

    source = LoadSource("rule", PROJECT, ("rules/**/*.md",), front_matter=True, comments=True, judge=judge)
    found = gather(machine, table(source))
    assert [(one.mark, one.text) for one in found] == [(MATCHING, b""), (WHOLE, b"text\n"), (WHOLE, deep.encode())]


def test_what_is_not_loaded_at_the_start_is_not_read(machine: Machine) -> None:
    machine.write("app/m/a.md", "text")
    machine.write("app/m/b/c.md", "text")
    found = gather(machine, table(LoadSource("m", PROJECT, ("m/**/*.md",), mark=ON_DEMAND, why="Later.")))
    assert [(one.mark, one.size, one.raw, one.text) for one in found] == [(ON_DEMAND, 4, b"", b"")] * 2
    found = gather(machine, table(LoadSource("m", PROJECT, ("m/**/*.md",), mark=NAMES_ONLY)))
    assert [one.text for one in found] == [b"m/a\n", b"m/b/c\n"]


def test_long_lists_end_in_a_number(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(9):
        machine.write(f"app/m/{number}.md")
    monkeypatch.setattr(session_start, "LISTED", 5)
    found = gather(machine, table(LoadSource("m", PROJECT, ("m/*.md",), mark=ON_DEMAND)))
    assert len(found) == 6
    assert (found[-1].path, found[-1].stands_for) == ("and 4 more", 4)


def test_settings_change_names_switch_off_and_leave_out(machine: Machine) -> None:
    machine.write("app/A.md")
    machine.write("app/B.md")
    machine.write("app/C.md")
    options = LoadOptions(
        names=(("one", ("B.md",)),),
        off=(("two", "Off."),),
        excluded=(Excluded(str(machine.app / "B*"), "Left out."),),
        budgets=(("all", 0),),
    )
    sources = (
        LoadSource("one", PROJECT, ("A.md",)),
        LoadSource("two", PROJECT, ("C.md",)),
        LoadSource("three", PROJECT, ("A.md",), budget="all"),
    )
    found = gather(machine, table(*sources, options=lambda around, homes: options))
    assert marked(machine, found) == ["app/B.md: skipped", "app/C.md: skipped", "app/A.md: cut"]
    assert [one.why for one in found[:2]] == ["Left out.", "Off."]


def test_settings_do_not_leave_out_what_is_not_theirs_to_leave_out(machine: Machine) -> None:
    machine.write("app/A.md", "@./c.md\n")
    machine.write("app/B.md", "@./d.md\n")
    machine.write("app/c.md")
    machine.write("app/d.md")
    options = LoadOptions(excluded=(Excluded("**/[a-d].md", "Left out."), Excluded("A", "By name.", BY_NAME)))
    sources = (
        LoadSource("x", PROJECT, ("A.md",), imports=ASKS, excludable=False),
        LoadSource("x", PROJECT, ("B.md",), imports=ASKS),
    )
    found = gather(machine, table(*sources, options=lambda around, homes: options))
    assert marked(machine, found) == ["app/A.md", "app/c.md", "app/B.md", "app/d.md: skipped"]


def test_settings_name_further_folders_and_another_place(machine: Machine) -> None:
    machine.write("other/.git/HEAD")
    machine.write("secret/A.md", "SECRET")
    for name in ("other/A.md", "other/deep/er/A.md", "plain/A.md", "A.md", "app/A.md", "app/api/A.md"):
        machine.write(name)
    (machine.folder / "other/deep/A.md").symlink_to("../../secret/A.md")
    (machine.folder / "other/out").symlink_to("../secret")
    folders = tuple(str(machine.folder / name) for name in ("other/deep/er", "plain", "gone", "other/out"))
    options = LoadOptions(folders=folders, places=(("x", FOLDER),))
    sources = (LoadSource("x", CHAIN, ("A.md",)), LoadSource("y", NAMED, ("A.md",)))
    found = gather(machine, table(*sources, options=lambda around, homes: options), "app/api")
    assert marked(machine, found) == [
        "app/api/A.md",
        "other/A.md",
        "other/deep/A.md",
        "other/deep/er/A.md",
        "plain/A.md",
        "other/out: needs approval",
    ]


def test_settings_that_are_taken_as_empty_are_rows_at_the_end(machine: Machine) -> None:
    machine.write("app/A.md")
    file = machine.write("app/settings.json", "{")
    options = LoadOptions(problems=((str(file), "It is odd."),))
    found = gather(machine, table(LoadSource("x", PROJECT, ("A.md",)), options=lambda around, homes: options))
    assert [(one.label, one.mark, one.why) for one in found] == [("x", "", ""), ("settings", "skipped", "It is odd.")]


def test_blank_files_can_be_passed_over(machine: Machine) -> None:
    machine.write("app/A.md", " \n")
    machine.write("app/B.md", "b")
    found = gather(machine, table(LoadSource("x", PROJECT, ("A.md", "B.md"), first=True, blank=False)))
    assert marked(machine, found) == ["app/B.md"]
    assert gather(machine, table(LoadSource("x", PROJECT, ("A.md",), blank=False))) == []


def test_limits_of_a_roots_layout_come_first(machine: Machine, home: Path) -> None:
    machine.write("~/.qwen/memories/MEMORY.md", "a\nb\nc\n")
    around = machine.surroundings()
    source = LoadSource("index", "qwen-code:global", ("MEMORY.md",), limits=Limits(lines=1))
    asked: list[int | None] = []

    def end(data: bytes, policy: Policy) -> tuple[int | None, int]:
        asked.append(policy.index_lines)
        return 4, 6

    (found,) = session_start.gather(table(source), around, discover(around), end)
    assert asked == [200]
    assert (found.mark, found.text, found.gaps) == (CUT_OFF, b"a\nb\n", (Gap(4, 6, CUT),))
    machine.write("~/.qwen/memories/MEMORY.md", "a\nb\nc\n\n\n")
    (found,) = session_start.gather(table(source), around, discover(around), end)
    assert (found.mark, found.text, found.gaps) == (CUT_OFF, b"a\nb\n", (Gap(4, 6, CUT), Gap(6, 8, DROPPED)))


def test_a_file_that_makes_trouble_is_a_row_and_takes_no_other_along(machine: Machine) -> None:
    for name in "abc":
        machine.write(f"app/rules/{name}.md", f"---\nname: {name}\n---\n")

    def judge(fields: dict[str, str]) -> RuleVerdict:
        if fields["name"] == "b":
            raise RecursionError("too deep")
        return RuleVerdict()

    found = gather(machine, table(LoadSource("rule", PROJECT, ("rules/**/*.md",), judge=judge)))
    assert marked(machine, found) == ["app/rules/a.md", "app/rules/b.md: skipped", "app/rules/c.md"]
    assert found[1].why == "memtui cannot work out whether it is loaded: RecursionError: too deep."
    assert found[1].size


def test_no_link_of_a_checkout_is_followed_out_of_it(machine: Machine) -> None:
    machine.write("secret/rules/SECRET.md", "SECRET")
    machine.write("secret/A.md", "SECRET")
    (machine.app / ".x").symlink_to("../secret")
    (machine.app / "y").symlink_to("../secret/rules")
    sources = (
        LoadSource("a", PROJECT, (".x/A.md", ".x/rules/**/*.md", "y/*.md")),
        LoadSource("b", CHAIN, (".x/*/*.md",), mark=ON_DEMAND),
        LoadSource("c", ANCESTORS, ("y/**/*.md", ".x/rules/*.md"), mark=NAMES_ONLY),
    )
    found = gather(machine, table(*sources), "app")
    assert marked(machine, found) == ["app/.x: needs approval", "app/y: needs approval"]
    assert {one.why for one in found} == {
        "It is a link to a folder, not followed: it leads out. The agent may load what is in it."
    }
    assert not any(one.text or one.raw for one in found)


def test_no_link_of_a_folder_above_is_followed_out_of_it(machine: Machine) -> None:
    machine.write("secret/SECRET.md")
    machine.write("work/.git/HEAD")
    machine.write("work/sub/.git/HEAD")
    (machine.folder / "work" / "rules").symlink_to("../secret")
    found = gather(machine, table(LoadSource("a", ANCESTORS, ("rules/*.md",))), "work/sub")
    assert marked(machine, found) == ["work/rules: needs approval"]


def test_the_users_own_folders_may_be_links(machine: Machine) -> None:
    machine.write("dotfiles/x/rules/a.md")
    machine.write("more/b.md")
    (machine.home / ".x").symlink_to(machine.folder / "dotfiles" / "x")
    (machine.folder / "dotfiles" / "x" / "more").symlink_to(machine.folder / "more")
    found = gather(machine, table(LoadSource("user", HOME, ("rules/**/*.md", "more/*.md"), mark=ON_DEMAND)))
    home = os.path.relpath(machine.home, machine.folder)
    assert marked(machine, found) == [f"{home}/.x/rules/a.md: on demand", f"{home}/.x/more/b.md: on demand"]


def test_a_home_that_a_variable_puts_into_the_checkout_is_the_checkouts(machine: Machine) -> None:
    machine.write("secret/SECRET.md")
    (machine.app / "own").mkdir()
    (machine.app / "own" / "rules").symlink_to("../../secret")
    own = AgentHome(("CLAUDE_CONFIG_DIR",), (".x",))
    moved = table(LoadSource("user", HOME, ("rules/*.md",)))._replace(home=own)
    found = gather(machine, moved, CLAUDE_CONFIG_DIR=str(machine.app / "own"))
    assert marked(machine, found) == ["app/own/rules: needs approval"]


def test_files_beyond_the_most_are_counted(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(9):
        machine.write(f"app/rules/{number}.md")
    monkeypatch.setattr(reader, "NAMES", 5)
    found = gather(machine, table(LoadSource("rule", PROJECT, ("rules/**/*.md",))))
    assert len(found) == 6
    assert (found[-1].path, found[-1].mark, found[-1].stands_for) == ("and 4 more, not counted", SKIPPED, 4)
    assert found[-1].made
    found = gather(machine, table(LoadSource("m", PROJECT, ("rules/*.md",), mark=NAMES_ONLY)))
    assert (found[-1].path, found[-1].mark) == ("and 4 more, not counted", SKIPPED)
    monkeypatch.setattr(reader, "FOLDERS", 1)
    machine.write("app/rules/deep/a.md")
    found = gather(machine, table(LoadSource("rule", PROJECT, ("rules/**/*.md",))))
    assert found[-1].path == "and more than 4 more, not counted"
    monkeypatch.setattr(reader, "NAMES", 9)
    found = gather(machine, table(LoadSource("rule", PROJECT, ("rules/**/*.md",))))
    assert found[-1].path == "and more, not counted"
    monkeypatch.setattr(session_start, "FILES", 3)
    monkeypatch.setattr(reader, "FOLDERS", 9)
    found = gather(machine, table(LoadSource("rule", PROJECT, ("rules/**/*.md",))))
    assert found[-1].path == "and 7 more, not counted"


@pytest.mark.parametrize("cwd", ["~/", "~/work"])
def test_no_link_of_a_checkout_below_the_home_is_followed_out_of_it(machine: Machine, cwd: str) -> None:
    machine.write("~/private/SECRET.md", "SECRET")
    machine.write("~/dots/.git/HEAD")
    machine.write("~/dots/rules/good.md", "good")
    machine.write("~/dots/mine/steal.md", "@../../private/SECRET.md")
    machine.write("~/work/x", "x")
    (machine.home / ".x").mkdir()
    links = {
        "dots/A.md": "../private/SECRET.md",
        "dots/rules/d.md": "../../private/SECRET.md",
        "dots/rules/steal": "../../private",
        "dots/all": "../private",
        "dots/mine/A.md": "steal.md",
        ".x/A.md": "../dots/A.md",
        ".x/rules": "../dots/rules",
        ".x/all": "../dots/all",
        "A.md": "dots/A.md",
        "B.md": "dots/mine/A.md",
    }
    for link, target in links.items():
        (machine.home / link).symlink_to(target)
    sources = (
        LoadSource("user", HOME, ("A.md", "rules/**/*.md", "all/*.md"), links=FOLLOWED),
        LoadSource("above", ANCESTORS, ("A.md", ".x/rules/**/*.md", ".x/all/*.md"), links=FOLLOWED),
        LoadSource("imports", ANCESTORS, ("B.md",), imports=ASKS._replace(behind=True)),
        LoadSource("project", PROJECT, ("A.md", "dots/rules/**/*.md", "dots/*/*.md"), links=FOLLOWED),
    )
    found = [one for source in sources for one in gather(machine, table(source), cwd)]
    assert sum(one.text == b"good" for one in found) >= 2
    assert not [one for one in found if one.raw == b"SECRET"]
    assert not [one.path for one in found if f"all{os.sep}SECRET" in one.path or f"steal{os.sep}" in one.path]


def test_links_of_a_home_that_is_a_checkout_are_the_users(machine: Machine) -> None:
    machine.write("~/.git/HEAD")
    machine.write("x/A.md", "mine")
    (machine.home / ".x").symlink_to(machine.folder / "x")
    (found,) = gather(machine, table(LoadSource("user", HOME, ("A.md",))), "~/")
    assert found.text == b"mine"


def test_all_patterns_of_a_look_share_a_number_of_folders(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(9):
        machine.write(f"app/{number}/a{number}.md")
    monkeypatch.setattr(reader, "ALL_FOLDERS", 25)
    sources = [LoadSource(str(number), PROJECT, (f"**/a{number}.md",)) for number in range(9)]
    found = gather(machine, table(*sources))
    assert [one.label for one in found if not one.made] == ["0", "1", "2"]
    assert [one.label for one in found if one.made] == [str(number) for number in range(2, 9)], "and it is said"


def test_nobody_is_asked_about_what_cannot_be_loaded(machine: Machine) -> None:
    (machine.home / ".x").mkdir()
    (machine.home / ".x" / "A.md").symlink_to("/dev/zero")
    (machine.home / ".x" / "B.md").symlink_to("/nowhere/at/all")
    machine.write("~/.x/C.md", "@.. @~/ @/")
    machine.write("app/A.md", "@.. @~/ @../..")
    names = ("A.md", "B.md", "C.md")
    sources = LoadSource("user", HOME, names), LoadSource("x", PROJECT, names, imports=ASKS._replace(home=True))
    found = gather(machine, table(*sources))
    assert [one.mark for one in found] == [SKIPPED, MISSING, WHOLE, WHOLE]


DEMAND = "on demand"


def rule(machine: Machine, path: str, *fields: str) -> None:
    machine.write(path, "---\n" + "".join(f"{field}\n" for field in fields) + "---\ntext\n")


def marks(machine: Machine, agent: str) -> dict[str, str]:
    return {one.path.rpartition("/")[2]: one.mark for one in started(machine, agent)}


def test_copilot(machine: Machine) -> None:
    machine.write("app/.github/copilot-instructions.md")
    folder = "app/.github/instructions"
    rule(machine, f"{folder}/all.instructions.md", 'applyTo: "**"')
    rule(machine, f"{folder}/some.instructions.md", "applyTo: '**/*.ts'")
    rule(machine, f"{folder}/hand.instructions.md", "description: x")
    memories = "~/.config/Code/User/globalStorage/github.copilot-chat/memory-tool/memories"
    machine.write(f"{memories}/a.md", "1\n" * 150)
    machine.write(f"{memories}/b.md", "1\n" * 150)
    machine.write(f"{memories}/deep/c.md")
    found = started(machine, "copilot")
    assert {one.path.rpartition("/")[2]: one.mark for one in found} == {
        "copilot-instructions.md": "",
        "all.instructions.md": "",
        "some.instructions.md": MATCHING,
        "hand.instructions.md": DEMAND,
        "a.md": "",
        "b.md": "cut",
        "c.md": DEMAND,
    }
    texts = [one.text.count(b"\n") for one in found if one.label == "user memories" and one.at_start]
    assert sum(texts) + len(texts) <= 200


@pytest.mark.parametrize(
    ("agent", "files", "wanted"),
    [
        ("cline", {".clinerules/a.md": "x", "memory-bank/b.md": "x"}, {"a.md": "", "b.md": DEMAND}),
        ("roo", {".roo/rules/a.md": "x", ".roo/rules-code/b.md": "x"}, {"a.md": "", "b.md": DEMAND}),
        ("opencode", {"AGENTS.md": "x", "CLAUDE.md": "x"}, {"AGENTS.md": ""}),
        ("opencode", {"CLAUDE.md": "x"}, {"CLAUDE.md": ""}),
    ],
)
def test_others(machine: Machine, agent: str, files: dict[str, str], wanted: dict[str, str]) -> None:
    for name, text in files.items():
        machine.write(f"app/{name}", text)
    assert marks(machine, agent) == wanted


def test_cline_reads_the_files_right_in_its_folders_of_rules(machine: Machine) -> None:
    for name in (".clinerules/a.md", ".cline/rules/b.txt", ".clinerules/hooks/README.md", ".cline/rules/deep/c.md"):
        machine.write(f"app/{name}")
    for name in ("~/.cline/rules/d.md", "~/Documents/Cline/Rules/e.md", "~/Cline/Rules/f.md", "~/.cline/rules/x/g.md"):
        machine.write(name)
    rule(machine, "app/.clinerules/off.md", "disabled: true")
    rule(machine, "app/.clinerules/older.md", "enabled: false")
    rule(machine, "app/.clinerules/on.md", "disabled: false", "enabled: false")
    rule(machine, "app/.clinerules/some.md", "paths:", "  - src/**")
    found = started(machine, "cline")
    assert {one.path.rpartition("/")[2]: one.mark for one in found} == {
        **dict.fromkeys(("a.md", "b.txt", "d.md", "e.md", "f.md", "on.md"), ""),
        **dict.fromkeys(("off.md", "older.md", "README.md", "c.md"), "skipped"),
        "some.md": MATCHING,
    }
    assert all(one.why for one in found if one.mark)


SENDS = """
import http.client, json, os, pathlib, sys
texts = [pathlib.Path(name).read_text() for name in sys.argv[1:]]
body = json.dumps({"messages": [*texts, "what-is-loaded-here"]})
door = http.client.HTTPConnection("127.0.0.1", int(os.environ["PORT"]))
for one in ("{}", body):
    door.request("POST", "/v1", one)
    door.getresponse().read()
"""
FIXTURE = Fixture("codex", "made up", {"AGENTS.md": "%\n", "sub/AGENTS.md": "%\n%\n", "other.md": "%\n"}, start="sub")


@pytest.mark.parametrize(
    ("sent", "wrong"),
    [
        (["AGENTS.md", "sub/AGENTS.md"], []),
        (["sub/AGENTS.md", "AGENTS.md"], ["order"]),
        (["AGENTS.md"], [f"{APP}/sub/AGENTS.md", "order"]),
        (["AGENTS.md", "AGENTS.md", "sub/AGENTS.md"], [f"{APP}/AGENTS.md"]),
        (["AGENTS.md", "sub/AGENTS.md", "other.md"], [f"{APP}/other.md", "order"]),
    ],
)
def test_what_is_sent_is_compared_with_what_is_said(tmp_path: Path, sent: list[str], wrong: list[str]) -> None:
    laid = Laid(FIXTURE, tmp_path)
    args = ("-c", SENDS, *(str(laid.path(name)) for name in sent))
    program = Program("codex", "", "", args, lambda base: {"PORT": base.rpartition(":")[2]})
    fetched = Fetched(program, Path(sys.executable), "1", tmp_path)
    facts = compared(laid, started_program(fetched, laid.home, laid.start, {}))
    assert [fact.what for fact in facts if not fact.holds] == wrong
    assert rows(facts)[-1] == f"  {4 - len(wrong)} of 4 facts equal"


def test_a_program_that_sends_nothing_is_said(tmp_path: Path) -> None:
    program = Program("codex", "", "", ("-c", "print('no network')"), lambda base: {})
    fetched = Fetched(program, Path(sys.executable), "1", tmp_path)
    with pytest.raises(SystemExit, match="no network"):
        started_program(fetched, tmp_path, tmp_path, {})
