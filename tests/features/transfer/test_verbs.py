"""cp and mv between the roots of different agents."""

from pathlib import Path

import pytest

from tests.cli.conftest import Cli, Result
from tests.test_mask import GITHUB

TESTING = "---\nname: Testing\ndescription: How\nmetadata:\n  type: feedback\n---\n\nNo mocks.\n"
MAPPED = "---\nname: Testing\ndescription: How\ntype: feedback\n---\n\nNo mocks.\n"


class World:
    """Two agents' folders, given by hand."""

    def __init__(self, cli: Cli, base: Path) -> None:
        self.cli, self.base = cli, base
        self.options: list[str] = ["--only-root"]
        for name, agent in (("c", "claude-code"), ("q", "qwen-code"), ("s", "serena")):
            (base / name).mkdir(parents=True)
            self.options += ["--root", f"{name}={base / name},agent={agent}"]
        (base / "c/MEMORY.md").write_text("- [Testing](testing.md) — no mocks\n", encoding="utf-8")
        (base / "c/testing.md").write_text(TESTING, encoding="utf-8")
        (base / "c/deep").mkdir()
        (base / "c/deep/b.md").write_text("B\n", encoding="utf-8")

    def __call__(self, *words: str) -> Result:
        return self.cli(*self.options, *words)

    def disk(self) -> dict[str, str]:
        """Return every file."""
        found = sorted(path for path in self.base.rglob("*") if path.is_file())
        return {path.relative_to(self.base).as_posix(): path.read_text(encoding="utf-8") for path in found}


@pytest.fixture
def world(cli: Cli, tmp_path: Path) -> World:
    return World(cli, tmp_path / "roots")


def test_a_copy_is_mapped_and_one_undo_takes_it_back(world: World) -> None:
    before = world.disk()
    result = world("cp", "c/testing.md", "q/")
    assert result.status == 0
    assert "mapped: type: feedback (was metadata.type)." in result.err
    assert "1 line added in q/MEMORY.md" in result.err
    assert world.disk() == before | {"q/MEMORY.md": "- [Testing](testing.md) — no mocks\n", "q/testing.md": MAPPED}
    assert world("undo").status == 0
    assert world.disk() == before


def test_a_dry_run_shows_the_diffs_and_writes_nothing(world: World) -> None:
    before = world.disk()
    result = world("mv", "c/testing.md", "q/", "--dry-run")
    assert result.status == 0
    assert world.disk() == before
    assert "+type: feedback" in result.out
    assert "+- [Testing](testing.md) — no mocks" in result.out
    assert "--- c/MEMORY.md" in result.out
    assert "Would move c/testing.md to q/testing.md. Nothing was written." in result.err
    document = world("mv", "c/testing.md", "q/", "--dry-run", "--json").json
    assert document["written"] is False
    (item,) = world("mv", "c/testing.md", "q/", "--dry-run", "--json").items
    assert item["new_address"] == "q/testing.md"
    assert item["notes"] == [{"kind": "mapped", "text": "type: feedback (was metadata.type)"}]


def test_as_is_keeps_every_byte(world: World) -> None:
    assert world("mv", "c/testing.md", "s/", "--as-is").status == 0
    assert world.disk()["s/testing.md"] == TESTING
    assert "c/testing.md" not in world.disk()
    assert world.disk()["c/MEMORY.md"] == ""


def test_a_folder_and_a_root_go_whole(world: World) -> None:
    assert world("cp", "c/deep", "s/").status == 0
    assert world.disk()["s/deep/b.md"] == "B\n"
    assert world("cp", "c/deep", "s/other").status == 0
    assert world.disk()["s/other/b.md"] == "B\n"
    result = world("cp", "c", "q", "--json")
    assert result.status == 0
    assert {str(item["address"]): item["ok"] for item in result.items} == {
        "c/deep/b.md": True,
        "c/testing.md": True,
    }
    assert "q/deep/b.md" in world.disk()


def test_a_copy_in_one_root_is_a_copy_of_bytes(world: World) -> None:
    result = world("cp", "c/deep/b.md", "c/c.md", "--json")
    assert result.status == 0
    assert [item["new_address"] for item in result.items] == ["c/c.md"]
    assert world.disk()["c/c.md"] == "B\n"


def test_several_move_into_a_folder(world: World) -> None:
    assert world("mv", "c/testing.md", "c/deep/b.md", "s/in/").status == 0
    assert {"s/in/testing.md", "s/in/b.md"} <= world.disk().keys()
    assert world("mv", "s/in/testing.md", "s/in/b.md", "s/").status == 0
    assert {"s/testing.md", "s/b.md"} <= world.disk().keys()


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("cp", "c/none.md", "q/"), 4, "There is no c/none.md."),
        (("cp", "c/testing.md", "c/deep/b.md", "q/one.md"), 2, "cannot have the one name"),
        (("cp", "c/testing.md", "nowhere:x/"), 2, "is not an address"),
        (("mv", "c/MEMORY.md", "q/"), 5, "it is an index"),
        (("cp", "c/testing.md"), 2, "needs NEW"),
        (("cp", "/memories", "q/"), 2, "more than one root"),
    ],
)
def test_what_cannot_be_done_says_why(world: World, words: tuple[str, ...], status: int, said: str) -> None:
    before = world.disk()
    result = world(*words)
    assert result.status == status
    assert said in result.err
    assert world.disk() == before


def test_a_dry_run_in_one_root_shows_what_follows(world: World) -> None:
    result = world("mv", "c/testing.md", "c/tests.md", "--dry-run")
    assert result.status == 0
    assert "+- [Testing](tests.md) — no mocks" in result.out
    assert "1 link updated" in result.err


def test_an_index_that_gets_no_line_is_said(world: World) -> None:
    (world.base / "q/MEMORY.md").write_bytes("* [x.md](x.md): old\n".encode("utf-16"))
    for words in (("--dry-run",), ()):
        result = world("cp", "c/testing.md", "q/", *words)
        assert "q/MEMORY.md: The index gets no line: it is not UTF-8 text." in result.err


@pytest.mark.parametrize("target", ["q/", "c2/"])
def test_a_secret_goes_to_another_root_only_when_that_is_said(world: World, target: str) -> None:
    (world.base / "c2").mkdir()
    world.options += ["--root", f"c2={world.base / 'c2'}"]
    (world.base / "c/testing.md").write_text(f"{TESTING}The key {GITHUB} is ours.\n", encoding="utf-8")
    before = world.disk()
    result = world("cp", "c/testing.md", target)
    assert (result.status, "[E_SECRET]" in result.err, world.disk()) == (5, True, before)
    assert world("cp", "c/testing.md", "c/here.md").status == 0
    assert world("cp", "c/testing.md", target, "--secrets", "mask").status == 0
    assert "The key [masked: GitHub token] is ours." in world.disk()[f"{target}testing.md"]
    assert world("undo").status == 0
    assert world("cp", "c/testing.md", target, "--secrets", "keep").status == 0
    assert GITHUB in world.disk()[f"{target}testing.md"]
