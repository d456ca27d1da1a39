"""Escaping of untrusted text for a prompt, so that it cannot end the block it stands in.

Tags that look like memtui's own or like those that mark a speaker get their first character escaped, in any spelling;
hidden characters become visible tokens. Code and prose stay as they are.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from memtui import mask
from memtui.safe_text import visible

INDEX_TAG, HOT_TAG, FILE_TAG = "memory_index", "hot_memories", "memory_file"

_OURS = tuple(tag.replace("_", "") for tag in (INDEX_TAG, HOT_TAG, FILE_TAG))
_SPEAKERS = frozenset(
    (
        *("system", "systemreminder", "systemprompt", "systemmessage", "sys", "inst", "assistant", "human"),
        *("userprompt", "toolresult", "toolresults", "tooluse", "toolcall", "toolcalls", "functioncall"),
        *("functioncalls", "functionresult", "functionresults", "invoke", "antthinking", "cdata"),
        *("startofturn", "endofturn", "toolresponse", "toolresponses", "tooloutput", "think"),
    )
)
"""Tags by which prompts mark a speaker or a tool result, without `_` and `-`."""
_AT_LINE_STARTS = frozenset(("user", "developer", "instructions", "parameter", "thinking"))
"""Further such tags that are also common placeholders: only as a closing tag, or at the start of a line."""

_MARKS = frozenset(("imstart", "imend", "imsep", "endoftext", "startheaderid", "endheaderid", "eotid", "eot"))
"""Names between `<|` and `|>`; with spaces, `<|` is also an operator."""
_BRACKETS = "[［"
_LIKE_LESS = "＜﹤‹〈⟨\u2329\u3008《⟪«❮❰❬⟬˂ᐸᗏ≺⋖≮≪⧼𝈶˂𐒷⪡«"
"""Characters that a reader or a normal form takes for `<`."""
_OPENERS = frozenset("<&＆\\%" + _BRACKETS + _LIKE_LESS)
_PLAIN_OPENERS = _OPENERS.difference("&＆\\%")
"""Openers of one character that never begin an encoded letter."""
_BLANK_LETTERS = "\u115f\u1160\u3164\uffa0"
"""Unicode letters that draw nothing."""
_NO_BLANKS = dict.fromkeys(map(ord, _BLANK_LETTERS))
_SLASHES = "/\\⁄∕／⧸╱⟋|｜!?"
_CLOSERS = ">＞﹥›〉⟩〉》⟫»❯❱❭⟭˃ᐳ≻"
_HEAD = 24
"""Letters of a tag name that are examined."""

_ESCAPED = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_NEEDS_CARE = frozenset('&<>"[]\\%')

_GLANCE, _WINDOW = 48, 400
"""Characters after an opener that are decoded: at first, and where a name goes on."""
_UNFINISHED = 12
"""Characters at the end of the decoded part that may be half of an encoded one."""
_BEFORE = 40
"""Characters before an opener that show whether a line starts there."""
_TURNS = ("human", "assistant")
"""Words that begin a turn in old prompt formats: after an empty line, with a colon."""


def without_given(text: str) -> str:
    """Remove the blocks that memtui puts before agents; an unclosed block extends to the end."""
    for tag in (INDEX_TAG, HOT_TAG, FILE_TAG):
        pieces, end = [], 0
        while (start := text.find(f"<{tag}", end)) >= 0:
            pieces.append(text[end:start])
            close = text.find(f"</{tag}>", start)
            end = len(text) if close < 0 else close + len(tag) + 3
        text = "".join((*pieces, text[end:]))
    return text


def line(text: str) -> str:
    """Escape a name or a description for one line: inert markup, visible tokens, no live link, no secret."""
    text = mask.shown(text)
    if text.isascii() and text.isprintable() and _NEEDS_CARE.isdisjoint(text):
        return text
    text = _defused(text, known="<&")
    for sign, entity in _ESCAPED.items():
        text = text.replace(sign, entity)
    return visible(text, secrets=True).replace("](", "] (").replace("][", "] [")


def body(text: str) -> str:
    """Escape a memory's text between tags; the caller masks it before."""
    text = _defused(text.removeprefix("\ufeff"))
    if ":" in text:
        text = _without_turns(text)
    start = text.rfind("<!--")
    if start >= 0 and text.find("-->", start) < 0:  # a comment without end would hide what follows
        text = f"{text[:start]}&lt;{text[start + 1 :]}"
    return visible(text, keep_newlines=True, keep_tabs=True, secrets=True)


def _defused(text: str, known: str = "") -> str:
    """Escape the first character of every tag that could be taken for structure, except for openers in `known`."""
    openers = _OPENERS.difference(known)
    if openers.isdisjoint(text):
        return text
    opener, letters, name = _patterns()
    pieces: list[str] = []
    end = 0
    for match in opener.finditer(text):
        sign = match.group()
        if sign[0] in known or not _names_structure(text, match.start(), match.end(), letters, name):
            continue
        pieces += (text[end : match.start()], _escaped(sign))
        end = match.end()
    return "".join((*pieces, text[end:])) if pieces else text


def _names_structure(text: str, start: int, end: int, letters: re.Pattern[str], name: re.Pattern[str]) -> bool:
    sign = text[start:end]
    head = letters.match(text, end)
    if head is not None and _is_structure(text, start, sign, head.group(), name):
        return True
    if text[end : end + 1] in _PLAIN_OPENERS:
        return False
    before = text[max(0, start - _BEFORE) : start]
    for size in (_GLANCE, _WINDOW):
        window = text[end : end + size]
        plain = _decoded(window)
        head = None if plain == window else letters.match(plain)
        if head is None:
            return False
        if _is_structure(before + sign + plain, len(before), sign, head.group(), name):
            return True
        if len(window) < size or head.end() < len(plain) - _UNFINISHED:
            return False
    return False


