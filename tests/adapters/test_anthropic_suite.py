"""The SDK's own tests of its tools on local files, run with ours in their place.

They are fetched from the SDK's published source package in the test run, through the user's own pip, and nothing of
them is kept. Where the package cannot be had, the test is skipped and says why. Cases that reach into their class by
private names are left out here and made again in `test_anthropic.py`.
"""

import os
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

VERSION = "2.10.0"
FILE = "tests/lib/tools/memory_tools/test_filesystem.py"
PRIVATE = {
    "TestBetaLocalFilesystemMemoryTool": (
        "test_read_rejects_symlink_created_after_validation",
        "test_read_rejects_file_replaced_with_symlink_before_open",
        "test_view_rejects_directory_symlink_created_after_validation",
    ),
    "TestBetaAsyncLocalFilesystemMemoryTool": (
        "test_mkdir_parents_not_world_writable_under_permissive_umask",
        "test_validate_path_returns_resolved_path_not_symlink_target",
        "test_read_rejects_symlink_created_after_validation",
        "test_read_rejects_file_replaced_with_symlink_before_open",
        "test_view_rejects_directory_symlink_created_after_validation",
    ),
}
"""Cases that patch `_validate_path`, call `_ensure_memory_root`, or replace `os.open` as only theirs calls it."""
LEFT_OUT, LEFT = 16, 83
"""How many cases that is, and how many there are besides."""
EXCHANGE = """
import anthropic.lib.tools._beta_builtin_memory_tool as theirs
from memtui.adapters.anthropic import AsyncMemoryTool, MemoryTool

theirs.BetaLocalFilesystemMemoryTool = MemoryTool
theirs.BetaAsyncLocalFilesystemMemoryTool = AsyncMemoryTool
"""


def fetch(folder: Path) -> Path:
    """Their test file, in a folder of ours; skips the test when it cannot be had."""
    words = ["--quiet", "--no-deps", "--no-binary", "anthropic", "--dest", str(folder), f"anthropic=={VERSION}"]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pip", "download", *words],
            env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "HOME": user_home()},
            capture_output=True,
            text=True,
            timeout=60,
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"the source package of the SDK {VERSION} could not be fetched within a minute")
    archive = folder / f"anthropic-{VERSION}.tar.gz"
    if done.returncode or not archive.exists():
        pytest.skip(f"the source package of the SDK {VERSION} cannot be had: pip ended with {done.returncode}")
    with tarfile.open(archive) as package:
        member = package.extractfile(f"anthropic-{VERSION}/{FILE}")
        assert member is not None
        file = folder / "test_filesystem.py"
        file.write_bytes(member.read())
    return file


def user_home() -> str:
    """Where the user's own pip configuration is: the test's `HOME` is an empty one."""
    import pwd

    return pwd.getpwuid(os.getuid()).pw_dir


def test_the_sdks_own_tests_pass_with_our_classes(tmp_path: Path) -> None:
    pytest.importorskip("anthropic.tools", reason="the SDK is not installed")
    file = fetch(tmp_path)
    (tmp_path / "conftest.py").write_text(EXCHANGE)
    (tmp_path / "pytest.ini").write_text("[pytest]\nasyncio_mode = auto\n")
    left_out = [f"--deselect={file.name}::{group}::{name}" for group, names in PRIVATE.items() for name in names]
    report = tmp_path / "report.xml"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *left_out, file.name],
        cwd=tmp_path,
        env={**os.environ, "MEMTUI_HOME": str(tmp_path / "home"), "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    suite = next(ElementTree.parse(report).getroot().iter("testsuite"))
    counts = {name: int(suite.get(name, "0")) for name in ("tests", "errors", "failures", "skipped")}
    assert counts == {"tests": LEFT, "errors": 0, "failures": 0, "skipped": 0}
    assert f"{LEFT_OUT} deselected" in done.stdout
