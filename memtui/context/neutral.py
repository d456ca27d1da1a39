"""Hostile text made inert for a prompt: nothing in a name, a description or a memory can end the block it stands in.

What an agent is given has tags of ours around text of anybody's. Tags that look like ours, or like the ones that mark
who speaks, get their first sign escaped, however they are spelled; hidden characters become visible tokens. All else
stays as it is, so that code and prose survive.
"""

from __future__ import annotations

from memtui.safe_text import visible
from memtui.values import TYPE_CHECKING

if TYPE_CHECKING:
    import re

INDEX_TAG, HOT_TAG, FILE_TAG = "memory_index", "hot_memories", "memory_file"

_OURS = tuple(tag.replace("_", "") for tag in (INDEX_TAG, HOT_TAG, FILE_TAG))
_SPEAKERS = frozenset(
    (
        *("system", "systemreminder", "systemprompt", "systemmessage", "sys", "inst", "assistant", "human"),
        *("userprompt", "toolresult", "toolresults", "tooluse", "toolcall", "toolcalls", "functioncall"),
        *("functioncalls", "functionresult", "functionresults", "invoke", "antthinking", "cdata"),
    )
)
"""Tags by which prompts mark who speaks or what a tool said, without their `_` and `-`."""
_AT_LINE_STARTS = frozenset(("user", "developer", "instructions", "parameter", "thinking"))
"""More of them, which are also common words for something to fill in: only as a closing tag, or where a line starts."""

_LIKE_LESS = "＜﹤‹〈⟨〈《⟪«❮❰❬⟬˂ᐸᗏ≺⋖≮⧼𝈶˂𐒷⪡«"
"""Signs a reader, or a normal form, takes for `<`."""
_OPENERS = frozenset("<[&\\%" + _LIKE_LESS)
_BLANK_LETTERS = "\u115f\u1160\u3164\uffa0"
"""Letters to Unicode that draw nothing."""
_NO_BLANKS = dict.fromkeys(map(ord, _BLANK_LETTERS))
_SLASHES = "/\\⁄∕／⧸╱⟋|｜!?"
_CLOSERS = ">＞﹥›〉⟩〉》⟫»❯❱❭⟭˃ᐳ≻"
_HEAD = 24
"""Letters of a tag's name that are looked at."""

_ESCAPED = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_NEEDS_CARE = frozenset('&<>"[]\\%')

_compiled: list[re.Pattern[str]] = []


def line(text: str) -> str:
    """Make a name or a description inert on one line: entities for markup, tokens for what is hidden, no live link."""
    if text.isascii() and text.isprintable() and _NEEDS_CARE.isdisjoint(text):
        return text
    text = _defused(text, known="<&")
    for sign, entity in _ESCAPED.items():
        text = text.replace(sign, entity)
    return visible(text).replace("](", "] (").replace("][", "] [")


def body(text: str) -> str:
    """Make a memory's text inert between tags; line ends become line feeds, tabs stay, a byte-order mark goes."""
    text = _defused(text.removeprefix("\ufeff"))
    start = text.rfind("<!--")
    if start >= 0 and text.find("-->", start) < 0:  # a comment without end would hide what follows
        text = f"{text[:start]}&lt;{text[start + 1 :]}"
    return visible(text, keep_newlines=True, keep_tabs=True)


def _defused(text: str, known: str = "") -> str:
    """Escape the first sign of every tag that could be taken for structure.

    Args:
        text: anything.
        known: first signs to leave alone, because the caller escapes all of them.
    """
    openers = _OPENERS.difference(known)
    if openers.isdisjoint(text):
        return text
    opener, letters, name = _patterns()
    pieces: list[str] = []
    end = 0
    for match in opener.finditer(text):
        sign = match.group()
        if sign[0] in known:
            continue
        head = letters.match(text, match.end())
        if head is None or not _is_structure(text, match.start(), sign, head.group(), name):
            continue
        pieces += (text[end : match.start()], _escaped(sign))
        end = match.end()
    return "".join((*pieces, text[end:])) if pieces else text


