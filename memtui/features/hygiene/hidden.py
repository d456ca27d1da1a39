"""Rules for text that a model reads and a person does not see (family H), with their guards.

No invisible character stands in this file.
"""

import re
from collections.abc import Iterator
from functools import partial

from memtui.features.hygiene.model import GuardResult, Rule, ScannedText
from memtui.safe_text import has_hidden

_TAGS = r"[\U000E0000-\U000E007F]"
_FLAGS = tuple("".join(chr(0xE0000 + ord(sign)) for sign in f"{region}\x7f") for region in ("gbeng", "gbsct", "gbwls"))
_BIDI = r"[\u202A-\u202E\u2066-\u2069]"
_RIGHT_TO_LEFT = re.compile(r"[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC]")
_JOINED = re.compile(r"[\u0590-\u109F\u1780-\u18AF\uA800-\uABFF\uFB1D-\uFDFF\uFE70-\uFEFC]")
"""Scripts in which joiners, direction marks and zero-width breaks belong to spelling."""
_ODD = re.compile(
    r"[\x00-\x08\x0B-\x1F\x7F-\x9F\u00AD\u034F\u061C\u115F\u1160\u180E\u200B-\u200F\u2028-\u202E"
    r"\u2060-\u206F\u2800\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFB\U0001D173-\U0001D17A\U000E0000-\U000E01EF]"
)
"""Rare characters, without one of which H01 to H06 cannot match."""
_SELECTOR = r"[\uFE00-\uFE0F\U000E0100-\U000E01EF]"
_LOOK_ALIKES = frozenset(
    map(
        chr,
        (
            *(0x410, 0x412, 0x415, 0x41A, 0x41C, 0x41D, 0x41E, 0x420, 0x421, 0x422, 0x423, 0x425, 0x405, 0x406, 0x408),
            *(0x430, 0x435, 0x43E, 0x440, 0x441, 0x443, 0x445, 0x455, 0x456, 0x458, 0x4BB, 0x501, 0x51B, 0x51D, 0x3BF),
            *(0x391, 0x392, 0x395, 0x396, 0x397, 0x399, 0x39A, 0x39C, 0x39D, 0x39F, 0x3A1, 0x3A4, 0x3A5, 0x3A7),
        ),
    )
)
"""Letters of Cyrillic and Greek that look like Latin ones."""
_MARK = (
    r"(?:toc|prettier|[a-z]*lint|cspell|spell|vale|begin|end|start|stop|region|endregion|more|template|generated"
    r"|all-contributors|omit|slide|vim|memtui)"
)
_MARKERS = re.compile(rf"(?is)[\s@/!#-]*+{_MARK}\b|.*\b(?:{_MARK}[\s/-]*+\Z|auto-?generated)")
_KEPT_OUT = re.compile(r"(?i)auto-?generated\b.{0,40}\b(?:edit|modify|change)\b")
_PLAIN = re.compile(r"[\w\s,.!'’-]*")
_TABLE = re.compile(r"[^\n]*\|[^\n]*\|")
_TLD_NAMES = "com org net io dev app ai co info edu gov me sh cloud xyz de fr uk cn jp ru"
_SECOND_NAMES = "co com org ac gov net edu"
_TLDS = frozenset(_TLD_NAMES.split())
_SECOND_LEVEL = frozenset(_SECOND_NAMES.split())
_WORD = re.compile(r"[^\W\d_]{2,}")
_WITHOUT_BLANKS = re.compile(r"[\u3040-\u30FF\u3400-\u9FFF]")


def words(text: str) -> int:
    """Count words; two characters of scripts without blanks are one."""
    blankless = len(_WITHOUT_BLANKS.findall(text))
    return blankless // 2 + sum(1 for word in _WORD.findall(text) if not _WITHOUT_BLANKS.match(word))


def _tags(page: ScannedText, found: re.Match[str]) -> GuardResult | None:
    if found[0] in _FLAGS and page.text[found.start() - 1 : found.start()] == chr(0x1F3F4):
        return None
    return GuardResult("".join(chr(ord(sign) - 0xE0000) for sign in found[0] if ord(sign) > 0xE001))


