"""Claude Code: what was found by running it. `python -m tests.agents` compares the same with the program itself."""

import json
import os

import pytest

from memtui.agents.known.claude_code import AUTO
from memtui.agents.layout import slug
from memtui.pointers.lines import measure
from tests.agents.listing import listed, marked
from tests.agents.machine import Machine
from tests.agents.test_layout import worktree
from tests.agents.test_session_start_memories import started


def names(machine: Machine, cwd: str = "app", **environ: str) -> list[str]:
    """What is loaded at the start, without its folder."""
    return [os.path.basename(one.path) for one in started(machine, "claude-code", cwd, **environ) if one.at_start]


def test_the_index_is_cut_by_utf_16_units(machine: Machine) -> None:
    index = ("- [" + "日本語" * 48 + "](a.md) - 1\n") * 100
    assert len(index.encode()) > 25_000 > len(index)
    found = measure(index.encode(), AUTO)
    assert (found.cut, found.units) == (None, len(index) - 1)
    assert measure((index + "x" * (25_000 - len(index))).encode(), AUTO).cut is None
    assert measure((index + "x" * (25_001 - len(index))).encode(), AUTO).cut == 100
    assert measure((index + "🙂" * ((25_002 - len(index)) // 2)).encode(), AUTO).by == "units", "two units each"


@pytest.mark.parametrize("name", ["CLAUDE.md", "rules/r.md"])
def test_the_users_own_file_behind_a_link_is_loaded_and_is_a_root_of_its_own(machine: Machine, name: str) -> None:
    base = os.path.basename(name)
    target = machine.write(f"~/dotfiles/{base}", "Of mine. @~/notes/x.md\n")
    machine.write("~/dotfiles/secret.md")
    machine.write("~/notes/x.md")
    link = machine.path(f"~/.claude/{name}")
    link.parent.mkdir(parents=True)
    link.symlink_to(target)
    found = started(machine, "claude-code")
    assert [(one.mark, one.size) for one in found] == [("", len("Of mine. @~/notes/x.md\n")), ("", 2)]
    roots = machine.roots()
    root = roots[f"claude-code:global:link-{name.replace('/', '-')}"]
    assert (root.path, root.read_only, root.in_checkout) == (str(target.parent), True, False)
    assert f"~/.claude/{name} is a link to it" in root.note
    shown = listed(roots, machine.folder / "state")
    assert (shown[root.id], shown["claude-code:global"]) == ([base], [])
    by_hand = machine.roots("app", f"mine={target.parent}")
    assert root.id not in by_hand, "its folder was named by hand, where it can be changed"


def test_dotfiles_kept_in_git_are_the_users_own_and_what_leads_out_of_them_is_only_counted(machine: Machine) -> None:
    machine.write("~/kept/.git/HEAD")
    for name in ("~/kept/near.md", "~/.claude/near.md", "~/notes/x.md", "~/kept/rules/a.md", "~/kept/rules/d/b.md"):
        machine.write(name)
    machine.write("~/kept/CLAUDE.md", "In a checkout. @near.md @~/notes/x.md @/etc/hostname\n")
    machine.path("~/kept/rules/out.md").symlink_to(machine.path("~/notes/x.md"))
    for name in ("CLAUDE.md", "rules"):
        machine.path(f"~/.claude/{name}").symlink_to(machine.path(f"~/kept/{name}"))
    found = started(machine, "claude-code")
    assert [(os.path.relpath(one.path, machine.home), one.mark, bool(one.raw)) for one in found] == [
        (".claude/CLAUDE.md", "", True),
        ("kept/near.md", "", True),
        ("notes/x.md", "", False),
        (os.path.relpath("/etc/hostname", machine.home), "", False),
        (".claude/rules/a.md", "", True),
        (".claude/rules/d/b.md", "", True),
    ]
    roots = machine.roots()
    shown = listed(roots, machine.folder / "state")  # what it lists it has read, but for links
    assert {name: shown[name] for name in shown if ":link-" in name} == {
        "claude-code:global:link-CLAUDE.md": ["CLAUDE.md"],
        "claude-code:global:link-rules": ["a.md", "d/b.md", "out.md"],
    }
    assert {(root.read_only, root.in_checkout) for root in roots.values() if ":link-" in root.id} == {(True, True)}


@pytest.mark.parametrize(("target", "is_root"), [("../notes/x.md", False), ("d/y.md", True), ("CLAUDE.md", False)])
def test_no_link_of_a_checkout_is_a_way_out_of_it(machine: Machine, target: str, is_root: bool) -> None:
    for name in ("~/kept/.git/HEAD", "~/kept/d/y.md", "~/notes/x.md", "~/.claude/x"):
        machine.write(name)
    machine.path("~/kept/CLAUDE.md").symlink_to(target)
    machine.path("~/.claude/CLAUDE.md").symlink_to("../kept/CLAUDE.md")
    assert ("claude-code:global:link-CLAUDE.md" in machine.roots()) is is_root


def test_links_among_the_rules_are_followed_as_far_as_they_are_the_users(machine: Machine) -> None:
    for name in ("~/team/a.md", "~/team/d/b.md", "out/c.md", "app/more/e.md", "~/.claude/rules/own.md"):
        machine.write(name)
    (machine.app / ".claude/rules").mkdir(parents=True)
    (machine.app / ".claude/rules/more").symlink_to("../../more")
    (machine.app / ".claude/rules/out").symlink_to(machine.path("~/team"))
    for name, target in (("team", "~/team"), ("loop", "~/.claude/rules"), ("out", "out"), ("home", "~/")):
        machine.path(f"~/.claude/rules/{name}").symlink_to(machine.path(target))
    own = os.path.relpath(machine.home, machine.folder) + "/.claude/rules"
    found = [one for one in marked(machine, started(machine, "claude-code")) if "/rules/" in one]
    assert found[-2:] == ["app/.claude/rules/more/e.md", "app/.claude/rules/out: needs approval"]
    assert set(found[:-2]) >= {f"{own}/{name}" for name in ("own.md", "out: skipped", "team/a.md", "team/d/b.md")}
    shown = listed(machine.roots(), machine.folder / "state")
    assert [name for name in shown if ":link-" in name] == ["claude-code:global:link-rules-team"]
    assert shown["claude-code:global:link-rules-team"] == ["a.md", "d/b.md"]


@pytest.mark.parametrize("where", ["app", "other"])
def test_a_link_that_a_checkout_brought_is_not_the_users_own(machine: Machine, where: str) -> None:
    (machine.folder / "other" / ".git").mkdir(parents=True)
    link = machine.folder / where / "own" / "CLAUDE.md"
    link.parent.mkdir()
    link.symlink_to(machine.write("~/private.md", "SECRET @~/more.md"))
    machine.write("~/more.md")
    moved = str(link.parent)
    assert not [name for name in machine.roots(CLAUDE_CONFIG_DIR=moved) if ":link-" in name]
    (found,) = started(machine, "claude-code", CLAUDE_CONFIG_DIR=moved)
    assert (found.mark, found.raw, found.unread) == ("", b"", 17)


def test_imports_of_a_project_are_asked_about_outside_of_the_folder_at_hand(machine: Machine) -> None:
    machine.write("app/CLAUDE.md", "@docs/x.md\n@sub/y.md\n")
    for name in ("app/docs/x.md", "app/sub/y.md"):
        machine.write(name)
    assert marked(machine, started(machine, "claude-code", "app/sub")) == [
        "app/CLAUDE.md",
        "app/docs/x.md: needs approval",
        "app/sub/y.md",
    ]
    assert names(machine) == ["CLAUDE.md", "x.md", "y.md"]


def test_what_the_user_approved_is_loaded_and_not_read(machine: Machine) -> None:
    machine.write("app/CLAUDE.md", "@../out.md @docs/x.md\n")
    for name in ("out.md", "app/docs/x.md", "app/sub/y.md"):
        machine.write(name)
    assert names(machine, "app/sub") == ["CLAUDE.md"]
    approved = {str(machine.app): {"hasClaudeMdExternalIncludesApproved": True}}
    machine.write("~/.claude.json", json.dumps({"projects": approved}))
    found = started(machine, "claude-code", "app/sub")
    assert marked(machine, found) == ["app/CLAUDE.md", "out.md", "app/docs/x.md"]
    assert (found[1].raw, found[1].unread, found[2].raw) == (b"", 2, b"x\n")


def test_a_worktree_in_its_checkout_leaves_the_checkouts_files_out(machine: Machine) -> None:
    (machine.app / ".claude").mkdir()
    worktree(machine.app, machine.app / ".claude" / "w")
    for name in ("CLAUDE.md", ".claude/CLAUDE.md", ".claude/rules/a.md", "CLAUDE.local.md", ".claude/w/CLAUDE.md"):
        machine.write(f"app/{name}")
    assert marked(machine, started(machine, "claude-code", "app/.claude/w")) == [
        "app/CLAUDE.md: skipped",
        "app/.claude/CLAUDE.md: skipped",
        "app/.claude/rules/a.md: skipped",
        "app/CLAUDE.local.md",
        "app/.claude/w/CLAUDE.md",
    ]
    shown = listed(machine.roots("app/.claude/w"), machine.folder / "state")
    assert sorted(name for names in shown.values() for name in names) == ["CLAUDE.local.md", "CLAUDE.md"]


@pytest.mark.parametrize("name", ["settings.json", "settings.local.json"])
def test_where_a_project_puts_memories_is_said_and_offered(machine: Machine, name: str) -> None:
    default = f"~/.claude/projects/{slug(str(machine.app))}/memory/MEMORY.md"
    for path in (default, "~/alt/MEMORY.md", "~/alt/a.md"):
        machine.write(path)
    machine.write(f"app/.claude/{name}", json.dumps({"autoMemoryDirectory": "~/alt"}))
    found = {one.path: one for one in started(machine, "claude-code")}
    moved = found[str(machine.path("~/alt/MEMORY.md"))]
    assert (moved.mark, moved.raw, moved.unread) == ("", b"", 2)
    assert found[str(machine.path(default))].mark == "skipped"
    root = machine.roots()[f"claude-code:project:{slug(str(machine.app))}"]
    assert f"{machine.app}/.claude/{name} makes Claude Code keep them in ~/alt" in root.note
    assert "`--root NAME=~/alt,agent=claude-code`" in root.note
    around = machine.surroundings("app", f"alt={machine.path('~/alt')},agent=claude-code")
    from memtui.agents.discovery import discover
    from memtui.agents.session_start import gather
    from memtui.agents.table import agent_of

    accepted = gather(agent_of("claude-code"), around, discover(around), lambda data, policy: (None, len(data)))
    assert {os.path.relpath(one.path, machine.home): one.mark for one in accepted} == {
        "alt/MEMORY.md": "",
        "alt/a.md": "on demand",
    }
    machine.write("etc/claude-code/managed-settings.d/a.json", json.dumps({"autoMemoryDirectory": "~/theirs"}))
    assert "makes Claude Code keep" not in machine.roots()[f"claude-code:project:{slug(str(machine.app))}"].note


IMPORTED = """\
@docs/frag.md#part @docs/sp\\ ace.md @_under/x.md @1num.md **@docs/bold.md** *@em.md* _@line.md_ [@link.md](x)
@docs/comma.md, @docs/dot.md. @img.png @script.zzz (@round.md) "@quote.md" @back\\slash.md **see @late.md**,
*@open.md
"""
YES = ["frag.md", "sp ace.md", "x.md", "1num.md", "bold.md", "em.md", "line.md", "link.md", "back", "late.md"]


def test_imports_are_read_as_the_program_reads_them(machine: Machine) -> None:
    machine.write("app/CLAUDE.md", IMPORTED)
    for name in (
        "docs/frag.md",
        "docs/sp ace.md",
        "_under/x.md",
        "1num.md",
        "docs/bold.md",
        "em.md",
        "line.md",
        "link.md",
    ):
        machine.write(f"app/{name}")
    for name in (
        "docs/comma.md",
        "docs/dot.md",
        "img.png",
        "script.zzz",
        "round.md",
        "quote.md",
        "open.md",
        "back",
        "late.md",
    ):
        machine.write(f"app/{name}")
    assert names(machine) == ["CLAUDE.md", *YES]


def test_rules_for_everything_are_loaded_and_front_matter_is_not(machine: Machine) -> None:
    machine.write("app/CLAUDE.md", "---\npaths: src/**\n---\na\n")
    for name, paths in (("all", '"**"'), ("both", '["**/**", "**"]'), ("mixed", '["**", "src/**"]')):
        machine.write(f"app/.claude/rules/{name}.md", f"---\npaths: {paths}\n---\n@../../{name}.md\n")
        machine.write(f"app/{name}.md")
    found = started(machine, "claude-code")
    assert [one.mark for one in found if "/rules/" in one.path] == ["", "", "only when matching files are touched"]
    assert found[0].text == b"a\n"
    assert not [one for one in found if one.mark and one.raw], "what is not loaded is not kept"
    assert names(machine)[-1] == "mixed.md", "what a rule imports does not wait for its files"


def test_what_administrators_set(machine: Machine) -> None:
    machine.write("etc/claude-code/CLAUDE.md")
    machine.write("etc/claude-code/.claude/rules/r.md")
    machine.write("etc/claude-code/managed-settings.json", json.dumps({"claudeMd": "Old."}))
    machine.write("etc/claude-code/managed-settings.d/10-x.json", json.dumps({"claudeMd": "Be kind."}))
    found = started(machine, "claude-code")
    assert [one.text for one in found] == [b"x\n", b"Be kind.", b"x\n"]
    assert found[1].path.endswith("10-x.json")
    assert listed(machine.roots(), machine.folder / "state") == {
        "claude-code:global:managed": [".claude/rules/r.md", "CLAUDE.md"]
    }
