"""Names in one folder that can be taken for each other: by a file system that folds case, or by a person's eye.

Without it two files would swap contents on another machine, and a planted name would pass for the one it imitates.
"""

from collections.abc import Sequence

from memtui.engine.disk.paths import fold
from memtui.engine.model import Problem

_SHAPES = str.maketrans(
    # Cyrillic, then Greek, then Armenian and others, folded, beside the Latin letter they are drawn like.
    "аԁеѐёһіїјкӏмпорԛгѕтцԝхухвɡ" + "αβγεηικνορστυχω" + "օսոհցզ" + "ıȷꞵɑꜱʀʏᴏᴜᴠᴡᴢ⁄∕‐‑‒–—−",
    "adeeehiijklmnopqrstuwxyxbg" + "abyenikvopotuxw" + "ounhgq" + "ijbasryouvwz//------",
)


def skeleton(name: str) -> str:
    """The shape of a name: equal for names a person cannot tell apart, whatever alphabets they mix."""
    return fold(name).translate(_SHAPES)


def flags(names: Sequence[str]) -> dict[str, tuple[Problem, ...]]:
    """Find the names of one folder that clash or imitate another.

    Args:
        names: every name in the folder, in any order.

    Returns:
        Problems by name; names without one are left out.
    """
    if "".join(names).isascii():
        lowered = {name.lower() for name in names}
        return {} if len(lowered) == len(names) else _clashes(names)
    found = _clashes(names)
    shapes: dict[str, list[str]] = {}
    for name in names:
        shapes.setdefault(skeleton(name), []).append(name)
    for alike in shapes.values():
        if len({fold(name) for name in alike}) < 2:
            continue
        for name in alike:
            other = next((other for other in alike if fold(other) != fold(name)), None)
            if other is not None and not name.isascii():
                problem = Problem("look-alike", f"It looks like {other!r}, but is written with other letters.")
                found[name] = (*found.get(name, ()), problem)
    return found


def _clashes(names: Sequence[str]) -> dict[str, tuple[Problem, ...]]:
    folded: dict[str, list[str]] = {}
    for name in names:
        folded.setdefault(fold(name), []).append(name)
    return {
        name: (
            Problem(
                "clash",
                f"It differs from {next(other for other in alike if other != name)!r} only by case or Unicode form.",
            ),
        )
        for alike in folded.values()
        if len(alike) > 1
        for name in alike
    }
