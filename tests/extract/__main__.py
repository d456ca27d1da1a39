"""Print how many of the proposals of the labelled turns are right, by rule, read from the sessions of four agents."""

import os
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from memtui.config.read import load_settings
from memtui.features.extract.work import CONFIDENCE, Extraction, by_rules, collect
from memtui.features.tasks.work import task_context
from memtui.wire.session import Options, open_session
from tests.extract.sessions import AGENTS, write
from tests.extract.turns import LabelledTurn, labelled

COMMON = "Work on the next step."


class Precision:
    """What came of it."""

    def __init__(self, turns: Sequence[LabelledTurn], proposed: Sequence[tuple[str, str]]) -> None:
        """Take what was said, and of each proposal the rule and the quote."""
        self.right: Counter[str] = Counter()
        self.made: Counter[str] = Counter()
        self.wrong: list[tuple[str, str]] = []
        self.missed = []
        quotes = [quote for _, quote in proposed]
        for rule, quote in proposed:
            worth = any(turn.worth and quote in turn.text for turn in turns)
            self.made[rule] += 1
            self.right[rule] += worth
            self.wrong += [] if worth else [(rule, quote)]
        for turn in turns:
            if turn.worth and not any(quote in turn.text for quote in quotes):
                self.missed.append(turn.text)
        self.worth = sum(turn.worth for turn in turns)

    def of(self, *rules: str) -> float:
        """The share of proposals that are right; of all rules when none is given."""
        chosen = rules or tuple(self.made)
        return sum(self.right[rule] for rule in chosen) / max(1, sum(self.made[rule] for rule in chosen))


def measure(base: Path) -> Precision:
    """Write the sessions below a folder, and look through them."""
    home, work = base / "home", base / "work"
    work.mkdir(parents=True)
    turns = labelled()
    for number, turn in enumerate(turns):
        before = [("user", COMMON), ("agent", "Done.")] if turn.answers else []
        agent = AGENTS[number % 4]
        write(agent, home, str(work.resolve()), f"s{number}", [*before, ("user", turn.text)])
    environ = {"HOME": str(home), "MEMTUI_HOME": str(base / "memtui"), "PATH": os.environ["PATH"]}
    settings = load_settings(environ)._replace(transcripts_read="all")
    before_here = os.getcwd()
    os.chdir(work)
    try:
        session = open_session(settings, Options(), lock_wait=5)
    finally:
        os.chdir(before_here)
    with session.engine:
        where = task_context(session, settings)
        collected = collect(where)
        typed = sum(turn.event.role == "user" for turn in collected.turns)
        assert typed == len(turns) + sum(turn.answers for turn in turns)
        extraction = Extraction(where, collected)
        by_rules(extraction)
    return Precision(turns, [(one.by.removeprefix("rule:"), one.evidence[0].quote) for one in extraction.made])


def main() -> None:
    """Measure, and print."""
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Path(folder))
    print(f"300 turns, {found.worth} worth keeping, {found.made.total()} proposed, {len(found.missed)} missed")
    for rule in CONFIDENCE:
        print(f"{rule:<12}{found.right[rule]:>4} of {found.made[rule]:>4} right  {found.of(rule):.2f}")
    print(f"{'all':<12}{found.right.total():>4} of {found.made.total():>4} right  {found.of():.2f}")
    for rule, quote in found.wrong:
        print(f"  wrong, {rule}: {quote}")


if __name__ == "__main__":
    main()
