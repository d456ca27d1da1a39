"""The page is written by a module that can be run."""

import subprocess
import sys

from memtui.cli.help import commands_page


def test_the_page_is_printed() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "memtui.cli.reference"], capture_output=True, text=True, timeout=30, check=True
    )
    assert done.stdout == commands_page()
