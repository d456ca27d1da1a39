"""What a real agent sends, beside what `memtui cost --json` says it loads, on fixture homes made of marked texts.

Every `%` in a fixture becomes a marker of its own, so that a request shows which lines of which file it holds, how
often and in which order.
"""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from memtui.agents.layout import slug

HOME, APP = "h/u", "h/u/app"
"""The home folder and a checkout in it, below the fixture's folder."""
MARKER = re.compile(r"mk<(\d+)>")
AT_START = ("", "cut")


class Fixture(NamedTuple):
    """One home, and where a session starts in it."""

    agent: str
    what: str
    files: Mapping[str, str]
    """Path below the fixture's folder to text; `~/` is the home folder, a path without it lies in the checkout, `^/` is
    the fixture's folder itself. `@T@` is the path of the fixture's folder, in a path `@S@` the slug of the checkout. A
    text without a marker gets one."""
    start: str = ""
    """Below the checkout; or like the path of a file."""
    links: Mapping[str, str] = {}
    environ: Mapping[str, str] = {}
    is_checkout: bool = True
    worktree: str = ""
    """Made as a worktree of the checkout."""


class Fact(NamedTuple):
    """One thing that is compared."""

    fixture: Fixture
    what: str
    sent: object
    """What the agent did."""
    said: object
    """What memtui says."""

    @property
    def holds(self) -> bool:
        """Whether the two are equal."""
        return self.sent == self.said


class Laid:
    """A fixture on the disk."""

    def __init__(self, fixture: Fixture, folder: Path) -> None:
        """Write it all."""
        self.fixture, self.folder = fixture, folder
        self.home = folder / HOME
        self.start = (
            self.path(fixture.start or APP[2:])
            if fixture.start.startswith(("~", "^"))
            else folder / APP / fixture.start
        )
        self.markers: dict[Path, list[str]] = {}
        (folder / APP).mkdir(parents=True)
        if fixture.is_checkout:
            self._git("init", "-q")
        if fixture.worktree:
            self._git("commit", "-q", "--allow-empty", "-m", "x")
            self._git("worktree", "add", "-q", "--detach", fixture.worktree)
        number = 0
        for name, text in fixture.files.items():
            path = self.path(name)
            plain = text.replace("@T@", str(folder))
            is_marked = path.suffix not in (".json", ".jsonc", ".toml")
            pieces = (plain if "%" in plain or not is_marked else f"{plain}%\n").split("%")
            marks = [str(number + at) for at in range(len(pieces) - 1)]
            number += len(marks)
            self.write(
                path, "".join(f"{piece}mk<{mark}>" for piece, mark in zip(pieces, marks, strict=False)) + pieces[-1]
            )
            if marks:
                self.markers[path] = marks
        for name, target in fixture.links.items():
            link = self.path(name)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(self.path(target))
        self.start.mkdir(parents=True, exist_ok=True)

    def path(self, name: str) -> Path:
        """Give the place of a path of the fixture."""
        name = name.replace("@S@", slug(str(self.folder / APP)))
        if name.startswith("~/"):
            return self.folder / HOME / name[2:]
        return self.folder / name[2:] if name.startswith("^/") else self.folder / APP / name

    @staticmethod
    def write(path: Path, text: str) -> None:
        """Write a file, with its folders."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    def _git(self, *args: str) -> None:
        who = ("-c", "user.name=x", "-c", "user.email=x@x")
        subprocess.run(("git", *who, *args), cwd=self.folder / APP, check=True, capture_output=True)

    def said(self) -> list[dict[str, object]]:
        """Ask memtui what the agent loads."""
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "MEMTUI_HOME": str(self.folder / "own"),
            "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
            **{name: value.replace("@T@", str(self.folder)) for name, value in self.fixture.environ.items()},
        }
        command = (sys.executable, "-m", "memtui", "cost", "--agent", self.fixture.agent, "--json")
        done = subprocess.run(command, cwd=self.start, env=environ, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"memtui: {done.stderr}")
        items: list[dict[str, object]] = json.loads(done.stdout)["items"]
        return items


def sent_markers(body: str) -> list[str]:
    """Give the markers of a request in the order in which a model reads them: what is for the system comes first."""
    found = json.loads(body)
    system = {name: found.pop(name) for name in ("systemInstruction", "system") if name in found}
    return MARKER.findall(json.dumps([system, found], ensure_ascii=False))


def said_markers(items: Sequence[dict[str, object]]) -> list[tuple[str, str]]:
    """Give the markers of what memtui says is loaded, each with what memtui calls its file."""
    found = []
    for item in items:
        if item["mark"] in AT_START and item["path"]:
            text = loaded_text(Path(str(item["path"])).read_bytes(), item)
            what = "rule" if "/rules/" in str(item["path"]) else str(item["what"])
            found += [(mark, what) for mark in MARKER.findall(text)]
    return found


def loaded_text(data: bytes, item: dict[str, object]) -> str:
    """Give what of a file is loaded, by the numbers that memtui gives: bytes, the line of the cut, what is below it."""
    size, below = int(str(item["bytes"])), int(str(item["below_limits"]))
    if below and "both ends" in str(item["why"]):
        data = data[: size // 2] + data[-(size - size // 2) :]
    elif below:
        line = int(str(item["cut_line"] or 1))
        whole = b"".join(data.splitlines(keepends=True)[: line - 1])
        data = data[:size] if size >= len(whole) else whole
    text = data.decode()
    if size < len(data):  # front matter and comments are dropped
        text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
        text = re.sub(r"^<!--.*?-->\n", "", text, flags=re.DOTALL | re.MULTILINE)
    return text


def compared(laid: Laid, body: str) -> list[Fact]:
    """Compare one request with what memtui says: a fact for each file, and one for the order."""
    sent, said = sent_markers(body), said_markers(laid.said())
    counts, claims = Counter(sent), Counter(mark for mark, _ in said)
    fixture = laid.fixture
    facts = [
        Fact(
            fixture,
            str(path.relative_to(laid.folder)),
            [counts[mark] for mark in marks],
            [claims[mark] for mark in marks],
        )
        for path, marks in laid.markers.items()
    ]
    labels = {mark: what if "rule" in what else mark for mark, what in reversed(said)}
    orders = (_order(marks, labels) for marks in (sent, [mark for mark, _ in said]))
    return [*facts, Fact(fixture, "order", *orders)]


def _order(marks: Sequence[str], labels: Mapping[str, str]) -> list[str]:
    """The order of first appearance; rules of one kind, whose order is that of the file system, count as one."""
    return list(dict.fromkeys(labels.get(mark, mark) for mark in marks))


def rows(facts: Sequence[Fact]) -> list[str]:
    """Say what differs, and how much does not."""
    wrong = [fact for fact in facts if not fact.holds]
    return [
        *(f"  {fact.fixture.what}: {fact.what}: sent {fact.sent}, said {fact.said}"[:1_000] for fact in wrong),
        f"  {len(facts) - len(wrong)} of {len(facts)} facts equal",
    ]
