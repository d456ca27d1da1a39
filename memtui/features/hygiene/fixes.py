"""Fixes of findings as replaced bytes, and where a fixed secret still is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memtui.engine.model import Address
from memtui.errors import MemtuiError
from memtui.features.hygiene.doubles import removable, repeated_entries
from memtui.features.hygiene.model import Hazard
from memtui.mask import BEGIN
from memtui.ui.draw.words import count_words

if TYPE_CHECKING:
    from memtui.engine import Engine

LABELS = {
    "mask": "take it out, and leave [removed] there",
    "strip": "take out the characters",
    "cut": "cut it",
    "set": "say what is so now",
}
_KEPT = {"H02": re.compile(r"[^\u202A-\u202E\u2066-\u2069]+"), "H06": re.compile(r"[\r\u2028\u2029]")}
"""What is kept of the match: text between direction marks, and line ends in another spelling."""
_MAX_VERSIONS = 100


def fix_edit(engine: Engine, address: Address, data: bytes, one: Hazard) -> tuple[int, int, bytes] | None:
    """Return start, end and replacement of a fix in `data`; None where a person has to decide."""
    kind, start, end = one.rule.fix, one.start, one.end
    if kind == "mask":
        return start, end, f"[removed: {one.text.removeprefix(BEGIN).rstrip(']')}]".encode()
    if kind == "strip":
        kept = _KEPT.get(one.rule.id)
        text = data[start:end].decode("utf-8", "surrogateescape")
        new = "".join(kept.findall(text)) if kept else ""
        return start, end, (new if one.rule.id == "H02" else "\n" * len(new)).encode("utf-8", "surrogateescape")
    if kind == "set" and one.new is not None:
        return start, end, one.new.encode("utf-8", "surrogateescape")
    if kind != "cut":
        return None
    if one.rule.id == "D03":
        file = removable(engine.roots.find(address.root), engine.rows.get(address), data)
        left = repeated_entries(engine.roots.find(address.root), file)[1] if file is not None else b""
        return (0, len(data), left) if left else None
    if one.rule.id == "H07":
        return start, end, b""
    line_end = data.find(b"\n", max(start, end - 1))
    return data.rfind(b"\n", 0, start) + 1, len(data) if line_end < 0 else line_end + 1, b""


def remaining_copies(engine: Engine, address: Address, value: bytes) -> tuple[str, ...]:
    """Return sentences about the places where a removed secret still is."""
    count = 0
    for version in engine.history.of(address)[:_MAX_VERSIONS]:
        try:
            count += value in engine.history.read(address, version.sha256)
        except MemtuiError:
            continue  # redacted, or not kept: it is not there
    count = max(count, 1)  # what is written over is kept
    until = "that is" if count == 1 else "they are"
    said = [f"It stays in {count_words(count, 'version')} of its history until {until} redacted: H, d r."]
    if engine.rows.get(address).trust:
        said.append("It stays in git where it was committed.")
    return (*said, "Change the secret itself, where it is used.")