def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """What begins a tag in any spelling; its next letters, whatever hides between them; a name and what precedes it."""
    if not _compiled:
        import re

        # Openers are no gap, so that no stretch of text is gone over twice.
        gap = rf"(?:[^\w<\[{_LIKE_LESS}]|[_{_BLANK_LETTERS}])"
        letter = rf"[^\W_{_BLANK_LETTERS}]"
        entity = r"&(?:amp;)*+(?:lt|#0*+60(?![0-9])|#x0*+3c(?![0-9a-f])|lbrack|#0*+91(?![0-9])|#x0*+5b(?![0-9a-f]));?"
        coded = r"(?<!\\)\\++(?:(?:u00|u\{0*+|x)(?:3c|5b)\}?|0?74)|%(?:25)*+(?:3c|5b)"
        _compiled.append(re.compile(rf"[<\[{_LIKE_LESS}]|{entity}|{coded}", re.IGNORECASE))
        _compiled.append(re.compile(rf"(?:{gap}*+{letter}){{1,{_HEAD}}}+"))
        _compiled.append(re.compile(rf"(\s*)([{re.escape(_SLASHES)}\[]*)(\s*)([^\W_][\w:.-]*)"))
    opener, letters, name = _compiled
    return opener, letters, name


def _is_structure(text: str, start: int, sign: str, head: str, name: re.Pattern[str]) -> bool:
    """Whether what follows an opening sign names a tag of ours, or one that marks a speaker."""
    bracket = sign == "[" or sign.lower().endswith(("5b", "5b;", "91", "91;", "lbrack", "lbrack;"))
    shape = _shape(head)
    if shape.startswith(_OURS):
        return not bracket or any(slash in head.split(shape[0], 1)[0] for slash in "/\\⁄∕／⧸")
    found = name.match(_without_hidden(head))
    if found is None:
        return False
    before, slashes, between, word = found.groups()
    known = _shape(word)
    if bracket:
        return not before and not between and known in ("inst", "sys", "system", "systemmessage", "cdata")
    if "|" in slashes and not before and not between:
        return True
    if known in _AT_LINE_STARTS:
        return bool(slashes) or not text[max(0, start - 40) : start].rpartition("\n")[2].strip()
    if known not in _SPEAKERS and not known.startswith("antml"):
        return False
    if before or between:
        # A comparison has no closing sign behind its second name.
        tail = text[start : start + len(sign) + len(head) + 80]
        return any(closer in tail for closer in _CLOSERS)
    generic = start > 0 and text[start - 1].isalnum() and not slashes and word.istitle()
    return not generic


def _shape(word: str) -> str:
    """The letters a reader sees in a name: folded, without accents or separators, alphabets as what they imitate."""
    if not word.isascii():
        from unicodedata import normalize

        from memtui.engine.lookalikes import skeleton

        word = skeleton("".join(letter for letter in normalize("NFKD", word) if letter.isalnum()))
    lowered = word.lower().replace("0", "o").replace("1", "l")
    return "".join(filter(str.isalnum, lowered.translate(_NO_BLANKS)))


def _without_hidden(head: str) -> str:
    """The head of a tag in its normal form, without what cannot be seen in it; spaces stay."""
    if head.isascii() and head.isprintable():
        return head
    from unicodedata import category, normalize

    return "".join(
        letter
        for letter in normalize("NFKC", head)
        if letter not in _BLANK_LETTERS and (letter.isspace() or category(letter) not in ("Cf", "Cc", "Mn", "Me", "Cn"))
    )


def _escaped(sign: str) -> str:
    """One more level of escaping, in the sign's own way."""
    if sign[0] == "&":
        return f"&amp;{sign[1:]}"
    if sign[0] == "\\":
        return f"\\{sign}"
    if sign[0] == "%":
        return f"%25{sign[1:]}"
    return "&#91;" if sign == "[" else "&lt;"
