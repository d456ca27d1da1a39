"""What other projects are called, and whose memories are shown."""

from memtui.agents.layout import ORPHANED
from memtui.engine.model import Root
from memtui.workbench.tree.roots import OtherProjects, describe

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