def _bidi(page: ScannedText, found: re.Match[str]) -> GuardResult | None:
    """Closed embeddings and isolates are usual in right-to-left lines; overrides never are."""
    waiting: list[int] = []
    whole = True
    for sign in map(ord, re.findall(_BIDI, found[0])):
        if sign in (0x202C, 0x2069):
            whole = whole and bool(waiting) and (waiting.pop() > 0x202E) == (sign == 0x2069)
        else:
            waiting.append(sign)
            whole = whole and sign not in (0x202D, 0x202E)
    usual = whole and not waiting and page.line_has(_RIGHT_TO_LEFT, found.start())
    return GuardResult(severity="I" if usual else "")


def _zero_width(page: ScannedText, found: re.Match[str]) -> GuardResult | None:
    text, (start, end) = page.text, found.span()
    before, after = text[max(0, start - 1) : start], text[end : end + 1]
    if (start == 0 and found[0] == chr(0xFEFF)) or (end - start == 1 and _JOINED.match(before or after)):
        return None
    if found[0] == chr(0x200D) and not has_hidden(text[max(0, start - (2 if before == chr(0xFE0F) else 1)) : end + 1]):
        return None
    if ord(found[0][0]) in (0x200E, 0x200F, 0x61C) and end - start == 1 and page.line_has(_RIGHT_TO_LEFT, start):
        return None
    return GuardResult(severity="" if (before.isalnum() and after.isalnum()) or end - start > 2 else "I")


def _selectors(page: ScannedText, found: re.Match[str]) -> GuardResult | None:
    """Decode the bytes that a run carries: 16 values in the first block, the others in the second."""
    if len(found[0]) == 1:
        base = page.text[max(0, found.start() - 1) : found.start()]
        if not has_hidden(base + found[0] + page.text[found.end() : found.end() + 1]):
            return None
        return GuardResult(severity="W" if base.isascii() and base.isalpha() else "I")
    values = [ord(sign) for sign in found[0]]
    said = bytes((value - 0xFE00 if value < 0xE0000 else value - 0xE00F0) for value in values).decode(
        "utf-8", "replace"
    )
    return GuardResult(said if words(said) else "")


def _blank_letters(page: ScannedText, found: re.Match[str]) -> GuardResult | None:
    text, (start, end) = page.text, found.span()
    around = text[max(0, start - 1) : start] + text[end : end + 1]
    code = ord(found[0][0])
    if code == 0xAD:
        dotted = end - start > 1 or chr(0xAD) in text[max(0, start - 2) : start] + text[end : end + 2]
        return GuardResult(severity="" if dotted else "I")
    spared = {0x2800: r"[\u2801-\u28FF]", 0x34F: r"[\u0300-\u036F\u0590-\u08FF]"}.get(
        code, r"[\u1100-\u11FF\u3130-\u318E]"
    )
    return None if re.search(spared, around) else GuardResult()


def _control(page: ScannedText, found: re.Match[str]) -> GuardResult:
    paged = found[0] == "\f" and page.text[max(0, found.start() - 1) : found.start()] in ("", "\n")
    return GuardResult(severity="I" if paged else "")


def _comment(page: ScannedText, found: re.Match[str]) -> GuardResult | None:
    inside = found[1]
    if words(inside) < 3 or page.in_code(found.start()):
        return None
    text, (start, end) = page.text, found.span()
    above = text[max(0, start - 200) : start].rstrip().rpartition("\n")[2]
    below = text[end : end + 200].lstrip()
    if (
        words(inside) <= 6
        and above.startswith(("#", "---"))
        and (not below or below.startswith("#"))
        and _PLAIN.fullmatch(inside)
    ):
        return GuardResult(severity="I")  # what is to stand in an empty section
    marker = words(inside) <= (14 if _KEPT_OUT.search(inside) else 8) and (
        _MARKERS.match(inside) or (inside.isascii() and len(inside.split()) == 1)
    )
    return GuardResult(severity="I" if marker else "")


