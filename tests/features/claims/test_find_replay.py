"""Two repositories of hundreds of commits, and memories written along the way: what is told is true."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from memtui.engine.model import Address
from memtui.features.claims.text import claims
from tests.conftest import Clock
from tests.features.claims.repository import DAY, ME, findings, open_engine, repository

COMMITS = 300
_WORDS = ("api", "auth", "billing", "cache", "config", "db", "events", "jobs", "mail", "queue", "routes", "tasks")


class History:
    """A project that changes; a line that is written claims what is there then, or what never was."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.now: dict[str, str] = {}
        self.scripts, self.major = {"test", "lint"}, 4
        self.gone: set[str] = set()
        """What lines claimed that was once true and is not."""

    def commit(self) -> dict[str, str | None]:
        chance = self.random.random()
        if chance < 0.06 and len(self.now) > 30:
            old = self.random.choice(sorted(self.now))
            changed: dict[str, str | None] = {old: None}
            if self.random.random() < 0.4:  # it moves as it is
                changed[self._new()] = self.now[old]
        elif chance < 0.55 or len(self.now) < 40:
            changed = {self._new(): f"{self.random.random()}\n"}
        else:
            changed = {self.random.choice(sorted(self.now)): f"{self.random.random()}\n"}
        if self.random.random() < 0.02:
            self.scripts ^= {self.random.choice(("build", "e2e", "docs"))}
        if self.random.random() < 0.006:
            self.major += 1
        names = ", ".join(f'"{one}": "x"' for one in sorted(self.scripts))
        changed["package.json"] = f'{{"scripts": {{{names}}}, "dependencies": {{"left-pad": "^{self.major}.0.1"}}}}'
        for path, text in changed.items():
            if text is None:
                del self.now[path]
            elif path != "package.json":
                self.now[path] = text
        return changed

    def _new(self) -> str:
        folder = "/".join(self.random.choices(_WORDS, k=self.random.randint(1, 3)))
        name = f"src/{folder}/{self.random.choice(_WORDS)}{self.random.randint(0, 99)}.py"
        return name if name not in self.now else self._new()

    def memory(self) -> list[str]:
        """Write lines, each about one thing."""
        paths = self.random.sample(sorted(self.now), 6)
        lines = [f"- Look at `{path}` first." for path in paths[:4]]
        lines += [f"- {paths[4]}:12 has the limits, see {paths[5].partition('/')[2]} too."]
        lines += [f"- Run `npm run {self.random.choice(sorted(self.scripts))}` before a push."]
        lines += [f"- We are on left-pad@{self.major}.0.1 here."]
        lines += [
            "- Put plugins into `src/plugins/never.py`.",
            "- Try `npm run never`, or and/or https://a.b/src/c.py.",
        ]
        lines += [f"- `{self.random.choice(sorted(self.now))}` was removed.", "- Use left-pad@99 on Windows."]
        return lines

    def stale(self, line: str) -> bool:
        """Whether a line of those claims what is no more."""
        told = line.replace("`", " ").replace(":12", "").replace(",", " ").rstrip(".").split()
        if "was" in told or "never" in line or "@99" in line:
            return False
        if "npm" in told:
            return told[told.index("run") + 1] not in self.scripts
        if "left-pad@" in line:
            return f"@{self.major}." not in line
        paths = [word for word in told if word.endswith(".py")]
        return any(not any(one.endswith(path) for one in self.now) for path in paths)


def moments(start: int) -> Iterator[int]:
    return iter(range(start, start + COMMITS * DAY, DAY))


class Replayed(NamedTuple):
    """Lines by file and number."""

    lines: frozenset[tuple[str, int]]
    stale: frozenset[tuple[str, int]]
    told: frozenset[tuple[str, int]]
    claims: int
    """How many things these lines claim; a line may claim several."""


def replay(tmp_path: Path, clock: Clock, *, inside: bool) -> Replayed:
    """Make a repository and memories along its way, and say what is found a month behind its end."""
    past = History(20 + inside)
    commits: list[tuple[int, dict[str, str | None]]] = []
    texts: dict[str, list[str]] = {}
    written: list[tuple[int, str]] = []
    for number, at in enumerate(moments(clock())):
        commits.append((at, past.commit()))
        if number >= 45 and number % 12 == 0:
            name = f"docs/note{number}.md"
            texts[name] = past.memory()
            written.append((at + DAY // 2, name))
            if inside:
                commits.append((at + DAY // 2, {name: "\n".join(texts[name]) + "\n"}))
    project = repository(tmp_path / "app", commits)
    with open_engine(tmp_path, clock, project, inside=inside) as engine:
        if not inside:
            for at, name in written:
                clock.now = at
                data = ("\n".join(texts[name]) + "\n").encode()
                engine.memories.create(Address("notes", name), data, actor=ME)
        clock.now = commits[-1][0] + 30 * DAY
        told = {place for place, found in findings(engine, clock()).items() if found[0].rule.severity == "W"}
    lines = {(name, number): line for name, found in texts.items() for number, line in enumerate(found, 1)}
    stale = {place for place, line in lines.items() if past.stale(line)}
    said = sum(len(claims("\n".join(found), name, str(project))) for name, found in texts.items())
    return Replayed(frozenset(lines), frozenset(stale), frozenset(told), said)


@pytest.mark.parametrize("inside", [False, True])
def test_what_is_told_is_true_and_little(tmp_path: Path, clock: Clock, inside: bool) -> None:
    found = replay(tmp_path, clock, inside=inside)
    assert len(found.stale) >= 8
    assert found.told == found.stale
    assert len(found.told) <= 0.055 * found.claims
