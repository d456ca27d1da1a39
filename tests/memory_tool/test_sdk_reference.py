"""Random commands get the answers of the SDK's own tool on local files, and leave the same files behind.

Left out, because there that tool is at fault or ours is stricter on purpose: paths that only begin with `/memories`,
that leave the root and come back, or that hold NUL; files that are not UTF-8; deleting or renaming a link; mode bits
after an edit; and what a failure of theirs leaves behind: where it raises an error of the system (below a file, a
folder into itself), ours has to refuse too, and the empty folders it made are taken away again.
"""

import contextlib
import os
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from memtui.memory_tool.call import Result
from tests.examples import examples
from tests.memory_tool.sdk_world import new_sdk_world, tree

pytest.importorskip("anthropic.tools", reason="the SDK is not installed")
from anthropic.lib.tools import ToolError
from anthropic.tools import BetaLocalFilesystemMemoryTool

NAMES = st.sampled_from(["a.md", "b.md", "A.md", "d", "e", ".hidden", "con", "x y", "ü", "a:b?", "link", "dots..md"])
PATHS = st.lists(NAMES, max_size=3).map(lambda names: "/".join(("/memories", *names)))
WRITTEN = st.one_of(
    PATHS,
    PATHS.map(lambda path: path + "/"),
    PATHS.map(lambda path: path.replace("/d", "//d").replace("/e", "/./e")),
    PATHS.map(lambda path: f"{path}/d/.."),
    st.sampled_from(["/memories/..", "/memories/../../etc/passwd", "memories/a.md", "/other", ""]),
)
TEXTS = st.text(st.sampled_from("ab\n\r\t`é\u2028\x0c$&"), max_size=12)
COMMANDS = st.one_of(
    st.fixed_dictionaries({"command": st.just("create"), "path": WRITTEN, "file_text": TEXTS}),
    st.fixed_dictionaries({"command": st.just("create"), "path": PATHS, "file_text": TEXTS}),
    st.fixed_dictionaries(
        {
            "command": st.just("view"),
            "path": WRITTEN,
            "view_range": st.none() | st.lists(st.integers(-2, 6), min_size=1, max_size=3),
        }
    ),
    st.fixed_dictionaries({"command": st.just("str_replace"), "path": WRITTEN, "old_str": TEXTS, "new_str": TEXTS}),
    st.fixed_dictionaries(
        {"command": st.just("insert"), "path": WRITTEN, "insert_line": st.integers(-1, 5), "insert_text": TEXTS}
    ),
    st.fixed_dictionaries({"command": st.just("delete"), "path": WRITTEN}),
    st.fixed_dictionaries({"command": st.just("rename"), "old_path": WRITTEN, "new_path": WRITTEN}),
)


class Both:
    """Ours and theirs, each on a folder of its own with the same files."""

    def __init__(self, base: Path, *, links: bool) -> None:
        self.ours = new_sdk_world(base)
        self.theirs: Any = BetaLocalFilesystemMemoryTool(str(base / "theirs"))
        self.folder = Path(self.theirs.memory_root)
        for folder in (self.ours.folder, self.folder) if links else ():
            (folder / "d").mkdir()
            (folder / "d/b.md").write_text("a\nb\n")
            (folder / "link").symlink_to("d")
            (folder / "d/link").symlink_to("b.md")
            (folder / "e").symlink_to(base)

    def reference(self, fields: dict[str, object]) -> Result | None:
        """What theirs answers; None when it fails in a way that is no answer."""
        try:
            return Result(ok=True, text=self.theirs.execute(SimpleNamespace(**{"view_range": None, **fields})))
        except ToolError as error:
            return Result(ok=False, text=str(error))
        except (OSError, UnicodeError, ValueError, RuntimeError):
            return None

    def step(self, fields: dict[str, object]) -> None:
        """Do a command with both; the answers agree, and so do the files."""
        if self.at_fault(fields):
            return
        expected = self.reference(fields)
        found = self.ours.tool.call(fields)
        if expected is None:
            assert not found.ok, (fields, found)
            self.forget_empty()
            return
        assert sizes_left_out(found) == sizes_left_out(expected), fields
        if fields["command"] == "rename" and not expected.ok:
            self.forget_empty()
        assert tree(self.ours.folder) == tree(self.folder), fields

    def at_fault(self, fields: dict[str, object]) -> bool:
        """Whether theirs is at fault here in a way that changes the files."""
        paths = [str(fields[name]) for name in ("path", "old_path", "new_path") if name in fields]
        if fields["command"] not in ("delete", "rename"):
            return False
        real = [os.path.join(self.folder, os.path.normpath(p.removeprefix("/memories").lstrip("/"))) for p in paths]
        return any(os.path.islink(path.rstrip("/")) for path in real)

    def forget_empty(self) -> None:
        """Take away the empty folders that a failure of theirs left behind."""
        known = tree(self.ours.folder)
        for name in sorted(tree(self.folder).keys() - known.keys(), reverse=True):
            with contextlib.suppress(OSError):
                (self.folder / name).rmdir()


def sizes_left_out(result: Result) -> Result:
    """An answer without the sizes of folders, which depend on what was in them before."""
    if not result.text.startswith("Here're"):
        return result
    lines = [line.split("\t", 1) for line in result.text.split("\n")]
    kept = ["\t".join(["", *rest]) if rest and (rest[0].endswith("/") or n == 1) else "\t".join([first, *rest])
            for n, (first, *rest) in enumerate(lines)]  # fmt: skip
    return result._replace(text="\n".join(kept))


@pytest.mark.parametrize("links", [False, True])
@settings(max_examples=examples(120), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(commands=st.lists(COMMANDS, min_size=1, max_size=12))
def test_the_same_answers_and_the_same_files(links: bool, commands: list[dict[str, object]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        both = Both(Path(folder), links=links)
        with both.ours.engine:
            for fields in commands:
                both.step(fields)
                event(str(fields["command"]))


def test_a_view_range_is_read_as_theirs_reads_it(tmp_path: Path) -> None:
    both = Both(tmp_path, links=False)
    with both.ours.engine:
        both.step({"command": "create", "path": "/memories/a.md", "file_text": "1\n2\n3\n"})
        for first in range(-2, 7):
            for last in range(-3, 7):
                both.step({"command": "view", "path": "/memories/a.md", "view_range": [first, last]})
        for odd in ([], [1], [1, 2, 3]):
            both.step({"command": "view", "path": "/memories/a.md", "view_range": odd})
