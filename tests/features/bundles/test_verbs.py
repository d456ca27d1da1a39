"""export and import."""

import os
import tarfile
from hashlib import sha256
from pathlib import Path

import pytest

from memtui.engine.look.scan import RootTree
from tests.cli.conftest import Cli, Result
from tests.test_mask import GITHUB

INDEX = "- [Role](role.md) — knows SQL\n"


class Machines:
    """Two folders, and the options that open one as `notes`."""

    def __init__(self, cli: Cli, base: Path) -> None:
        self.cli, self.base = cli, base
        for name in ("here", "there"):
            (base / name).mkdir()
        (base / "here/a.md").write_bytes(b"A\n")
        (base / "here/deep").mkdir()
        (base / "here/deep/b.md").write_bytes(b"B\r\n")

    def __call__(self, where: str, *words: str, stdin: bytes = b"") -> Result:
        home = ("--home", str(self.base / f"home-{where}"))
        return self.cli(*home, "--only-root", "--root", f"notes={self.base / where}", *words, stdin=stdin)

    def held(self, where: str) -> dict[str, bytes]:
        """Every file."""
        found = [path for path in (self.base / where).rglob("*") if path.is_file()]
        return {path.relative_to(self.base / where).as_posix(): path.read_bytes() for path in found}


def names(file: str) -> list[str]:
    """Return the names in a tar file."""
    with tarfile.open(file) as tar:
        return tar.getnames()


@pytest.fixture
def machines(cli: Cli, tmp_path: Path) -> Machines:
    return Machines(cli, tmp_path)


def test_what_is_exported_here_is_imported_there(machines: Machines) -> None:
    assert machines("here", "pin", "notes/a.md").status == 0
    result = machines("here", "export", "b.tar", "--history")
    assert result.status == 0
    assert result.lines == ["exported 2 memories to b.tar"]
    assert "also texts that memories no longer have" in result.err
    assert sorted(names("b.tar")) == ["memories/1/a.md", "memories/1/deep/b.md", "memtui-bundle.json"]
    result = machines("there", "import", "b.tar", "--dry-run")
    assert machines.held("there") == {}
    assert "Would import: 2 new, 1 to pin. Nothing was written." in result.err
    result = machines("there", "import", "b.tar", "--json")
    assert result.status == 0
    assert [(item["what"], item["address"]) for item in result.items] == [
        ("new", "notes/a.md"),
        ("new", "notes/deep/b.md"),
    ]
    assert (result.json["written"], result.json["pinned"]) == (True, 1)
    assert machines.held("there") == machines.held("here")
    assert "Imported: 2 unchanged." in machines("there", "import", "b.tar").err
    assert machines("there", "undo").status == 0
    assert machines.held("there") == {}


def test_a_selection_goes_and_a_file_that_is_there_stays(machines: Machines) -> None:
    assert machines("here", "export", "b.tar", "notes/deep").status == 0
    assert names("b.tar") == ["memtui-bundle.json", "memories/1/deep/b.md"]
    before = Path("b.tar").read_bytes()
    result = machines("here", "export", "b.tar")
    assert result.status == 3
    assert "E_EXISTS" in result.err
    assert Path("b.tar").read_bytes() == before
    document = machines("here", "export", "b.tar", "--force", "--json").json
    assert document["memories"] == 2
    assert machines("here", "export", "c.tar", "notes/none").status == 4
    assert not Path("c.tar").exists()


def test_a_secret_goes_into_a_bundle_only_when_that_is_said(machines: Machines) -> None:
    a = machines.base / "here/a.md"
    a.write_text(f"old {GITHUB}\n")
    assert (
        machines("here", "save", "notes/a.md", "--expect", sha256(a.read_bytes()).hexdigest(), "-", stdin=b"A\n").status
        == 0
    )
    assert machines("here", "export", "a.tar", "notes/a.md").status == 0
    for words in (("export", "b.tar", "--history"), ("export", "b.tar", "notes/b.md")):
        (machines.base / "here/b.md").write_text(f"new {GITHUB} is ours\n")
        result = machines("here", *words)
        assert (result.status, "[E_SECRET]" in result.err, os.path.exists("b.tar")) == (5, True, False)
    assert machines("here", "export", "b.tar", "--history", "--secrets", "mask").status == 0
    assert GITHUB.encode() not in Path("b.tar").read_bytes()
    assert machines("there", "import", "b.tar").status == 0
    assert machines.held("there")["b.md"] == b"new [masked: GitHub token] is ours\n"
    assert machines("here", "export", "k.tar", "--history", "--secrets", "keep").status == 0
    assert Path("k.tar").read_bytes().count(GITHUB.encode()) == 2


def test_a_bundle_goes_through_a_pipe(machines: Machines) -> None:
    result = machines("here", "export", "-")
    assert result.status == 0
    assert machines("there", "import", "-", stdin=result.raw).status == 0
    assert machines.held("there") == machines.held("here")


def test_a_conflict_is_said_and_waits_as_a_draft(machines: Machines) -> None:
    (machines.base / "there/a.md").write_bytes(b"other\n")
    assert machines("here", "export", "b.tar").status == 0
    result = machines("there", "import", "b.tar")
    assert result.status == 3
    assert "1 memory stays as here; the bundle's text waits as a draft." in result.err
    assert machines.held("there") == {"a.md": b"other\n", "deep/b.md": b"B\r\n"}
    (machines.base / "here/a.md").write_bytes(b"third\n")
    assert machines("here", "export", "c.tar").status == 0
    result = machines("there", "import", "c.tar")
    assert "notes/a.md has an unsaved draft already" in result.err


