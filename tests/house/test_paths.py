"""A save, an outside write and an agent's edit pass few files; what is counted, and how, is in `paths.py`."""

from pathlib import Path

import pytest

from tests.house.paths import STEPS


@pytest.mark.parametrize("name", STEPS)
def test_a_step_passes_no_more_files_than_before(name: str, tmp_path: Path) -> None:
    step = STEPS[name]
    files = step.run(tmp_path)
    assert 5 < len(files) <= step.most, "\n".join(files)
