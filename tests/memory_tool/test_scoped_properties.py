"""Any sequence of calls agrees with a simple model; no path leaves the root; any text comes back as it was."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memtui.memory_tool.call import COMMANDS, REQUIRED
from tests.examples import examples
from tests.memory_tool.conftest import GLOBAL, Tool, open_tool

NAMES = ("a", "b", "a/b", "a/b/c", "b/a", "c/a/b")
TEXTS = st.text(alphabet="ab\n\r é", max_size=12)
ANY = st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=200)


class Model:
    """Files by path; folders are there as long as a file is in them."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}

    def folder(self, path: str) -> bool:
        return any(name.startswith(path + "/") for name in self.files)

    def blocked(self, path: str) -> bool:
        """Whether a file is where a folder would have to be."""
        parts = path.split("/")
        return any("/".join(parts[:count]) in self.files for count in range(1, len(parts)))

    def create(self, path: str, text: str) -> bool:
        if path in self.files or self.folder(path) or self.blocked(path):
            return False
        self.files[path] = text
        return True

    def str_replace(self, path: str, old: str, new: str) -> bool:
        if path not in self.files or not old:
            return False
        text = self.files[path]
        if text.count("\n") == text.count("\r\n") > 0:
            new = new.replace("\r\n", "\n").replace("\n", "\r\n")
            old = old if "\r" in old or old in text else old.replace("\n", "\r\n")
        if sum(text.startswith(old, at) for at in range(len(text))) != 1:
            return False
        self.files[path] = text.replace(old, new, 1)
        return True

    def insert(self, path: str, line: int, text: str) -> bool:
        if path not in self.files:
            return False
        lines = self.files[path].split("\n")
        if line > (len(lines) if self.files[path] else 0):
            return False
        added = text.removesuffix("\n").split("\n") if text else []
        if added and self.files[path].count("\n") == self.files[path].count("\r\n") > 0:
            added = [one.removesuffix("\r") + "\r" for one in added]
            if line == len(lines):
                lines[-1] += "\r"
                added[-1] = added[-1][:-1]
        self.files[path] = "\n".join(lines[:line] + added + lines[line:])
        return True

    def delete(self, path: str) -> bool:
        gone = [name for name in self.files if name == path or name.startswith(path + "/")]
        for name in gone:
            del self.files[name]
        return bool(gone)

    def rename(self, old: str, new: str) -> bool:
        moved = [name for name in self.files if name == old or name.startswith(old + "/")]
        taken = new in self.files or self.folder(new) or self.blocked(new)
        if not moved or taken or new == old or new.startswith(old + "/"):
            return False
        for name in moved:
            self.files[new + name[len(old) :]] = self.files.pop(name)
        return True


PATHS = st.sampled_from(NAMES)
CALLS = st.one_of(
    st.tuples(st.just("create"), PATHS, TEXTS),
    st.tuples(st.just("str_replace"), PATHS, TEXTS, TEXTS),
    st.tuples(st.just("insert"), PATHS, st.integers(0, 4), TEXTS),
    st.tuples(st.just("delete"), PATHS),
    st.tuples(st.just("rename"), PATHS, PATHS),
)
FIELDS = REQUIRED | {"str_replace": ("path", "old_str", "new_str")}


@pytest.fixture(scope="module")
def shared() -> Iterator[Tool]:
    """One tool for all examples; each empties what the one before left."""
    with tempfile.TemporaryDirectory() as base:
        tool = open_tool(Path(base) / "world")
        with tool.engine:
            yield tool


def emptied(tool: Tool) -> Tool:
    shutil.rmtree(tool.folder(), ignore_errors=True)
    return tool


@settings(max_examples=examples(120), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(calls=st.lists(CALLS, max_size=14))
def test_any_sequence_agrees_with_the_model(calls: list[tuple[object, ...]], shared: Tool) -> None:
    tool, model = emptied(shared), Model()
    for command, *values in calls:
        name = str(command)
        fields = dict(zip(FIELDS[name], values, strict=True))
        call = {key: f"{GLOBAL}/{value}" if key.endswith("path") else value for key, value in fields.items()}
        assert tool(name, **call).ok is getattr(model, name)(*values), (name, values, model.files)
    assert {k: v for k, v in tool.on_disk().items() if v is not None} == {
        f"global/{path}": text.encode() for path, text in model.files.items()
    }
    folders = {"global/" + "/".join(path.split("/")[:n]) for path in model.files for n in range(1, path.count("/") + 1)}
    assert {k for k, v in tool.on_disk().items() if v is None} - {"global"} == folders
    for path, text in model.files.items():
        shown = tool.done("view", path=f"{GLOBAL}/{path}")
        assert "\n".join(line.partition("\t")[2] for line in shown.split("\n")) == text


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=ANY | st.text(alphabet="\r\n\ufeffa\u2028\x85", max_size=40))
def test_any_text_comes_back_as_it_was(text: str, shared: Tool) -> None:
    tool = emptied(shared)
    path = f"{GLOBAL}/text.md"
    tool.done("create", path=path, file_text=text)
    assert (tool.folder() / "text.md").read_bytes() == text.encode()
    shown = tool.done("view", path=path)
    if "\0" not in text:
        assert "\n".join(line.partition("\t")[2] for line in shown.split("\n")) == text
        tool.done("str_replace", path=path, old_str=text or "?", new_str=text + "!") if text else None
        assert (tool.folder() / "text.md").read_bytes() == (text + "!" if text else text).encode()


SECRET = "0d9f-what-lies-outside"
PIECES = st.sampled_from([
    "", " ", "\n", "\x00", "\u202e", "\udcff", "\u2025", "\uff0e\uff0e", "a" * 256, "/memories", "..", ".", "...",
    "../..", "~", "a", "etc", "passwd", "%2e%2e", "..%2f", "\\..", "link", "loop", ".git", "global", "-rf", "canary",
])  # fmt: skip
HOSTILE = st.one_of(
    st.lists(PIECES, max_size=6).map(lambda parts: f"{GLOBAL}/" + "/".join(parts)),
    st.lists(PIECES, max_size=6).map("/".join),
    st.text(max_size=40).map(lambda text: f"{GLOBAL}/{text}"),
    st.text(max_size=40),
)


@settings(max_examples=examples(250), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(path=HOSTILE, other=HOSTILE, command=st.sampled_from(COMMANDS))
def test_no_path_leaves_the_root(path: str, other: str, command: str, shared: Tool) -> None:
    tool = emptied(shared)
    tool.folder().mkdir(parents=True)
    canary = tool.base / "canary"
    canary.write_text(SECRET)
    (tool.folder() / "link").symlink_to(tool.base)
    (tool.folder() / "loop").symlink_to(tool.folder())
    outside = {p.name for p in tool.base.iterdir()}
    values: dict[str, object] = {
        "path": path, "old_path": path, "new_path": other, "file_text": "x", "old_str": SECRET, "new_str": "dead",
        "insert_line": 0, "insert_text": "dead",
    }  # fmt: skip
    result = tool(command, **{name: values[name] for name in FIELDS[command]})
    assert canary.read_text() == SECRET
    assert {p.name for p in tool.base.iterdir()} == outside
    assert [p.name for p in (tool.base / "roots").iterdir()] == ["global"]
    assert (tool.folder() / "link").is_symlink()
    result.text.encode()
    assert str(tool.base) not in result.text.replace(path, "").replace(other, "")
    assert result.text
    assert SECRET not in result.text
