"""`python -m tests.hygiene`: precision and recall by family, beside detect-secrets where that is installed.

`MEMTUI_CORPUS=FILE python -m tests.hygiene` also says what is found in an archive of real memories, and how long
it takes.
`python -m tests.hygiene doors` plants a secret of every kind and looks for it at every door, which takes minutes.
detect-secrets is no dependency: `python -m pip install detect-secrets` in an environment of your own brings it.
"""

import os
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from memtui.features.hygiene.scan import scan
from tests.corpus import ARCHIVE
from tests.hygiene.labelled import figures, secrets


def other() -> Callable[[str], bool] | None:
    """What says by detect-secrets, with its own settings, whether a text holds a secret."""
    if find_spec("detect_secrets") is None:
        return None
    collection = import_module("detect_secrets").SecretsCollection
    settings = import_module("detect_secrets.settings").default_settings

    def holds(text: str) -> bool:
        with tempfile.TemporaryDirectory() as folder, settings():
            file = Path(folder) / "memory.md"
            file.write_text(text, "utf-8")
            found = collection()
            found.scan_file(str(file))
            return bool(found.files)

    return holds


def corpus(archive: str, holds: Callable[[str], bool] | None) -> None:
    """Print what of severity E or W an archive holds by family, and the time of each tool in the same run."""
    with tarfile.open(archive) as packed:
        opened = [packed.extractfile(member) for member in packed if member.isfile()]
        texts = [one.read() for one in opened if one is not None]
    began = time.process_time()
    found = [one for data in texts for one in scan(data)]
    ours = time.process_time() - began
    families = Counter(f"{one.rule.id[0]} {one.severity}" for one in found)
    print(f"{len(texts)} real memories, {sum(map(len, texts)):,} bytes: {dict(sorted(families.items()))}, {ours:.2f} s")
    for one in found:
        if one.severity != "I":
            print(f"  {one.rule.id} {one.severity} {one.text}")
    if holds is not None:
        began = time.process_time()
        count = sum(holds(data.decode("utf-8", "replace")) for data in texts)
        theirs = time.process_time() - began
        print(
            f"detect-secrets: {count} of them hold one, {theirs:.2f} s; ours is {ours / theirs:.3f} of it, limit 0.05"
        )


def doors() -> int:
    """Plant one of every kind; 0 where none of it comes out of a verb, a tool or a view."""
    os.environ["MEMTUI_ALL_PLANTS"] = "1"
    return int(pytest.main(["-q", "-p", "no:cacheprovider", "-n", "0", "tests/contract/test_masked_doors.py"]))


def main() -> int:
    """Print the table; 0."""
    if sys.argv[1:] == ["doors"]:
        return doors()
    holds = other()
    print(f"{'':12} {'recall':>14} {'precision':>10} {'innocent with a finding':>24}")
    for name, one in figures().items():
        recall = f"{one.found}/{one.texts} {one.recall:.2f}"
        print(f"{name:12} {recall:>14} {one.precision:>10.2f} {f'{len(one.wrong)}/{one.innocent}':>24}")
        for text in (*one.missed, *one.wrong):
            print(f"  {text!r}")
    if holds is None:
        print("detect-secrets is not installed, so nothing is compared with it.")
    else:
        texts, innocent = secrets()
        found, wrong = sum(holds(text) for _, text in texts), sum(map(holds, innocent))
        print(f"detect-secrets: {found}/{len(texts)} secrets, {wrong}/{len(innocent)} innocent texts")
    if ARCHIVE is not None:
        corpus(ARCHIVE, holds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