def _decoded(text: str) -> str:
    """Decode entities, escapes and look-alike letters of a short text, also when encoded repeatedly."""
    if not text.isascii():
        text = "".join(sign if sign.isascii() else _as_letter(sign) for sign in text)
    for _ in range(4):
        before = text
        if "&" in text:
            from html import unescape

            text = unescape(text)
        if "%" in text or "\\" in text:
            text = re.sub(r"%([0-9a-fA-F]{2})", _unhex, text)
            text = re.sub(
                r"\\++(?:u\{?0*+([0-9a-fA-F]{2,6})\}?|U0*+([0-9a-fA-F]{2,6})|x([0-9a-fA-F]{2}))", _unhex, text
            )
        if text == before:
            break
    return text


@lru_cache(4096)
def _as_letter(sign: str) -> str:
    from unicodedata import name

    *kind, letter = ["", *name(sign, "").split(" ")]
    pictured = len(letter) == 1 and letter.isalpha() and not {"LATIN", "INDICATOR", "TAG"}.isdisjoint(kind)
    return letter.lower() if pictured else sign


def _unhex(match: re.Match[str]) -> str:
    code = int(next(group for group in match.groups() if group), 16)
    return chr(code) if 0x20 <= code < 0x7F else match.group()


def _without_turns(text: str) -> str:
    lowered = text.lower()
    if not any(f"\n{word}:" in lowered for word in _TURNS):
        return text
    return re.sub(rf"(?i)(\n[ \t]*\r?\n(?:{'|'.join(_TURNS)})):", r"\1&#58;", text)


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return patterns for the start of a tag in any spelling, its next letters, and a name with what precedes it."""
    # Openers are no gap, so that no stretch of text is gone over twice.
    gap = rf"(?:[^\w<\[［{_LIKE_LESS}]|[_{_BLANK_LETTERS}])"
    letter = rf"[^\W_{_BLANK_LETTERS}]"
    entity = r"[&＆](?:amp;)*+(?:lt|#0*+60(?![0-9])|#x0*+3c(?![0-9a-f])|lbrack|#0*+91(?![0-9])|#x0*+5b(?![0-9a-f]));?"
    coded = r"(?<!\\)\\++(?:(?:u00|u\{0*+|U0*+|x)(?:3c|5b)\}?|0?74)|%(?:25)*+(?:3c|5b)"
    opener = re.compile(rf"[<\[［{_LIKE_LESS}]|{entity}|{coded}", re.IGNORECASE)
    letters = re.compile(rf"(?:{gap}*+{letter}){{1,{_HEAD}}}+")
    name = re.compile(rf"(\s*)([{re.escape(_SLASHES)}\[]*)(\s*)([^\W_][\w:.-]*)")
    return opener, letters, name


def _is_structure(text: str, start: int, sign: str, head: str, name: re.Pattern[str]) -> bool:
    bracket = sign in _BRACKETS or sign.lower().endswith(("5b", "5b;", "91", "91;", "lbrack", "lbrack;"))
    shape = _shape(head)
    if shape.startswith(_OURS):
        return not bracket or any(slash in head.split(shape[0], 1)[0] for slash in "/\\⁄∕／⧸")
    found = name.match(_without_hidden(head))
    if found is None:
        return False
    before, slashes, between, word = found.groups()
    known = _shape(word)
    if bracket:
        closed = (
            text[start + len(sign) :].lstrip("/ ").lower().removeprefix(word.lower()).lstrip().startswith(("]", "］"))
        )
        spaced = bool(before or between)
        return known in ("inst", "sys", "system", "systemmessage", "cdata") and (closed or not spaced)
    if "|" in slashes or "｜" in slashes:
        return not (before or between) or known in _MARKS
    if known in _AT_LINE_STARTS:
        return bool(slashes) or not text[max(0, start - _BEFORE) : start].rpartition("\n")[2].strip()
    if known not in _SPEAKERS and not known.startswith("antml"):
        return False
    if before or between:
        # A comparison has no closing sign behind its second name.
        tail = text[start : start + len(sign) + len(head) + 80]
        return any(closer in tail for closer in _CLOSERS)
    generic = start > 0 and text[start - 1].isalnum() and not slashes and word.istitle()
    return not generic


def _shape(word: str) -> str:
    """Fold a name to the letters a reader sees: without accents or separators, look-alike alphabets replaced."""
    if not word.isascii():
        from unicodedata import normalize

        from memtui.engine.disk.paths import skeleton

        word = skeleton("".join(letter for letter in normalize("NFKD", word) if letter.isalnum()))
    lowered = word.lower().replace("0", "o").replace("1", "l")
    return "".join(filter(str.isalnum, lowered.translate(_NO_BLANKS)))


def _without_hidden(head: str) -> str:
    """Normalize the head of a tag without invisible characters; spaces stay."""
    if head.isascii() and head.isprintable():
        return head
    from unicodedata import category, normalize

    return "".join(
        letter
        for letter in normalize("NFKC", head)
        if letter not in _BLANK_LETTERS and (letter.isspace() or category(letter) not in ("Cf", "Cc", "Mn", "Me", "Cn"))
    )


def _escaped(sign: str) -> str:
    if sign[0] in "&＆":
        return f"&amp;{sign[1:]}"
    if sign[0] == "\\":
        return f"\\{sign}"
    if sign[0] == "%":
        return f"%25{sign[1:]}"
    return "&#91;" if sign in _BRACKETS else "&lt;"
