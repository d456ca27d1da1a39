"""What gives a text away: its lines and its words that are no plain words, looked for in other texts.

A label, a reason or a draft can hold the part of a text for which somebody has it redacted, without being that text.
"""

from collections.abc import Iterable

LEAST = 6
"""Letters of a line or a word that are worth looking for."""
_CUT = 16
"""Letters of a line that are looked for: a label may hold no more of it."""
_MARKS = " \t\r#*->+|`\"'"


class Quotes:
    """Pieces of texts."""

    def __init__(self, pieces: Iterable[str] = ()) -> None:
        """Take what `telling` gave."""
        self._pieces: dict[str, list[str]] = {}
        for piece in pieces:
            self._pieces.setdefault(piece[:LEAST], []).append(piece)

    def within(self, text: str) -> bool:
        """Whether a text holds one of them."""
        return bool(self._pieces) and any(
            text.startswith(piece, start)
            for start in range(len(text) - LEAST + 1)
            for piece in self._pieces.get(text[start : start + LEAST], ())
        )


def telling(text: bytes, others: Iterable[bytes], names: str = "") -> set[str]:
    """What of a text gives it away.

    Args:
        text: the text.
        others: texts that stay: what they have as well says nothing.
        names: names of memories; what is part of one says nothing either.
    """
    import re  # most commands redact nothing

    known = "\n".join([names, *(other.decode("utf-8", "replace") for other in others)])
    read = text.decode("utf-8", "replace")
    found = set()
    for line in {line.strip(_MARKS) for line in read.splitlines()}:
        cut = line[:_CUT].rstrip()
        found.add(line if cut in known else cut)
    words = re.findall(rf"[\w\-./+@]{{{LEAST},}}", read)
    found.update(word for word in words if re.search(r"[\d_/+@]", word))
    return {piece for piece in found if len(piece) >= LEAST and piece not in known}
