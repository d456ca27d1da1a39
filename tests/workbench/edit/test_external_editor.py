"""What the user's own editor saves is saved, guarded; it is a draft where somebody else saved as well."""

from pathlib import Path

import pytest
from textual.pilot import Pilot

from memtui.ui.widgets.lines import Lines
from tests.workbench.workbench import Bench, address, until

WINDOW = """while [ ! -e {folder}/go ]; do sleep 0.02; done
printf 'mine\\ntwo\\n' > "$2"
"""


def bench_on(folder: Path) -> Bench:
    """Two memories, and an editor with a window that saves once there is a file `go`."""
    (folder / "root").mkdir()
    for name in ("a.md", "b.md"):
        (folder / "root" / name).write_bytes(b"one\ntwo\n")
    script = folder / "editor.sh"
    script.write_text(WINDOW.format(folder=folder))
    return Bench(folder, editor_command=f"sh {script} --wait")


async def opened(bench: Bench, pilot: Pilot[None], name: str = "a.md") -> None:
    bench.flow.open(address(name))
    await until(pilot, lambda: bench.flow.address == address(name))


async def test_what_it_saves_is_saved_and_leaves_no_draft(tmp_path: Path) -> None:
    bench = bench_on(tmp_path)
    async with bench.run_test() as pilot:
        await opened(bench, pilot)
        await pilot.press("f4")
        (tmp_path / "go").touch()
        await until(pilot, lambda: bench.path("a.md").read_bytes() == b"mine\ntwo\n")
        await until(pilot, lambda: bench.engine.drafts.all() == () and not bench.editor.dirty)


async def test_beside_what_an_agent_saved_it_is_a_draft(tmp_path: Path) -> None:
    bench = bench_on(tmp_path)
    async with bench.run_test() as pilot:
        await opened(bench, pilot)
        await pilot.press("f4")
        bench.path("a.md").write_bytes(b"theirs\ntwo\n")
        (tmp_path / "go").touch()
        await until(pilot, lambda: [draft.text for draft in bench.engine.drafts.all()] == ["mine\ntwo\n"])
        await until(pilot, lambda: "saved meanwhile" in bench.editor.query_one("#editor-said", Lines).text)
        assert bench.path("a.md").read_bytes() == b"theirs\ntwo\n"


@pytest.mark.parametrize("theirs", [False, True])
async def test_what_it_saves_when_another_memory_is_open_goes_to_its_own(tmp_path: Path, theirs: bool) -> None:
    bench = bench_on(tmp_path)
    async with bench.run_test() as pilot:
        await opened(bench, pilot)
        await pilot.press("f4")
        await opened(bench, pilot, "b.md")
        if theirs:
            bench.path("a.md").write_bytes(b"theirs\ntwo\n")
        (tmp_path / "go").touch()
        await until(pilot, lambda: bool(bench._notifications))
        if theirs:
            await until(pilot, lambda: [draft.text for draft in bench.engine.drafts.all()] == ["mine\ntwo\n"])
        assert [one.message for one in bench._notifications] == [
            "What you saved in your editor is kept as a draft of a.md."
            if theirs
            else "Saved notes/a.md. u takes it back."
        ]
        assert bench.path("a.md").read_bytes() == (b"theirs\ntwo\n" if theirs else b"mine\ntwo\n")
        assert bench.path("b.md").read_bytes() == b"one\ntwo\n"