def test_memories_go_where_they_are_told_to(machines: Machines) -> None:
    assert machines("here", "export", "b.tar").status == 0
    home = ("--home", str(machines.base / "home-x"), "--only-root")
    result = machines.cli(*home, "--root", f"x={machines.base / 'there'},agent=serena", "import", "b.tar", "--dry-run")
    assert "stays out\tnotes/a.md\tno root here is notes: --into says where it goes" in result.lines
    for into in ("x", "notes=x"):
        words = ("import", "b.tar", "--into", into)
        assert machines.cli(*home, "--root", f"x={machines.base / 'there'},agent=serena", *words).status == 0
    assert machines.held("there") == machines.held("here")
    result = machines("there", "import", "b.tar", "--into", "notes", "--into", "notes")
    assert result.status == 2


@pytest.mark.parametrize("data", [b"", b"no bundle", b"\x1f\x8b" + b"\0" * 30])
def test_what_is_no_bundle_is_refused(machines: Machines, data: bytes) -> None:
    Path("b.tar").write_bytes(data)
    result = machines("there", "import", "b.tar", "--json")
    assert result.status == 5
    assert result.error["code"] == "E_BUNDLE"
    assert machines.held("there") == {}
    assert machines("there", "import", "none.tar").status == 4


def test_what_comes_from_another_agent_is_shown_translated_first(cli: Cli, tmp_path: Path) -> None:
    for name in ("claude", "qwen"):
        (tmp_path / name).mkdir()
    (tmp_path / "claude/role.md").write_bytes(b"SQL.\n")
    (tmp_path / "claude/MEMORY.md").write_bytes(INDEX.encode())

    def at(where: str, agent: str, *words: str) -> Result:
        home = ("--home", str(tmp_path / f"home-{where}"), "--only-root")
        return cli(*home, "--root", f"{where}={tmp_path / where},agent={agent}", *words)

    def held() -> dict[str, str]:
        return {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "qwen").iterdir()}

    assert at("claude", "claude-code", "export", "b.tar").status == 0
    shown = at("qwen", "qwen-code", "import", "b.tar", "--into", "qwen", "--dry-run")
    assert "+description: knows SQL" in shown.lines
    assert "+- [Role](role.md) — knows SQL" in shown.lines
    assert "role.md: added: description: knows SQL (from the index)." in shown.err
    also = "front matter of 1 mapped, 1 line added in qwen/MEMORY.md"
    assert f"Would import: 1 new, 1 stays out; {also}. Nothing was written." in shown.err
    assert held() == {}
    document = at("qwen", "qwen-code", "import", "b.tar", "--into", "qwen", "--dry-run", "--json").json
    assert document["also"] == also
    items, indexes = document["items"], document["indexes"]
    assert isinstance(items, list)
    assert isinstance(indexes, list)
    assert [(one["what"], one["changed"]) for one in items] == [("stays out", False), ("new", True)]
    assert "+description: knows SQL\n" in items[1]["diff"]
    assert {"kind": "added", "text": "description: knows SQL (from the index)"} in items[1]["notes"]
    assert [(one["address"], one["what"]) for one in indexes] == [("qwen/MEMORY.md", "1 line added")]
    done = at("qwen", "qwen-code", "import", "b.tar", "--into", "qwen")
    assert f"Imported: 1 new, 1 stays out; {also}." in done.err
    assert held()["MEMORY.md"] == INDEX
    assert held()["role.md"].endswith("---\nSQL.\n")
    assert at("qwen", "qwen-code", "undo").status == 0
    assert held() == {}
    assert at("qwen", "qwen-code", "import", "b.tar", "--into", "qwen", "--as-is").status == 0
    assert held() == {"MEMORY.md": INDEX, "role.md": "SQL.\n"}


def test_a_root_of_any_size_goes_into_a_bundle_and_is_searched_whole(
    machines: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = RootTree.__init__.__kwdefaults__ or {}
    assert usual["max_files"] == 20_000
    monkeypatch.setitem(usual, "max_files", 40)
    count = 50
    for number in range(count):
        (machines.base / f"here/{number:05}.md").write_bytes(b"x")
    (machines.base / "here/zz.md").write_bytes(b"needle\n")
    file = str(tmp_path / "all.tar")
    exported = machines("here", "export", file, "--json")
    assert exported.status == 0
    assert (exported.json["memories"], exported.json["left"]) == (count + 3, [])
    found = machines("here", "search", "needle", "--json")
    assert [hit["address"] for hit in found.items] == ["notes/zz.md"]
    assert found.json["truncated"] is False
    listed = machines("there", "import", file, "--dry-run", "--json")
    assert listed.status == 0
    assert len(listed.items) == count + 3


def test_what_lies_too_deep_to_be_named_is_said_by_export_and_search(machines: Machines, tmp_path: Path) -> None:
    deep = machines.base.joinpath("here", *("d" * 21))
    deep.mkdir(parents=True)
    (deep / "needle.md").write_bytes(b"needle\n")
    exported = machines("here", "export", str(tmp_path / "cut.tar"), "--json")
    assert exported.status == 5
    assert exported.json["memories"] == 2
    assert exported.json["left"] == [{"address": "notes/", "why": "Only what is up to 20 levels deep is listed."}]
    assert "Not in it: notes/. Only what is up to 20 levels deep" in exported.err
    found = machines("here", "search", "needle", "--json")
    assert found.json == {"items": [], "truncated": True}
