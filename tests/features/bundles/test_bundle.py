"""Bundles: equal memories give equal bytes, everything comes back, and what does not fit is refused or said."""

import json
import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from memtui.engine.model import Version
from memtui.errors import NotFoundError, RefusedError
from memtui.features.bundles.bundle import LIST, Bundle, BundledMemory, BundledVersion, Origin, collect, read, write
from memtui.features.bundles.tarball import pack, unpack
from tests.features.transfer.machines import ME, Machine

HERE = Origin("claude-code:project:app", "claude-code", "project", ("claude-code:project",))
THERE = Origin("memtui:global", "memtui", "global")
OLD = BundledVersion(Version(sha256(b"old\n").hexdigest(), 4, "mcp:x", 5, "modified", note="late write"), b"old\n")
NOW = BundledVersion(Version(sha256(b"A\n").hexdigest(), 2, "cli", 9, "modified"), b"A\n")
OTHER = HERE._replace(id="qwen-code:project", agent="qwen-code", index_file="MEMORY.md")
WHOLE = Bundle(
    (
        BundledMemory(HERE, "a.md", b"A\n", pinned=True, uses=3, last_used_at=7, history=(NOW, OLD)),
        BundledMemory(HERE, "deep/ä b.md", b"\xff\x00", last_written_at=8),
        BundledMemory(THERE, "a.md", b"A\n"),
        BundledMemory(OTHER, "a.md", b"A\n"),
    )
)


def test_everything_comes_back() -> None:
    assert read(write(WHOLE)) == WHOLE


def test_the_order_memories_are_given_in_does_not_matter() -> None:
    assert write(Bundle(WHOLE.memories[::-1])) == write(WHOLE)


def changed(change: Callable[[dict[str, Any], dict[str, bytes]], object]) -> bytes:
    """Return a bundle whose list or files were changed."""
    files = dict(unpack(write(WHOLE)))
    document = json.loads(files[LIST])
    change(document, files)
    files[LIST] = json.dumps(document).encode()
    return pack(files.items())


def first(key: str, value: object) -> Callable[[dict[str, Any], dict[str, bytes]], object]:
    """Return a change of one value of the first memory."""
    return lambda document, files: document["memories"][0].update({key: value})


@pytest.mark.parametrize(
    "change",
    [
        *[
            first("path", path)
            for path in ("../a.md", "/etc/passwd", "a/../../b", "", ".", "a//b", "x" * 300, "a\0b", 5, None, "\ud800")
        ],
        first("sha256", sha256(b"B\n").hexdigest()),
        first("sha256", None),
        first("bytes", 3),
        first("bytes", value=True),
        first("bytes", 2.0),
        first("file", "memories/1/none.md"),
        first("file", LIST),
        first("root", 9),
        first("root", -1),
        first("root", "0"),
        first("root", 0.0),
        first("root", value=False),
        first("pinned", 1),
        first("uses", -1),
        first("uses", 1e300),
        first("uses", 10**30),
        first("last_used_at", "now"),
        first("history", {}),
        first("history", [7]),
        first("history", [{"sha256": "0" * 64}]),
        lambda document, files: document["memories"].append(document["memories"][0]),
        lambda document, files: document.update(memories={}),
        lambda document, files: document.update(roots=[{}]),
        lambda document, files: document.update(version=3),
        lambda document, files: document.update(version=1.0),
        lambda document, files: document.update(version=True),
        lambda document, files: document.update(format="zip"),
        lambda document, files: document["roots"][0].update(scope="moon"),
        lambda document, files: document["roots"][0].update(aliases="x"),
        lambda document, files: document["roots"][0].update(index_file=None),
        lambda document, files: document["roots"][0].update(index_file="x" * 2_000),
        lambda document, files: document["memories"][0]["history"][0].update(actor=""),
        lambda document, files: document["memories"][0]["history"][0].update(bytes=2.0),
        lambda document, files: files.update({"unlisted": b"1"}),
        lambda document, files: files.update({"history/" + "0" * 64: b"1"}),
        lambda document, files: files.update({f"history/{sha256(b'1').hexdigest()}": b"1"}),
        lambda document, files: files.update({"memories/1/a.md": b"B\n"}),
        lambda document, files: files.pop("memories/1/a.md"),
        lambda document, files: document["memories"][0]["history"].append(
            document["memories"][0]["history"][0] | {"at": -1}
        ),
    ],
)
def test_what_does_not_fit_its_list_is_refused(change: Callable[[dict[str, Any], dict[str, bytes]], object]) -> None:
    with pytest.raises(RefusedError) as refused:
        read(changed(change))
    assert refused.value.code == "E_BUNDLE"


@pytest.mark.parametrize(
    "text", [b"", b"[]", b"{", b"[" * 200_000, b"null", b'{"format": NaN}', b"\xff", b"9" * 10_000]
)
def test_a_list_that_is_none_is_refused(text: bytes) -> None:
    with pytest.raises(RefusedError) as refused:
        read(pack([(LIST, text)]))
    assert refused.value.code == "E_BUNDLE"


@pytest.mark.parametrize(
    "name", ["../x", "/etc/passwd", "memories/1/../a.md", "a.md", "history/a.md", "memories/2/a.md", "memories/1/b.md"]
)
def test_a_file_that_is_not_where_a_memory_of_it_would_be_is_refused(name: str) -> None:
    def rename(document: dict[str, Any], files: dict[str, bytes]) -> None:
        row = document["memories"][0]
        files.pop(name, None)
        files[name] = files.pop(row["file"])
        row["file"] = name
        document["memories"] = [row]
        for other in [one for one in files if one not in (name, LIST) and not one.startswith("history/")]:
            files.pop(other)

    with pytest.raises(RefusedError, match="is not where a text of") as refused:
        read(changed(rename))
    assert refused.value.code == "E_BUNDLE"


def test_a_huge_list_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = write(WHOLE)
    monkeypatch.setattr("memtui.features.bundles.bundle.MAX_LIST", 100)
    with pytest.raises(RefusedError, match="has more than 100 bytes"):
        read(data)
    with pytest.raises(RefusedError):
        write(WHOLE)
    monkeypatch.undo()
    monkeypatch.setattr("memtui.features.bundles.bundle.MAX_VERSIONS", 1)
    with pytest.raises(RefusedError):
        read(data)


def test_a_tar_file_of_something_else_is_refused() -> None:
    with pytest.raises(RefusedError, match=r"holds no memtui-bundle\.json"):
        read(pack([("a", b"1")]))


def test_what_cannot_go_along_is_said(tmp_path: Path) -> None:
    here = Machine(tmp_path)
    here.write("a.md", b"one\n")
    (here.folder / os.fsdecode(b"b\xff.md")).write_bytes(b"x")
    (here.folder / "big.md").write_bytes(b"x" * 2_000_000)
    found = collect(here.engine, here.engine.rows.list().items, history=True)
    assert [memory.path for memory in found.bundle.memories] == ["a.md"]
    assert len(found.left) == 2


def test_a_redacted_version_does_not_go_along(tmp_path: Path) -> None:
    here = Machine(tmp_path)
    here.write("a.md", b"secret\n")
    here.write("a.md", b"two\n")
    old = here.engine.history.of(here.at("a.md"))[-1].sha256
    here.engine.redaction.redact(here.at("a.md"), old, reason="a token", actor=ME)
    data = here.export(history=True)
    assert b"secret" not in data
    assert [past.data for past in read(data).memories[0].history] == [b"two\n"]


def test_nothing_is_no_bundle(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        Machine(tmp_path).export()
