"""Three texts in, chunks out: where the workbench meets the merge engine."""

from __future__ import annotations

from difflib import SequenceMatcher

from memtui.tui.merge_session import AGENT, CONFLICT, EQUAL, SAME, YOURS, Chunk, Lines, split_lines


def chunks_of(base: bytes, yours: bytes, agent: bytes) -> list[Chunk]:
    """Cut three texts into runs of lines that belong together.

    Args:
        base, yours, agent: raw contents; bytes that are not UTF-8 survive as surrogates.
    """
    texts = [split_lines(text.decode(errors="surrogateescape")) for text in (base, yours, agent)]
    return _chunks(*texts)


def _matches(base: Lines, other: Lines) -> dict[int, int]:
    blocks = SequenceMatcher(None, base, other, autojunk=False).get_matching_blocks()
    return {a + n: b + n for a, b, size in blocks for n in range(size)}


def _chunks(base: Lines, yours: Lines, agent: Lines) -> list[Chunk]:
    in_yours, in_agent = _matches(base, yours), _matches(base, agent)
    anchors = [n for n in range(len(base)) if n in in_yours and n in in_agent]
    chunks: list[Chunk] = []
    b = y = a = 0
    for anchor in [*anchors, len(base)]:
        y_end = in_yours[anchor] if anchor < len(base) else len(yours)
        a_end = in_agent[anchor] if anchor < len(base) else len(agent)
        if b < anchor or y < y_end or a < a_end:
            chunks.append(_chunk(base[b:anchor], yours[y:y_end], agent[a:a_end], b, y, a))
        if anchor < len(base):
            line = (base[anchor],)
            if chunks and chunks[-1].kind == EQUAL:
                last = chunks.pop()
                chunks.append(last._replace(base=last.base + line, yours=last.yours + line, agent=last.agent + line))
            else:
                chunks.append(Chunk(EQUAL, line, line, line, anchor, y_end, a_end))
        b, y, a = anchor + 1, y_end + 1, a_end + 1
    return chunks


def _chunk(base: Lines, yours: Lines, agent: Lines, b: int, y: int, a: int) -> Chunk:
    kind = SAME if yours == agent else AGENT if yours == base else YOURS if agent == base else CONFLICT
    return Chunk(kind, base, yours, agent, b, y, a)
