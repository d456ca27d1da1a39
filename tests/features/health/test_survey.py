"""What is found in folders with an index: each kind of finding, nested indexes, and what is no finding."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.model import Policy, Snapshot
from memtui.features.health.checks import COMES_BACK, NO_ROOM, SHORTER, UNKNOWN
from memtui.features.health.model import BELOW, BROKEN, CUT, DANGLING, DUPLICATE, HIDDEN, LONG, OUTSIDE, UNNAMED
from memtui.features.health.survey import NO_FIX, READ_ONLY, IndexChecker, has_index
from tests.features.health.folders import LINKS, Folders, at, entry, kinds, memory
from tests.growth import growth


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    return Folders(tmp_path)


def test_a_sound_index_has_no_findings(folders: Folders) -> None:
    folders.lay({"MEMORY.md": "# Memory\n\n" + entry("a.md") + entry("sub/b.md"), "a.md": "a\n", "sub/b.md": "b\n"})
    (report,) = folders.look()
    assert report.findings == ()
    assert report.address == at("MEMORY.md")
    assert (report.measure.lines, report.rebuilt, report.problem) == (4, False, "")


def test_each_kind_is_found(folders: Folders) -> None:
    lines = [entry("a.md"), entry("gone.md"), entry("a.md"), entry("b.md", "x" * 200), "- [o](../out.md) — out\n"]
    folders.lay({"MEMORY.md": "".join(lines), "a.md": "a\n", "b.md": "b\n", "c.md": memory("See")})
    assert kinds(folders.look()) == [
        (DANGLING, 2, "gone.md"),
        (UNNAMED, None, "c.md"),
        (DUPLICATE, 3, "a.md"),
        (LONG, 4, "b.md"),
        (OUTSIDE, 5, "../out.md"),
    ]


def test_the_cut_line_and_the_memories_below_it(folders: Folders) -> None:
    folders.lay({f"m{number}.md": "text\n" for number in range(203)})
    folders.lay({"MEMORY.md": "".join(entry(f"m{number}.md") for number in range(203))})
    (report,) = folders.look()
    assert kinds([report]) == [(CUT, 201, "MEMORY.md"), *((BELOW, 201 + n, f"m{200 + n}.md") for n in range(3))]
    assert report.below == (at("m200.md"), at("m201.md"), at("m202.md"))
    assert report.findings[0].text == ("over 200 lines: line 201 and what follows (3 lines, 3 memories) is not loaded")


def test_a_memory_named_above_the_cut_as_well_is_not_below_it(folders: Folders) -> None:
    folders.policies["notes"] = LINKS._replace(index_lines=2)
    folders.lay({"MEMORY.md": entry("a.md") + entry("b.md") + entry("a.md"), "a.md": "", "b.md": ""})
    (report,) = folders.look()
    assert report.below == ()
    assert [one.kind for one in report.findings] == [CUT, DUPLICATE]


def test_an_entry_that_a_later_one_hides(folders: Folders) -> None:
    folders.policies["notes"] = Policy(entries=(("*.txt", "goose"),), suffix=".txt")
    folders.lay(
        {"dev.txt": "# py tests\nUse uv.\n\nplain\n\n#py  tests\nUse pip.\n\n", "a.txt": "# a\nx\n\n# b\nx\n\n"}
    )
    (report,) = folders.look()
    assert kinds([report]) == [(HIDDEN, 1, "dev.txt")]
    assert report.findings[0].fix is None
    folders.lay({"dev.txt": "# py\nUse uv.\n\n# tests\nUse pip.\n\n"})
    assert folders.look() == ()


def test_what_is_no_file_is_no_finding(folders: Folders) -> None:
    text = "- [site](https://example.org/a.md)\n- [mail](mailto:a@b.c)\n- [here](#top)\n```\n- [x](x.md)\n```\n"
    folders.lay({"MEMORY.md": text})
    assert kinds(folders.look()) == []


def test_a_file_that_is_no_memory_and_a_folder_are_there(folders: Folders) -> None:
    folders.policies["notes"] = LINKS._replace(ignore=("*.lock",))
    folders.lay({"MEMORY.md": "- [l](x.lock)\n- [s](sub)\n- [a](sub/a.md)\n", "x.lock": "", "sub/a.md": "a\n"})
    assert kinds(folders.look()) == []


def test_the_index_itself_and_other_files_need_no_line(folders: Folders) -> None:
    folders.lay({"MEMORY.md": entry("a.md"), "a.md": "a\n", "data.json": "{}"})
    assert kinds(folders.look()) == []


def test_memories_without_any_index(folders: Folders) -> None:
    folders.lay({"a.md": "a\n"})
    (report,) = folders.look()
    assert report.sha256 is None
    assert kinds([report]) == [(UNNAMED, None, "a.md")]


def test_an_empty_folder_is_sound(folders: Folders) -> None:
    assert folders.look() == ()


def test_each_folder_below_the_root_has_an_index_of_its_own(folders: Folders) -> None:
    folders.policies["notes"] = LINKS._replace(index_file="*/MEMORY.md")
    folders.lay(
        {"MEMORY.md": "stray\n", "one/MEMORY.md": entry("a.md"), "one/a.md": "", "two/b.md": "", "one/c.md": ""}
    )
    assert [(report.address, kinds([report])) for report in folders.look()] == [
        (at("one/MEMORY.md"), [(UNNAMED, None, "one/c.md")]),
        (at("two/MEMORY.md"), [(UNNAMED, None, "two/b.md")]),
    ]


def test_the_nearest_index_has_to_name_a_memory(folders: Folders) -> None:
    folders.policies["notes"] = LINKS._replace(index_file="**/MEMORY.md")
    folders.lay({"MEMORY.md": "# Top\n", "one/MEMORY.md": "# One\n", "one/deep/a.md": "", "two/b.md": ""})
    assert [(report.address.path, kinds([report])) for report in folders.look()] == [
        ("MEMORY.md", [(UNNAMED, None, "two/b.md")]),
        ("one/MEMORY.md", [(UNNAMED, None, "one/deep/a.md")]),
    ]


def test_an_index_in_another_format_is_only_measured(folders: Folders) -> None:
    folders.policies["notes"] = Policy(index_file="MEMORY.md", index_lines=1)
    folders.lay({"MEMORY.md": "one\n- [gone](gone.md)\n", "a.md": "a\n"})
    assert kinds(folders.look()) == [(CUT, 2, "MEMORY.md")]


def test_a_root_without_an_index_is_left_out(folders: Folders) -> None:
    folders.policies["notes"] = Policy()
    assert not has_index(folders.roots()[0])
    assert folders.look() == ()


def test_a_rebuilt_index_says_so(folders: Folders) -> None:
    folders.policies["notes"] = LINKS._replace(generated=("MEMORY.md",))
    folders.lay({"MEMORY.md": entry("gone.md")})
    (report,) = folders.look()
    assert report.rebuilt


def test_where_nothing_may_be_written_there_are_findings_without_fixes(folders: Folders) -> None:
    folders.lay({"MEMORY.md": entry("gone.md"), "a.md": "a\n"})
    roots = [root._replace(read_only=True) for root in folders.roots()]
    with Engine.open(roots, state_dir=str(folders.base / "state")) as engine:
        (report,) = IndexChecker().look(engine, engine.roots.all())
    assert [(one.kind, one.fix, one.why) for one in report.findings] == [
        (DANGLING, None, READ_ONLY),
        (UNNAMED, None, READ_ONLY),
    ]


def test_an_index_is_read_again_only_when_something_is_different(
    folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders.lay({"MEMORY.md": entry("a.md"), "a.md": "a\n"})
    with folders.engine() as engine:
        looker, reads = IndexChecker(), []
        real = engine.read

        def read(address: object) -> Snapshot:
            reads.append(address)
            return real(address)  # type: ignore[arg-type]

        monkeypatch.setattr(engine, "read", read)
        first = looker.look(engine, engine.roots.all())
        assert looker.look(engine, engine.roots.all()) == first
        assert len(reads) == 1
        folders.lay({"b.md": memory("See")})
        assert kinds(looker.look(engine, engine.roots.all())) == [(UNNAMED, None, "b.md")]
        folders.lay({"MEMORY.md": entry("a.md") + entry("b.md")})
        assert kinds(looker.look(engine, engine.roots.all())) == []
        assert len(reads) == 3


def test_hostile_names_do_no_harm(folders: Folders) -> None:
    folders.lay({"MEMORY.md": "- [\x1b[31m](\x9b.md)\n- [a](<a b.md>)\n", "a b.md": "a\n", "new\nline.md": "x\n"})
    (report,) = folders.look()
    found = {one.kind: one for one in report.findings}
    assert set(found) == {DANGLING, UNNAMED}
    assert found[UNNAMED].fix is None
    assert found[UNNAMED].why


def test_a_pointer_whose_target_is_there_as_it_is_written_is_sound(folders: Folders) -> None:
    folders.lay({"n#1.md": "n\n", "%41.md": "b\n", "m%20x.md": "m\n", "o#1.md": "o\n"})
    folders.lay({"MEMORY.md": "- [m](m%20x.md)\n- [b](%41.md)\n- [t](n#1.md)\n- [[o#1]]\n"})
    assert kinds(folders.look()) == []


def test_what_is_not_read_is_not_offered(folders: Folders, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("s\n")
    folders.lay({"MEMORY.md": "# Memory\n", "a.md": "a\n"})
    (folders.base / "notes/out.md").symlink_to(tmp_path / "secret.md")
    os.mkfifo(folders.base / "notes/pipe.md")
    assert kinds(folders.look()) == [(UNNAMED, None, "a.md")]


@pytest.mark.parametrize("data", ["- [g](g.md)\n".encode("utf-16"), b"- [g](g.md) \xe9\n", b"- [g](g.md)\n\x00\n"])
def test_an_index_that_is_no_text_is_one_finding_that_says_so(folders: Folders, data: bytes) -> None:
    folders.lay({"MEMORY.md": data, "a.md": "a\n", "b.md": "b\n"})
    (report,) = folders.look()
    assert [(one.kind, one.fix, one.why) for one in report.findings] == [(BROKEN, None, NO_FIX)]


def test_a_look_that_nobody_wants_any_more_ends(folders: Folders) -> None:
    folders.lay({"MEMORY.md": entry("gone.md")})
    with folders.engine() as engine:
        looker = IndexChecker()
        assert looker.look(engine, engine.roots.all(), outdated=lambda: True) == ()
        assert len(looker.look(engine, engine.roots.all(), outdated=lambda: False)) == 1


def test_the_rest_of_an_index_is_part_of_it(folders: Folders) -> None:
    rest = entry("b.md") + entry("gone.md") + entry("a.md") + entry("MEMORY-more-2.md") + entry("b.md", "x" * 300)
    folders.policies["notes"] = LINKS._replace(index_lines=3)
    folders.lay({"MEMORY.md": entry("a.md") + entry("MEMORY-more.md"), "MEMORY-more.md": rest})
    folders.lay({"MEMORY-more-2.md": entry("c.md"), "a.md": "", "b.md": "", "c.md": "", "d.md": ""})
    reports = folders.look()
    assert [(report.address.path, kinds([report])) for report in reports] == [
        ("MEMORY.md", [(UNNAMED, None, "d.md")]),
        ("MEMORY-more.md", [(DANGLING, 2, "gone.md"), (DUPLICATE, 3, "a.md"), (DUPLICATE, 5, "b.md")]),
        ("MEMORY-more-2.md", []),
    ]
    assert reports[1].findings[1].text == "named again; the index does already"
    assert [report.policy.index_lines for report in reports] == [3, None, None]


def test_a_file_that_the_index_does_not_name_is_no_rest_of_it(folders: Folders) -> None:
    folders.lay({"MEMORY.md": entry("a.md"), "MEMORY-more.md": entry("b.md"), "a.md": "", "b.md": ""})
    assert kinds(folders.look()) == [(UNNAMED, None, "MEMORY-more.md"), (UNNAMED, None, "b.md")]


def test_the_rest_of_an_index_in_a_folder_is_beside_it(folders: Folders) -> None:
    folders.policies["notes"] = LINKS._replace(index_file="*/MEMORY.md")
    folders.lay({"one/MEMORY.md": entry("MEMORY-more.md") + "- [two](../two/MEMORY-more.md)\n"})
    folders.lay({"one/MEMORY-more.md": entry("a.md"), "one/a.md": ""})
    folders.lay({"two/MEMORY-more.md": entry("b.md"), "two/b.md": "", "two/MEMORY.md": ""})
    found = {report.address.path: kinds([report]) for report in folders.look()}
    assert found == {"one/MEMORY.md": [], "one/MEMORY-more.md": [], "two/MEMORY.md": [(UNNAMED, None, "two/b.md")]}


def test_what_an_index_imports_is_named_where_the_agent_loads_it(folders: Folders) -> None:
    folders.lay({"MEMORY.md": "- @a.md\n", "a.md": "", "OLD.md": ""})
    assert kinds(folders.look()) == [(UNNAMED, None, "OLD.md"), (UNNAMED, None, "a.md")]
    folders.policies["notes"] = LINKS._replace(index_imports=True, whole=("MEMORY.md", "OLD.md"))
    assert kinds(folders.look()) == []


def test_the_rest_is_read_again_when_it_changes(folders: Folders) -> None:
    folders.lay({"MEMORY.md": entry("MEMORY-more.md"), "MEMORY-more.md": entry("a.md"), "a.md": ""})
    with folders.engine() as engine:
        looker = IndexChecker()
        assert kinds(looker.look(engine, engine.roots.all())) == []
        folders.lay({"MEMORY-more.md": "# Nothing\n"})
        assert kinds(looker.look(engine, engine.roots.all())) == [(UNNAMED, None, "a.md")]


def test_what_may_be_gone_counts_as_gone(folders: Folders) -> None:
    folders.lay({"MEMORY.md": entry("a.md") + entry("held.md"), "a.md": ""})
    with folders.engine() as engine:
        found = engine.rows.list()
        row = next(one for one in found.items if one.address == at("a.md"))
        names = ("held.md", "unnamed.md", "sub/MEMORY.md")
        held = tuple(row._replace(address=at(name), missing=True) for name in names)
        listing = found._replace(items=(*found.items, *held))
        assert kinds(IndexChecker().look(engine, engine.roots.all(), listing)) == [(DANGLING, 2, "held.md")]


def test_a_rest_that_cannot_be_read_is_a_report_with_the_reason(folders: Folders) -> None:
    folders.policies["notes"] = LINKS._replace(read_bytes=80)
    folders.lay({"MEMORY.md": entry("MEMORY-more.md"), "MEMORY-more.md": "x" * 100})
    reports = folders.look()
    assert {report.address.path: bool(report.problem) for report in reports} == {
        "MEMORY-more.md": True,
        "MEMORY.md": False,
    }


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        (LINKS._replace(index_lines=1, generated=("MEMORY.md",)), COMES_BACK),
        (Policy(index_file="MEMORY.md", index_lines=1), UNKNOWN),
        (LINKS._replace(index_lines=1), NO_ROOM),
    ],
)
def test_where_the_cut_has_no_fix_it_says_why(folders: Folders, policy: Policy, why: str) -> None:
    folders.policies["notes"] = policy
    folders.lay({"MEMORY.md": entry("a.md") + entry("b.md"), "a.md": "", "b.md": ""})
    (report,) = folders.look()
    (cut,) = report.of(CUT)
    assert (cut.fix, cut.why) == (None, f"{why} {SHORTER}")


def test_the_time_grows_with_the_indexes_of_one_root(folders: Folders) -> None:
    few, many = 60, 600
    folders.policies.clear()
    for size in (few, many):
        name = f"n{size}"
        folders.policies[name] = LINKS._replace(index_file="**/MEMORY.md")
        lines = "".join(entry(f"m{number}.md") for number in range(5))
        for number in range(size):
            here = f"a folder {number}"
            folders.lay({f"{here}/MEMORY.md": lines, **{f"{here}/m{one}.md": "" for one in range(5)}}, name)
    with folders.engine() as engine:
        roots = {root.id: root for root in engine.roots.all()}
        listings = {name: engine.rows.list([name]) for name in roots}

        def look(size: int) -> object:
            return IndexChecker().look(engine, [roots[f"n{size}"]], listings[f"n{size}"])

        assert growth(look, few, many) < 30
