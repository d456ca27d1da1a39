"""Memories that look like the answer and are not: pairs of six kinds, and how often each way prefers the right one.

`python -m tests.recall.distractors` prints the table. A request has the words of both; only what is asked for differs.
The right one stands in the middle of a longer text, the wrong one alone, which what counts words by length prefers.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from memtui.engine import Engine
from memtui.engine.model import Root, SearchQuery
from tests.recall.__main__ import ways

ENTITY, ENVIRONMENT, VERSION = "wrong entity", "environment", "version"
STALE, NEAR_DOUBLE, PROJECT = "stale", "near double", "other project"
PAIRS = {
    ENTITY: (
        ("which port does the billing service listen on", "The {} service listens on port {}.", "billing", "orders"),
        ("who reviews changes of the importer", "Changes of the {} are reviewed by {}.", "importer", "exporter"),
        ("where does the mail worker keep its queue", "The {} worker keeps its queue in Redis {}.", "mail", "image"),
        ("rate limit of the search API", "The {} API has a rate limit of {} requests a minute.", "search", "upload"),
        ("which table holds customers", "The table of {} is called t_{} in the warehouse.", "customers", "suppliers"),
        ("how is the iOS app signed", "The {} app is signed with certificate {}.", "iOS", "Android"),
        ("log folder of the scheduler", "The {} writes its log to /var/log/app{}.", "scheduler", "gateway"),
        ("retention of audit events", "Events of kind {} are kept for {} days.", "audit", "metric"),
    ),
    ENVIRONMENT: (
        ("how many replicas does production run", "In {} the web tier runs {} replicas.", "production", "staging"),
        ("database host in staging", "The database host in {} is db-{}.internal.", "staging", "production"),
        ("how often are backups taken in production", "In {} backups are taken every {} h.", "production", "staging"),
        ("log level in development", "The log level in {} is set by LOG{}.", "development", "production"),
        ("which bucket does the preview use", "Uploads of {} go to bucket up-{}.", "preview", "production"),
        ("feature flags on the test system", "On the {} system flags come from file {}.", "test", "live"),
        ("memory limit on CI", "On {} the memory limit is {} GB.", "CI", "laptops"),
        ("who may deploy to staging", "Deploys to {} are allowed for group {}.", "staging", "production"),
    ),
    VERSION: (
        ("flag for modules with Node 22", "With Node {} modules need flag -{}.", "22", "18"),
        ("how to build with Python 3.12", "Build with Python {}: run make py{}.", "3.12", "3.9"),
        ("pagination in API v3", "In API v{} pages are asked for by cursor {}.", "3", "2"),
        ("postgres 16 settings", "For postgres {} use settings file pg{}.", "16", "13"),
        ("migrating from schema 7", "From schema {} run migration script {}.", "7", "5"),
        ("react 19 test setup", "Tests with react {} use setup {}.", "19", "17"),
        ("terraform 1.9 state lock", "The state lock of terraform {} is table {}.", "1.9", "0.12"),
        ("Java 21 garbage collector", "On Java {} we use collector {}.", "21", "11"),
    ),
    STALE: (
        ("on which day do releases go out now", "{} releases go out on weekday {}.", "Now", "Until March"),
        ("current code owner of payments", "{} code owner of payments: team {}.", "Current", "Former"),
        ("where is the wiki today", "{} the wiki is at host {}.", "Today", "Formerly"),
        ("which linter do we use now", "{} we use linter number {}.", "Now", "In the past"),
        ("present minimum coverage", "{} minimum coverage is {} percent.", "Present", "Old"),
        ("current on-call rotation", "{} on-call rotation: list {}.", "Current", "Last year's"),
        ("which package manager now", "{} our package manager is number {}.", "Now", "Before the move"),
        ("today's freeze window", "{} freeze window begins at {} h.", "Today's", "The abolished"),
    ),
    NEAR_DOUBLE: (
        ("timeout of uploads", "The timeout of {} is {} seconds.", "uploads", "downloads"),
        ("maximum size of a message", "The maximum size of a {} is {} KB.", "message", "header"),
        ("retries of reads", "Retries of {}: {} at most.", "reads", "writes"),
        ("how long are sessions kept", "We keep {} for {} days.", "sessions", "tokens"),
        ("indent of YAML", "The indent of {} is {} blanks.", "YAML", "JSON"),
        ("workers for tests", "Use {1} workers for {0}.", "tests", "builds"),
        ("cache of images", "The cache of {} holds {} entries.", "images", "fonts"),
        ("length of a branch name", "The length of a {} name is at most {}.", "branch", "tag"),
    ),
    PROJECT: (
        ("how do we run migrations", "We run migrations with tool {1}.", "", ""),
        ("where are fixtures kept", "Fixtures are kept in folder f{1}.", "", ""),
        ("which formatter do we use", "We use formatter {1}.", "", ""),
        ("how are commits written", "Commits are written in style {1}.", "", ""),
        ("naming of branches", "The naming of branches follows scheme {1}.", "", ""),
        ("how do we handle errors", "We handle errors as page {1} says.", "", ""),
        ("line length", "The line length is {1}.", "", ""),
        ("default branch", "The default branch is number {1}.", "", ""),
    ),
}
"""Of each kind: what is asked, the sentence, and what is in its first gap: of the right memory, of the wrong one."""


AROUND = (
    "Somebody wrote this after a long meeting, and it has been true ever since.\n" * 3,
    "Nobody has found a better way yet; ask before you change it, and say why.\n" * 3,
)
"""What stands before and after the sentence of a right memory."""


class Pair(NamedTuple):
    """One request with two memories, by their paths."""

    query: str
    kind: str
    right: str
    wrong: str


@contextmanager
def made(folder: Path) -> Iterator[tuple[Engine, list[Pair]]]:
    """Write all pairs, two projects of them, and open an engine that has the first one's as its own project."""
    pairs, number = [], 0
    for kind, rows in PAIRS.items():
        for query, sentence, *gaps in rows:
            paths = []
            for place, gap in enumerate(gaps):
                number += 1
                root = "other" if kind == PROJECT and place else "app"
                path = folder / "corpus" / root / f"m{(number * 37) % 101:03}.md"  # no order of names helps
                path.parent.mkdir(parents=True, exist_ok=True)
                before, after = ("", "") if place else AROUND
                path.write_text(f"{before}{sentence.format(gap, 100 + number)}\n{after}")
                paths.append(f"{root}/{path.name}")
            pairs.append(Pair(query, kind, *paths))
    roots = [Root(f"files:{name}", str(folder / "corpus" / name), scope="project") for name in ("app", "other")]
    with Engine.open(roots, state_dir=str(folder / "state")) as engine:
        engine.search.find(SearchQuery("memory"))
        yield engine, pairs


def preferred(folder: Path) -> dict[str, dict[str, float]]:
    """Of each way and kind, the share of requests whose right memory comes before the wrong one."""
    with made(folder) as (engine, pairs):
        return {
            title: {
                kind: sum(_first(way(one.query), one) for one in pairs if one.kind == kind) / len(PAIRS[kind])
                for kind in PAIRS
            }
            for title, way in ways(engine, folder).items()
        }


def _first(found: list[str], pair: Pair) -> bool:
    return pair.right in found and (pair.wrong not in found or found.index(pair.right) < found.index(pair.wrong))


def main() -> None:
    """Print a row for each way."""
    with tempfile.TemporaryDirectory() as name:
        shares = preferred(Path(name))
    print(f"{'':20}  " + "  ".join(PAIRS))
    for title, kinds in shares.items():
        print(f"{title:20}  " + "  ".join(f"{kinds[kind]:{len(kind)}.2f}" for kind in PAIRS))


if __name__ == "__main__":
    main()