def _styled(page: ScannedText, found: re.Match[str]) -> GuardResult | None:
    tag = page.text[max(0, found.start() - 400) : found.start()].rpartition("<")[2]
    return None if ">" in tag or "style" not in tag.lower() or page.in_code(found.start()) else GuardResult()


def _unseen_words(page: ScannedText, found: re.Match[str]) -> GuardResult | None:
    return GuardResult() if words(found[1]) >= 2 and not page.in_code(found.start(1)) else None


def _far_words(page: ScannedText, found: re.Match[str]) -> GuardResult | None:
    line = page.text[slice(*page.line_of(found.start(1)))]
    return None if _TABLE.match(line) else _unseen_words(page, found)


def _mixed(page: ScannedText, found: re.Match[str]) -> GuardResult | None:
    """Only look-alike letters count; where the other script is written as well, they are slips."""
    foreign = [sign for sign in found[0] if sign > "\u0250"]
    if not _LOOK_ALIKES.issuperset(foreign):
        return None
    script = r"\u0400-\u052F" if foreign[0] >= "\u0400" else r"\u0370-\u03FF"
    said = "".join(f"{sign}({ord(sign):04X})" if sign > "\u0250" else sign for sign in found[0])
    return GuardResult(said, "I" if page.writes(script) else "")


