"""Every folder of the archive as people committed it: what no root shows there, and looks like memories, is named."""

from pathlib import Path

import pytest

from memtui.agents.discovery import discover
from memtui.features.memories.unseen import look
from tests.agents.machine import Machine
from tests.corpus import ARCHIVE, journey

NAMED = {
    "717986230--openclaw-workspace": {"717986230--openclaw-workspace": "openclaw"},
    "KitTheFox123--workspace": {"memory": ""},
    "LumenBot--LobsterOps": {"memory": ""},
    "bitwikiorg--continuity": {"bitwikiorg--continuity": "openclaw"},
    "doudouqie66--CommonTools": {".codex/memories": "codex"},
    "golaunchmate--memories": {"golaunchmate--memories": "letta"},
    "ractive--ff-rdp": {"kb/.claude/agent-memory": "claude-code"},
}
"""By folder: what is named there, and whose layout it seems to follow; of the others every memory is in a root."""


@pytest.mark.skipif(ARCHIVE is None, reason="MEMTUI_CORPUS names no archive of memory files")
def test_no_folder_that_looks_like_memories_goes_unnamed(home: Path, tmp_path: Path) -> None:
    machine = Machine(home, tmp_path)
    found = {}
    for folder in journey.unpack(Path(ARCHIVE or ""), tmp_path / "folders"):
        (folder / ".git").mkdir()
        around = machine.surroundings(str(folder))
        seen = look(around, discover(around))
        assert seen.ended == ""
        if seen.folders:
            found[folder.name] = {one.name: one.agent for one in seen.folders}
    assert found == NAMED
