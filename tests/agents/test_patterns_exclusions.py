"""What settings leave out, and what is said when finding that out would take too long."""

import time

from memtui.agents.agent import BY_FOLDER, BY_NAME, Excluded
from memtui.agents.patterns import Exclusions


def test_why_a_file_is_left_out() -> None:
    found = Exclusions(
        (Excluded("**/a.md", "path"), Excluded("/b*", "folder", BY_FOLDER), Excluded("c/*", "name", BY_NAME))
    )
    assert found.why_not("/x/a.md", "") == "path"
    assert found.why_not("/b*/y.md", "") == "folder"
    assert found.why_not("/bc/y.md", "") == "", "no sign of a folder's name is a pattern"
    assert found.why_not("/x/y.md", "c/d/e") == "name"
    assert Exclusions((Excluded("*", "name", BY_NAME),)).why_not("/x/y.md", "") == "", "it has no name"
    assert Exclusions(()).why_not("/x/a.md", "a") == ""
    assert found.problems() == ()


def test_what_was_not_compared_any_more_is_said() -> None:
    excluded = (Excluded("**/a*.md", "path", file="/s/one"), Excluded("b*", "name", BY_NAME, "/s/two"))
    found = Exclusions(excluded, steps=3_000)
    assert found.why_not("/x/a.md", "a") == "path"
    for number in range(200):
        assert not found.why_not(f"/x/{number}.md", str(number))
    assert found.why_not("/x/a.md", "a") == ""
    ((file, why),) = found.problems()
    assert file in ("/s/one", "/s/two")
    count = int(why.partition(": ")[2].partition(" ")[0])
    assert 1 < count < 201
    assert why == f"What it leaves out takes too long to find: {count} files are counted that it may leave out."
    one = Exclusions(excluded, steps=1)
    assert not one.why_not("/x/a.md", "a")
    assert "1 file is counted" in one.problems()[0][1]


def test_patterns_that_are_not_followed_in_all_they_name_are_said() -> None:
    patterns = ("{a,b}" * 6, "{a,b}" * 5, "x" * 2_000)
    found = Exclusions(tuple(Excluded(one, "Out.", file="/s") for one in patterns))
    assert not found.why_not("/c", "")
    assert found.problems() == (
        ("/s", f"Of a pattern that leaves files out: only 50 of the paths it stands for are tried: {patterns[0]}"),
        (
            "/s",
            "Of a pattern that leaves files out: it is longer than 1,024 characters and leaves out nothing: "
            + "x" * 100,
        ),
    )


def _seconds(excluded: tuple[Excluded, ...], files: int) -> float:
    began = time.thread_time()
    found = Exclusions(excluded)
    for number in range(files):
        name = f"{'a' * 200}{number}"
        found.why_not(f"/home/ann/src/shop/.claude/rules/{name}.md", name)
    return time.thread_time() - began


def test_many_patterns_and_many_files_take_no_longer_in_all() -> None:
    for patterns in (
        [f"**/{number}{('**/{*a,*b}' * 100)[:990]}" for number in range(50)],
        [("**/{*a,*b}" * 100)[: 1_000 - number] for number in range(50)],
        [f"**/{{*a,*b}}{number}*" + "*a" * 400 for number in range(50)],
        [f"**/{number}" * 90 for number in range(100)],
        ["**/" + "?*" * 300 + str(number) for number in range(100)],
        [("{" + "," * 400 + "}") * 2 + str(number) for number in range(100)],
    ):
        assert _seconds(tuple(Excluded(one, "Out.") for one in patterns), 900) < 8, patterns[0]
    names = tuple(Excluded(f"*{number}*" + "a*" * 20 + "b", "Out.", BY_NAME) for number in range(50_000))
    assert _seconds(names, 2_000) < 8


def test_what_people_write_is_compared_to_the_end() -> None:
    excluded = tuple(Excluded(f"**/package-{number}/**/CLAUDE*.md", "Out.") for number in range(50))
    found = Exclusions(excluded)
    for number in range(2_000):
        assert not found.why_not(f"/home/ann/src/shop/packages/part/src/{number}/CLAUDE.md", "")
    assert found.problems() == ()
