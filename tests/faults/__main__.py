"""`python -m tests.faults [NAME ...]`: run campaigns, print one line for each, and fail when a promise broke."""

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

from tests.faults import (
    erasures,
    injections,
    io_errors,
    kills,
    lanes,
    ledger,
    load,
    observations,
    pages,
    properties,
    stated,
)
from tests.faults.report import Campaign
from tests.races import clients, edits, escapes, locks, outside, versions

CAMPAIGNS: dict[str, Campaign] = {
    "kills": kills.run,
    "lanes": lanes.run,
    "load": load.run,
    "io-errors": io_errors.run,
    "ledger": ledger.run,
    "erasures": erasures.run,
    "pages": pages.run,
    "observations": observations.run,
    "injections": injections.run,
    "escapes": escapes.run,
    "outside": outside.run,
    "edits": edits.run,
    "locks": locks.run,
    "clients": clients.run,
    "versions": versions.run,
    "properties": properties.run,
    **stated.CAMPAIGNS,
}


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which campaigns: {', '.join(CAMPAIGNS)}")
    parser.add_argument("--short", action="store_true", help="a few seconds each, as in CI")
    parser.add_argument("--seed", type=int, default=None, help="try the same things again")
    parser.add_argument("--dir", type=Path, default=None, help="where to work; decides the file system")
    parser.add_argument("--show", type=int, default=10, help="how many broken promises to print in full")
    options = parser.parse_args()
    unknown = set(options.names) - CAMPAIGNS.keys()
    if unknown:
        parser.error(f"no such campaign: {', '.join(sorted(unknown))}")
    seed = options.seed if options.seed is not None else random.randrange(1_000_000)
    failed = False
    for name in options.names or CAMPAIGNS:
        started = time.monotonic()
        with tempfile.TemporaryDirectory(dir=options.dir, prefix="memtui-faults-") as base:
            result = CAMPAIGNS[name](Path(base), options.short, seed)
        print(f"{result.line}  ({time.monotonic() - started:.0f} s)", flush=True)
        for sentence in result.broken[: options.show]:
            print(f"  {sentence}", file=sys.stderr, flush=True)
        failed |= bool(result.broken)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