def _coded(page: ScannedText, found: re.Match[str]) -> GuardResult | None:
    import binascii

    if page.text[max(0, found.start() - 40) : found.start()].lower().rpartition("data:")[2].startswith("image/"):
        return None
    value = re.sub(r"\s", "", found[0]).rstrip("=")
    try:
        if re.fullmatch(r"(?i)[0-9a-f]+", value):
            data = bytes.fromhex(value[: len(value) // 2 * 2])
        else:
            plain = value.replace("-", "+").replace("_", "/")
            whole = plain[:-1] if len(plain) % 4 == 1 else plain
            data = binascii.a2b_base64(whole + "=" * (-len(whole) % 4))
    except ValueError:
        return None
    said = data.decode("utf-8", "replace")
    if said.count("\ufffd") > 0.1 * len(said):
        return None
    seen = sum(sign.isprintable() or sign.isspace() for sign in said) - said.count("\ufffd")
    return GuardResult(said) if seen >= 0.9 * len(said) and words(said) >= 4 else None


def _hosts(url: str) -> str:
    """Return the host of a URL given without its scheme, in lower case."""
    return re.split(r"[/?#]", url, maxsplit=1)[0].rpartition("@")[2].partition(":")[0].lower().removeprefix("www.")


def _slot(page: ScannedText, found: re.Match[str]) -> GuardResult | None:
    host = _hosts(found[1])
    if page.in_code(found.start()) or host.startswith(("localhost", "127.0.0.1")) or "example" in host:
        return None
    values = (part.partition("=")[2].lower() for part in re.split(r"[?&#;]", found[1])[1:])
    slots = [value for value in values if value.startswith(("{", "$", "<", "%7b", "[", "%s")) or "{" in value]
    before = page.text[max(0, found.start() - 300) : found.start() + 1].rpartition("[")[0]
    loads = found[0].startswith(("src", "SRC")) or (found[0][0] == "]" and before.endswith("!"))
    named = _NAMED if loads else _NAMED_LINK
    return GuardResult(severity="I" if all(map(named.fullmatch, slots)) else "") if slots else None


_NAMED = re.compile(
    r"[{$<\[]{1,3}(?:version|branch|name|repo|build|status|label|colou?r|style|id|number|tag|lang|theme)[}>\]]{0,3}"
)
_NAMED_LINK = re.compile(
    r"%s|[{$<\[]{1,3}(?![\w.-]*(?:data|secret|key|token|conversation|chat|history|context|memor|prompt|content|summar|message"
    r"|user|env|answer|response|text|file|passw|cred|note|info|all))[\w.-]{1,30}[}>\]]{0,3}"
)
"""Slots with one plain name, as in documentation; fewer are allowed in images, which are fetched unasked."""


def _other_host(page: ScannedText, found: re.Match[str]) -> GuardResult | None:
    before = page.text[max(0, found.start() - 300) : found.start()]
    shown = re.fullmatch(
        r"(?:https?://)?(?:[\w-]+\.)+([a-z]{2,})(?::\d+)?(?:[/?#]\S*)?", before.rpartition("[")[2].strip("`* ")
    )
    if shown is None or (shown[1] not in _TLDS and "://" not in shown[0]) or page.in_code(found.start()):
        return None
    names = [_registrable(_hosts(url.partition("://")[2] or url)) for url in (shown[0], found[1])]
    return None if names[0] == names[1] else GuardResult(f"{shown[0]} -> {_hosts(found[1])}")


def _registrable(host: str) -> str:
    parts = host.split(".")
    return ".".join(parts[-3:] if len(parts) > 2 and parts[-2] in _SECOND_LEVEL else parts[-2:])


def _entities(page: ScannedText, found: re.Match[str]) -> GuardResult | None:
    if page.in_code(found.start()):
        return None

    def read() -> Iterator[str]:
        for part in re.finditer(r"&#(?:[xX]([0-9a-fA-F]++)|([0-9]++));|%([0-9A-Fa-f]{2})|(.)", found[0], re.S):
            yield part[4] or chr(int(part[1] or part[3], 16) if part[1] or part[3] else int(part[2]))

    coded = [sign for sign in re.findall(r"&#[xX]?[0-9a-fA-F]++;|%[0-9A-Fa-f]{2}", found[0]) if _is_letter(sign)]
    return GuardResult("".join(read())) if coded else None


def _is_letter(sign: str) -> bool:
    digits = sign.strip("&#;%xX")
    code = int(digits, 16 if sign[0] == "%" or sign[2] in "xX" else 10)
    return code < 128 and chr(code).isalpha()


_of_odd = partial(Rule, needs=_ODD)

HIDDEN = (
    _of_odd(
        *("H01", "tag characters, which nobody sees", "E", "the three flags made of them", "strip"),
        *(_TAGS + "++", _tags),
    ),
    _of_odd(
        *("H02", "signs that turn the direction of text", "E", "closed, in a line of Arabic or Hebrew: I", "strip"),
        *(rf"{_BIDI}(?:[^\n]*{_BIDI})?", _bidi),
    ),
    _of_odd(
        *("H03", "characters without width inside a word", "W"),
        *("joiners of Persian and Indic scripts, emoji, a mark at the start of a file; between words: I", "strip"),
        r"[\u061C\u180E\u200B-\u200F\u2060-\u2065\u206A-\u206F\uFEFF\uFFF0-\uFFFB\U0001D173-\U0001D17A]++",
        _zero_width,
    ),
    _of_odd(
        *("H04", "a run of variation selectors, which can carry text", "E"),
        *("one behind an emoji or an ideograph; one behind a Latin letter: W, behind anything else: I", "strip"),
        _SELECTOR + "++",
        _selectors,
    ),
    _of_odd(
        *("H05", "letters that draw nothing", "W", "in Hangul, braille or between marks; one soft hyphen: I", "strip"),
        *(r"[\u115F\u1160\u3164\uFFA0\u2800\u034F\u00AD]++", _blank_letters),
    ),
    _of_odd(
        *("H06", "control characters", "E"),
        *("tab, line feed, carriage return before a line feed; a form feed at the start of a line: I", "strip"),
        r"(?:\x1B\[[0-?]{0,64}+[ -/]{0,8}+[@-~]|[\x00-\x08\x0B\x0C\x0E-\x1F\x7F-\x9F\u2028\u2029]|\r(?!\n))++",
        _control,
    ),
    Rule(
        *("H07", "an HTML comment of 3 words, which nobody sees when rendered", "W"),
        "code; words joined by hyphens, toc, prettier, lint, begin and end markers up to 8 words, 6 that are all of a"
        " section: I",
        "cut",
        *(r"(?s)<!--(.*?)(?:-->|\Z)", _comment),
        begins=("<!--",),
    ),
    Rule(
        *("H08", "words styled so that nobody sees them", "W", "code, style sheets", "cut"),
        r"(?i)\b(?:display\s{0,4}:\s{0,4}none|visibility\s{0,4}:\s{0,4}hidden"
        r"|(?:font-size|opacity|max-height)\s{0,4}:\s{0,4}0(?![.\d])"
        r"|(?<![-\w])color\s{0,4}:\s{0,4}(?:white|transparent|#fff(?:fff)?)\b"
        r"|(?:left|top|text-indent)\s{0,4}:\s{0,4}-\d{3,})",
        _styled,
        begins=("display", "visibility", "font", "opacity", "max", "color", "left", "top", "text"),
    ),
    Rule(
        *("H08", "a link definition that is a comment of 3 words", "W", "code; fewer words", "cut"),
        r"(?m)^ {0,3}\[[^\[\]\n]{1,60}\]:[ \t]{0,9}(?:#|<#?>)[ \t]{1,9}[\"'(]([^\n]*+)",
        lambda page, found: GuardResult() if words(found[1]) > 2 and not page.in_code(found.start()) else None,
        needs=re.compile(r"\]:"),
    ),
    Rule(
        *("H09", "words behind 120 blanks", "W", "tables, code", "open"),
        *(r"[ \t\u00A0\u3000](?<![ \t\u00A0\u3000]{2})[ \t\u00A0\u3000]{119,}+(\S[^\n]*+)", _far_words),
        needs=re.compile(r"[\t\u00A0\u3000]| {60}"),
    ),
    Rule(
        *("H09", "words behind 40 empty lines", "W", "code", "open"),
        *(r"(?:(?<=\S)|\A)(?:[ \t\r]*+\n){41,}+\s*+(\S[^\n]*+)", _unseen_words),
        needs=re.compile(r"\n(?:[ \t\r]*+\n){40}"),
    ),
    Rule(
        *("H10", "a word with letters of another script that look the same", "W"),
        *("units and formulas; in a text of that script: I", "set"),
        r"(?<![^\W\d_])(?:[A-Za-z\u00C0-\u024F]++[\u0370-\u052F]|[\u0370-\u052F]++[A-Za-z\u00C0-\u024F])[^\W\d_]*+",
        _mixed,
        needs=re.compile(r"[\u0370-\u052F]"),
    ),
    Rule(
        *("H11", "base64 or hex of 40 characters that decodes to 4 words", "W", "images, secrets", "open"),
        r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/_-]{40,}+(?:\r?\n[A-Za-z0-9+/_-]{20,}+)*+={0,2}",
        _coded,
    ),
    Rule(
        *("H12", "a link or image whose URL has a slot for data", "E"),
        *("code, this machine, example hosts; a slot with a plain name, as documentation has it: I", "cut"),
        r"(?i)(?:\](?:\(|:)[ \t]{0,4}<?|\b(?:src|href)[ \t]{0,4}=[ \t]{0,4}[\"']?)https?://([^\s)\"'>]{1,2000}+)",
        _slot,
        begins=("](", "]:", "src", "href"),
    ),
    Rule(
        *("H13", "a link whose text names another host than its target", "W", "code, hosts of one domain", "open"),
        *(r"(?i)\]\([ \t]{0,4}<?https?://([^\s)>]{1,2000}+)", _other_host),
        begins=("](",),
    ),
    Rule(
        *("H14", "words written as entities or in percent", "W", "code, entities that are no letters", "set"),
        r"(?:&#(?:[xX]0{0,4}[0-9a-fA-F]{2}|0{0,4}[0-9]{2,3});[A-Za-z ]{0,40}+)++"
        r"|(?:%(?:[46][1-9A-Fa-f]|[57][0-9Aa])){3,}+",
        _entities,
        begins=("&#", "%"),
    ),
)
"""Two rules that find one kind of thing in two ways share a number."""
