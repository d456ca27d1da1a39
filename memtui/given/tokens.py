"""How many tokens a text takes, estimated on the high side from its letters alone.

Budgets in tokens must hold for whichever model reads the text, without a network or megabytes of vocabulary on the way
of a one-shot command, and the same text must always count the same. See `docs/context.md` for how far it errs.
"""

_LOWER, _UPPER, _DIGITS = bytes(range(0x61, 0x7B)), bytes(range(0x41, 0x5B)), bytes(range(0x30, 0x3A))
_HIGH = bytes(range(0x80, 0x100))
_FOUR_BYTES = bytes(range(0xF0, 0xF5))
"""First bytes of characters that take four, emoji mostly: vocabularies hold few of them whole."""
_WORD = 20
"""Letters; what goes on longer than this without a space is no word, and falls into small pieces."""


def estimate(text: str) -> int:
    """Estimate the tokens of a text.

    Args:
        text: anything; lone surrogates count like other characters of three bytes.

    Returns:
        A whole number, 0 only for the empty text. Never more than one and a half for each byte.
    """
    data = text.encode("utf-8", "surrogatepass")
    if not data:
        return 0
    ascii_only = data if text.isascii() else data.translate(None, _HIGH)
    kept = len(ascii_only)
    beyond = len(data) - kept
    rest = len(letters := ascii_only.translate(None, _LOWER))
    lower = kept - rest
    upper = rest - len(letters := letters.translate(None, _UPPER))
    numbers = len(letters) - len(letters := letters.translate(None, _DIGITS))
    spaces, lines = letters.count(b" "), letters.count(b"\n")
    signs = len(letters) - spaces - lines
    hundredths = 29 * lower + 60 * upper + 60 * numbers + 75 * signs + 6 * spaces + 100 * lines + 50 * beyond
    if beyond:
        hundredths += 70 * (len(data) - len(data.translate(None, _FOUR_BYTES)))
    hundredths += 30 * sum([len(word) - _WORD for word in ascii_only.split() if len(word) > _WORD])
    return -(-hundredths // 100)
