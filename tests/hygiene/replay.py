"""`python -m tests.hygiene.replay [CHECKOUT...]`: how much of what is called outdated is, and how much that lists.

Without a checkout two repositories are made by script, with memories whose truth is known. Of a real one its own
Markdown is looked at: how many paths and names it claims, how many of them are not there now, and what of that is told.
"""

import sys
import tempfile
from collections import Counter
from pathlib import Path

from memtui.engine import Engine, now_ms
from memtui.engine.model import Root
from memtui.features.claims import checkout
from memtui.features.claims.find import finder
from memtui.features.claims.text import PATH, claims
from tests.conftest import START, Clock
from tests.features.claims.test_find_replay import replay


def made_up() -> None:
    """Two repositories of 300 commits: memories beside the first, inside the second."""
    for inside in (False, True):
        with tempfile.TemporaryDirectory(prefix="memtui-replay-") as folder:
            found = replay(Path(folder), Clock(START), inside=inside)
        true = len(found.told & found.stale)
        where = "inside the checkout" if inside else "beside it"
        print(f"made up, {where}: {len(found.lines)} lines, {found.claims} claims, {len(found.stale)} outdated")
        print(f"  told {len(found.told)}, true {true}, share of claims {len(found.told) / found.claims:.3f}")


def real(path: str) -> None:
    """One checkout on this machine; nothing is written there."""
    around = checkout.look(path)
    if around is None:
        print(f"{path}: no checkout, or it cannot be read")
        return
    root = Root("notes", path, read_only=True, in_checkout=True)
    with (
        tempfile.TemporaryDirectory(prefix="memtui-replay-") as folder,
        Engine.open([root], state_dir=folder) as engine,
    ):
        engine.rows.lift_limits()
        rows, names = engine.rows.list().items, (*around.past.names, *around.past.default)
        ends = {name.rstrip("/").rpartition("/")[2] for name in names}
        find, told, count, missing = finder(engine, rows, now_ms()), Counter[str](), 0, 0
        for row in rows:
            data = engine.read_bytes(row.address)
            said = claims(data.decode("utf-8", "replace"), row.address.name, around.past.checkout)
            count += len(said)
            missing += sum(one.kind == PATH and one.name.rpartition("/")[2] not in ends for one in said)
            for one in find(row, data):
                if one.rule.id in ("T01", "T02", "T03", "T04", "T05"):
                    told[one.rule.id] += 1
                    print(f"  {one.rule.id} {row.address.path}:{one.line} {one.text}")
    print(
        f"{path}: {len(rows)} texts, {count} claims, {missing} paths not there now, told {dict(sorted(told.items()))}"
    )


def main(paths: list[str]) -> int:
    """Print the figures; 0."""
    if not paths:
        made_up()
    for path in paths:
        real(str(Path(path).resolve()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
