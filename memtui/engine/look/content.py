"""What a list says about the text of a memory, judged once each time its bytes change.

It exists so that no row is hidden and no editor opens a file it would damage: what is odd about a text is a reason on
its row, found in one pass that costs a plain file next to nothing.
"""

from typing import NamedTuple

from memtui.engine.frontmatter.read import describe
from memtui.engine.model import Policy, Problem

_VISIBLE = bytes(range(0x20, 0x7F)) + b"\n\t"


class Verdict(NamedTuple):
    """What a row shows of a text."""

    description: str
    problems: tuple[Problem, ...]


def judge(data: bytes, policy: Policy, path: str = "") -> Verdict:
    """Describe a whole file, which has this path below its root, and name what is odd about it."""
    found = describe(data)
    problems = _text_problems(data)
    if found.problem is not None:
        problems.append(found.problem)
    if policy.shown_bytes is not None and len(data) > policy.shown_bytes:
        text = f"It has {len(data):,} bytes; the agent reads up to {policy.shown_bytes:,}."
        problems.append(Problem("over-agent-limit", text))
    if policy.shown_chars:
        problems += _too_long(data, policy, path)
    if b"<<<<<<<" in data and _has_conflict(data):
        problems.append(Problem("conflict-markers", "A merge by git left conflict markers in it."))
    return tuple.__new__(Verdict, (found.description, tuple(problems)))


def _too_long(data: bytes, policy: Policy, path: str) -> list[Problem]:
    limit = policy.limit_of(path)
    if limit is None or len(data) <= limit:
        return []
    # The agents that count characters take blanks off both ends first.
    count = len(data.decode(errors="replace").strip())
    if count <= limit:
        return []
    return [Problem("over-agent-limit", f"It has {count:,} characters; the agent's limit is {limit:,}.")]


def _text_problems(data: bytes) -> list[Problem]:
    if not data.translate(None, _VISIBLE):
        return []
    found = []
    if (position := data.find(0)) >= 0:
        found.append(Problem("E_TEXT", f"It holds a NUL at byte {position:,}, so it is not edited as text."))
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return [Problem("E_TEXT", f"It is not UTF-8 at byte {error.start:,}, so it is not edited as text.")]
    from memtui.safe_text import has_hidden

    if has_hidden(text.removeprefix("\ufeff")):
        found.append(Problem("hidden-characters", "It holds characters that cannot be seen; they are shown as tokens."))
    return found


def _has_conflict(data: bytes) -> bool:
    """Whether the three markers stand at line starts, in order."""
    position = 0
    lined = b"\n" + data
    for marker in (b"\n<<<<<<< ", b"\n=======", b"\n>>>>>>> "):
        position = lined.find(marker, position)
        if position < 0:
            return False
    return True
