"""Secrets in texts: where they are, their kind, and the text with `[masked: kind]` in their place.

Rules are data: a catalogue number, the kind for people, signs one of which is present whenever the pattern matches, a
pattern, and guards that tell a secret from an example. Every pattern takes linear time: repetitions are possessive or
bounded. Prefixes, lengths and alphabets of keys come from their issuers and the rules of gitleaks (MIT).
"""

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from math import log2
from typing import NamedTuple

from memtui.disguise import disguised, found_at, lines_around, lower, undisguised

BEGIN = "[masked: "


class Secret(NamedTuple):
    """A secret in a text; its value is not kept."""

    rule: str
    """`S01` to `S24`, `P03` or `P04`."""
    kind: str
    """As named by the mask: `GitHub token`."""
    start: int
    end: int
    """Offsets in characters; `end` is behind the last one."""


class Masked(NamedTuple):
    """A text without its secrets."""

    text: str
    secrets: tuple[Secret, ...]
    """The masked secrets, with offsets in the given text; in order, not overlapping."""

    def moved(self, start: int, end: int) -> tuple[int, int]:
        """Map a range of the given text to the masked one; a mask counts as a whole."""
        shift, first, last = 0, start, end
        for one in self.secrets:
            if one.start >= end:
                break
            begin = one.start + shift
            shift += len(BEGIN) + len(one.kind) + 1 - (one.end - one.start)
            if one.end > start >= one.start:
                first = begin
            elif one.end <= start:
                first = start + shift
            last = max(one.end, end) + shift
        return first, last


class _Found(NamedTuple):
    text: str
    start: int
    end: int
    key: str
    """The match before the value: the name it is assigned to."""

    @property
    def value(self) -> str:
        return self.text[self.start : self.end]

    def near(self, *words: str) -> bool:
        around = self.text[max(0, self.start - 40) : self.end + 40].lower()
        return any(word in around for word in words)


class _Rule(NamedTuple):
    number: str
    kind: str
    signs: tuple[str, ...]
    """One of these is present whenever the pattern matches: a lower-case text within a run without blanks, one of
    `_ANYWHERE`, or in capitals the name of what a run or a line holds."""
    pattern: str
    """Its last group is masked, or the whole match where it has none."""
    guard: Callable[[_Found], bool]


def secrets(text: str) -> tuple[Secret, ...]:
    """Find every secret in a whole text, in order; two that meet are one, named after the one that begins first."""
    if len(text) < SHORTEST:
        return ()
    found = _found(text)
    if disguised(text):
        plain, places, others = undisguised(text)
        there = (one for part in lines_around(plain, others, _NEAR, _NEAR) for one in _found(plain, part))
        found += [one._replace(start=places[one.start], end=places[one.end]) for one in there]
    merged: list[Secret] = []
    for one in sorted(found, key=lambda secret: secret.start):
        if merged and one.start < merged[-1].end:
            merged[-1] = merged[-1]._replace(end=max(one.end, merged[-1].end))
        else:
            merged.append(one)
    return tuple(merged)


def mask(text: str, *, lines: bool = False) -> Masked:
    """Replace every secret in a whole text by `[masked: kind]`; `lines` keeps the line feeds of what is masked."""
    return _masked(text, secrets(text), lines=lines)


def _masked(text: str, found: tuple[Secret, ...], *, lines: bool) -> Masked:
    pieces, end = [], 0
    for secret in found:
        gone = text.count("\n", secret.start, secret.end) if lines else 0
        pieces += [text[end : secret.start], f"{BEGIN}{secret.kind}]" + "\n" * gone]
        end = secret.end
    return Masked("".join((*pieces, text[end:])) if found else text, found)


SHORTEST = 8
"""Characters; no shorter text holds a secret."""
_OFTEN = 400
"""Characters; shorter texts are names and list lines, which are shown again and again."""


def shown(text: str) -> str:
    """Return what may be shown of a text: secrets masked, every line in place. Results are cached."""
    if len(text) < SHORTEST:
        return text
    return _short(text) if len(text) < _OFTEN else _long(text)


def shown_bytes(data: bytes) -> bytes:
    """Return what may be shown of a file, see `shown`; undecodable bytes stay."""
    text = data.decode("utf-8", "surrogateescape")
    kept = shown(text)
    return data if kept is text else kept.encode("utf-8", "surrogateescape")


def shown_parts(data: bytes, spans: Iterable[tuple[int, int]]) -> list[bytes]:
    """Return what may be shown of byte ranges of a file, masked as in the whole; line feeds stay."""
    if shown_bytes(data) == data:
        return [data[start:end] for start, end in spans]
    text = data.decode("utf-8", "surrogateescape")
    found = []
    for one in secrets(text):
        first = len(text[: one.start].encode("utf-8", "surrogateescape"))
        found.append((first, first + len(text[one.start : one.end].encode("utf-8", "surrogateescape")), one.kind))
    parts = []
    for start, end in spans:
        at, pieces = start, []
        for first, last, kind in found:
            if at < last and first < end:
                gone = data.count(b"\n", max(first, at), min(last, end))
                pieces += [data[at : max(first, at)], f"{BEGIN}{kind}]".encode(), b"\n" * gone]
                at = min(last, end)
        parts.append(b"".join((*pieces, data[at:end])))
    return parts


def _shown(text: str) -> str:
    return mask(text, lines=True).text


_short, _long = lru_cache(8_192)(_shown), lru_cache(8)(_shown)


_NEAR = 400
"""Characters around a place that decide what is a secret in it, unless the text holds a key block."""


def around(text: str, start: int, end: int) -> Masked:
    """Mask the text between two offsets as in the whole text, without searching all of it."""
    first = text.rfind("-----BEGIN ", 0, start) if "-----BEGIN " in text else -1
    first = max(start - _NEAR, 0) if first < 0 else min(first, max(start - _NEAR, 0))
    found = (
        one._replace(start=max(one.start + first, start) - start, end=min(one.end + first, end) - start)
        for one in secrets(text[first : end + _NEAR])
        if one.end + first > start and one.start + first < end
    )
    return _masked(text[start:end], tuple(found), lines=False)


_APART = "\n\0\n"
"""Separator of texts that are searched as one: no pattern spans it, and it bounds lines."""


_ID_OR_TIME = r"(?:[a-z]+-)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,12}Z"
"""Ids and times, which are no secrets, but slow to search because their digits look like some."""


def with_secrets(texts: Sequence[str]) -> dict[str, Masked]:
    """Mask those of many texts that hold a secret; far cheaper than one by one."""
    some = [text for text in texts if not re.fullmatch(_ID_OR_TIME, text)]
    if not secrets(_APART.join(some)):
        return {}
    masked = {text: mask(text) for text in some}
    return {text: one for text, one in masked.items() if one.secrets}


_WORDS = (
    "changeme change_me changeit example secret token password passwd pass passphrase apikey api_key none null nil true"
    " false required optional undefined string value test testing dummy sample placeholder redacted hidden masked unset"
    " empty todo tbd default username user admin foobar secretkey mypassword mysecret mytoken yourpassword prompt"
    " disabled enabled"
)
_NO_VALUES = frozenset(_WORDS.split())
_LOOKED_UP = ("${", "$(", "{{", "<", "%(", "os.environ", "process.env", "getenv", "env.", "secrets.", "vault:", "op://")
"""Beginnings of values that are filled in later, or read from somewhere."""
_EXAMPLES = ("your-", "your_", "xxx", "...", "***", "http://", "https://")


def _real(found: _Found) -> bool:
    """Return whether a value is no placeholder: no example word, look-up, path, or its own key's name."""
    value = found.value.strip("\"'`")
    lowered = value.lower()
    letters = lowered.strip("_-<>[]{}()$%.,;:!")
    if lowered.startswith((*_LOOKED_UP, *_EXAMPLES)) or letters in _NO_VALUES or len(set(value[-12:])) <= 2:
        return False
    if value == lowered and value.startswith(("/", "./", "~/")):
        return False
    return not lowered.endswith(("example", "examplekey", "_here", "-here")) and letters not in found.key.lower()


def _entropy(value: str) -> float:
    counts = [value.count(sign) for sign in set(value)]
    return -sum(count / len(value) * log2(count / len(value)) for count in counts)


def _has_digit(value: str) -> bool:
    return any(sign.isdigit() for sign in value)


def _is_hash(value: str) -> bool:
    return len(value) in (32, 40, 64, 128) and all(sign in "0123456789abcdefABCDEF" for sign in value)


def _random(found: _Found) -> bool:
    value = found.value
    mixed = _has_digit(value) and any(sign.isalpha() for sign in value)
    return mixed and _real(found) and _entropy(value) >= 3 and not _is_hash(value)


def _mixed(found: _Found) -> bool:
    return _random(found) and not found.value.islower()


def _key(found: _Found) -> bool:
    value = found.value
    return _real(found) and (_has_digit(value) or (not value.islower() and _entropy(value) >= 3.2))


def _bearer(found: _Found) -> bool:
    return (_has_digit(found.value) or found.value.endswith("=")) and _real(found)


def _block(found: _Found) -> bool:
    """Accept the first line of a key block, when a line of a key follows."""
    return re.search(r"[A-Za-z0-9+/]{16}", found.text[found.end : found.end + 400]) is not None


def _aws(found: _Found) -> bool:
    return found.near("aws", "amazon", "secret") and _entropy(found.value) >= 4 and _random(found)


def _signed(found: _Found) -> bool:
    import binascii
    import json

    head = found.value.partition(".")[0]
    try:
        value: object = json.loads(binascii.a2b_base64(head.replace("-", "+").replace("_", "/") + "==="))
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and "alg" in value


def _said(found: _Found) -> bool:
    """Accept a password in a sentence: quoted, or with a character that words and type names lack."""
    value = found.value
    quoted = found.text[found.start - 1 : found.start] in ("`", '"', "'", "“", "「", "«")
    odd = value.isascii() and any(sign.isdigit() or sign in "!@#$%^&*+=?/~" for sign in value)
    return _real(found) and (quoted or odd)


def _cookie(found: _Found) -> bool:
    return found.near("cookie") and _entropy(found.value) >= 3.5 and _real(found)


_NUMBERS = (
    "4111111111111111 4242424242424242 4012888888881881 4000056655665556 4000000000000002 5555555555554444"
    " 5105105105105100 5200828282828210 2223003122003222 378282246310005 371449635398431 378734493671000"
    " 6011111111111117 6011000990139424"
)
_TEST_CARDS = frozenset(_NUMBERS.split())


def _card(found: _Found) -> bool:
    digits = "".join(sign for sign in found.value if sign.isdigit())
    total = sum(int(digit) if at % 2 == 0 else sum(divmod(2 * int(digit), 10)) for at, digit in enumerate(digits[::-1]))
    return total % 10 == 0 and digits not in _TEST_CARDS and len(set(digits)) > 3


def _iban(found: _Found) -> bool:
    value = found.value.replace(" ", "")
    return 15 <= len(value) <= 34 and int("".join(str(int(sign, 36)) for sign in value[4:] + value[:4])) % 97 == 1


def _ssn(found: _Found) -> bool:
    return found.near("ssn", "social security") and found.value[:3] not in ("000", "666") and found.value[0] != "9"


def _near(*words: str) -> Callable[[_Found], bool]:
    return lambda found: found.near(*words) and _real(found)


_KEYS = (
    ("S01", "private key", "age-secret-key-1", r"(?i:AGE-SECRET-KEY-1[a-z0-9]{20,}+)"),
    ("S02", "AWS key", "akia asia abia acca", r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}"),
    ("S04", "GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[oprsu]_[A-Za-z0-9]{30,}+"),
    ("S04", "GitHub token", "github_pat_", r"github_pat_[A-Za-z0-9_]{36,}+"),
    (
        "S05",
        "GitLab token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glagent- gloas- glimt-",
        r"gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|oas|imt)-[A-Za-z0-9_-]{20,}+",
    ),
    ("S06", "Slack token", "xox xapp-", r"(?:xox[abeoprs]-|xapp-)[A-Za-z0-9-]{10,}+"),
    ("S08", "Stripe key", "k_live_ k_test_", r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}+"),
    ("S10", "Anthropic key", "sk-ant-", r"sk-ant-[a-z]{2,8}[0-9]{2}-[A-Za-z0-9_-]{20,}+"),
    ("S11", "Google key", "aiza", r"AIza[A-Za-z0-9_-]{30,}+"),
    ("S11", "Google token", "ya29. gocspx-", r"(?:ya29\.|GOCSPX-)[A-Za-z0-9_-]{20,}+"),
    ("S13", "npm token", "npm_", r"npm_[A-Za-z0-9]{30,}+"),
    ("S13", "PyPI token", "pypi-", r"pypi-[A-Za-z0-9_-]{40,}+"),
    ("S13", "RubyGems key", "rubygems_", r"rubygems_[a-f0-9]{40,}+"),
    ("S13", "Hugging Face token", "hf_", r"hf_[A-Za-z0-9]{30,}+"),
    ("S13", "Replicate token", "r8_", r"r8_[A-Za-z0-9]{36,}+"),
    ("S14", "SendGrid key", "sg.", r"SG\.[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}+"),
    ("S14", "Mailchimp key", "MAILCHIMP", r"[a-f0-9]{32}-us[0-9]{1,2}"),
    ("S14", "Telegram token", ":aa", r"[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}+"),
    ("S15", "DigitalOcean token", "o_v1_ p_v1_ r_v1_", r"do[opr]_v1_[a-f0-9]{40,}+"),
    ("S15", "Shopify token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{24,}+"),
    ("S15", "Databricks token", "dapi", r"dapi[a-f0-9]{32}(?:-[0-9])?+"),
    ("S15", "Vault token", "hvs. hvb. hvr.", r"hv[sbr]\.[A-Za-z0-9_-]{24,}+"),
    ("S15", "Grafana token", "glsa_", r"glsa_[A-Za-z0-9]{32}_[a-fA-F0-9]{8}"),
    ("S15", "Doppler token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{40,}+"),
    ("S15", "Sentry token", "sntrys_ sntryu_", r"sntry[su]_[A-Za-z0-9_=+/-]{40,}+"),
    ("S15", "Linear key", "lin_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}+"),
    ("S15", "Notion token", "ntn_ secret_", r"ntn_[A-Za-z0-9]{40,}+|secret_[A-Za-z0-9]{43}"),
    ("S15", "Atlassian token", "atatt atctt", r"AT(?:ATT|CTT)3[A-Za-z0-9_=-]{24,}+"),
    ("S15", "Figma token", "figd_ figo_ figr_", r"fig[dor]_[A-Za-z0-9_-]{36,}+"),
    ("S15", "Heroku key", "hrku-", r"HRKU-[A-Za-z0-9_-]{36,}+"),
)
"""Number, kind, signs and pattern of keys with a prefix of their own."""


KEY_HEAD = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
"""The first line of a private key; without an end, all that follows is taken for the key."""


_ALONE = r"(?<![A-Za-z0-9])"
"""Precedes a pattern that could else match inside a word."""


def _rule(number: str, kind: str, guard: Callable[[_Found], bool], signs: str, *pattern: str) -> _Rule:
    return _Rule(number, kind, tuple(signs.split()), "".join(pattern), guard)


_RULES = (
    _rule("S01", "private key", _block, "-----begin", KEY_HEAD),
    _rule(
        *("S16", "JWT", _signed, "eyj"),
        r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{6,}+\.[A-Za-z0-9_-]{6,}+\.[A-Za-z0-9_-]{6,}+",
    ),
    *(
        _rule(number, kind, _key, signs, _ALONE if pattern[0] == "[" else "", rf"(?:{pattern})(?![A-Za-z0-9])")
        for number, kind, signs, pattern in _KEYS
    ),
    _rule("S09", "API key", _mixed, "sk-", r"(?<![A-Za-z0-9_-])sk-[A-Za-z0-9_-]{20,}+"),
    _rule(
        *("S03", "AWS secret", _aws, "AWS"),
        r"(?<![A-Za-z0-9+/=_.-])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=_.-])",
    ),
    _rule(
        *("S07", "webhook", _real, "hooks.slack webhook"),
        r"https://(?:hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9_/-]{20,}+)",
        r"|(?:[a-z]{1,9}\.)?discord(?:app)?\.com/api/webhooks/([0-9]{15,20}/[A-Za-z0-9_-]{40,}+)",
        r"|[a-z0-9-]{1,40}\.webhook\.office\.com/webhookb2/([A-Za-z0-9@/_-]{60,}+))",
    ),
    _rule(
        *("S12", "Azure key", _real, "accountkey sharedaccesskey"),
        r"(?i)(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/=]{16,}+)",
    ),
    _rule("S12", "Azure signature", _real, "sig=", r"(?<=[?&;])sig=([A-Za-z0-9%+/]{40,}+={0,2})"),
    _rule(
        *("S14", "Twilio key", _near("twilio", "sid", "api", "key"), "TWILIO"),
        r"(?<![A-Za-z0-9])SK[0-9a-f]{32}(?![A-Za-z0-9])",
    ),
    _rule("S14", "Mailgun key", _near("mail", "api"), "MAILGUN", r"(?<![A-Za-z0-9])key-[0-9a-f]{32}(?![A-Za-z0-9])"),
    _rule(
        *("S14", "Discord token", _random, "DISCORD"),
        r"(?<![A-Za-z0-9_-])[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}+",
    ),
    _rule(
        *("S18", "token", _bearer, "SAID"),
        r"(?i)(?<![a-z])(?:bearer|basic)[ \t]++([A-Za-z0-9._~+/-]{16,}+={0,2})",
    ),
    _rule(
        *("S22", "password", _real, "password"),
        r"(?m)(?:\bmachine\s++\S++|\bdefault|^[ \t]*+(?=login\s))(?:\s*+\b(?:login|account)\s++\S++){0,2}+",
        r"\s++password\s++(\S++)",
    ),
    _rule(
        *("S22", "password", _real, "PGPASS"),
        r"(?m)^[A-Za-z0-9.*-]{1,80}+:(?:[0-9]{4,5}|\*):[A-Za-z_*][A-Za-z0-9_-]{0,40}+:[A-Za-z0-9_.-]{1,40}+",
        r":(\S{4,}+)[ \t]*+$",
    ),
    _rule(
        *("S22", "password hash", _real, "CRYPT {sha}"),
        r"(?m)^[A-Za-z0-9_.@-]{1,64}+:",
        r"(\$(?:apr1|2[aby]|5|6)\$[A-Za-z0-9./$]{20,}+|\{SHA\}[A-Za-z0-9+/=]{20,}+)[ \t]*+$",
    ),
    _rule(
        *("S24", "one-time password", _real, "otpauth:"),
        r"(?i)otpauth://[^\s]{0,200}?[?&]secret=([A-Z2-7]{16,}+=*+)",
    ),
    _rule(
        *("S19", "password", _real, "SAID"),
        r"(?m)(?i:^[ \t>-]{0,8}+(?:export[ \t]++|set[ \t]++|env[ \t]++)?+",
        r"[A-Z0-9_]{0,40}(?:PASSWORD|PASSWD|PASSPHRASE|PWD|SECRET|TOKEN|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY)=)",
        r"(\"[^\"\n]{4,200}+\"|'[^'\n]{4,200}+'|(?![$<{])[^\s\"'()\[\]{}<>$`]{6,}+(?![(\[{]))",
    ),
    _rule("S17", "password", _real, "ADDRESS", r"(?<=://)[^\s:/@]{0,64}+:([^\s/]{3,128})(?=@)"),
    _rule(
        *("S20", "secret", _random, "SAID"),
        r"(?i)(?:password|passwd|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key)(?:_id|_base)?+",
        r"[\"'`]?+[ \t]{0,8}+(?::|=>?|:=)[ \t]{0,8}+[\"'`]?+([^\s\"'`,;(){}\[\]<>$|*]{8,}+)(?![(\[{])",
    ),
    _rule(
        *("S21", "password", _said, "SAID"),
        r"(?i)(?:passwor[dt]|passcode|passphrase|mot de passe|contraseña|密码|密碼|パスワード)",
        r"(?: (?:for|für) [^\s.,;:]{1,40}+)?+[ \t]{0,4}+(?:is|ist|lautet|est|es|是|为|為|は|:|：)[ \t]{0,4}+",
        r"(?:now |still |jetzt )?+[:：]?+[ \t]{0,4}+",
        r"(?:[`\"'“「«]([^\s`\"'“”「」«»]{6,64}+)",
        r"|([^\s`\"'“”「」«»,;，。、()]{5,63}[^\s`\"'“”「」«»,;，。、().:!?]))",
    ),
    _rule(
        *("S23", "session cookie", _cookie, "COOKIE"),
        r"(?i)(?:session(?:_?id)?|sessid|phpsessid|jsessionid|connect\.sid|\bsid|auth)=([^;,\s\"'<>]{16,512}+)",
    ),
    _rule(
        *("P03", "card number", _card, "NUMBER"),
        r"(?<![0-9A-Za-z._-])(?:(?:4[0-9]{3}|5[1-5][0-9]{2}|2[2-7][0-9]{2}|6(?:011|5[0-9]{2}))(?:[ -]?[0-9]{4}){3}",
        r"|3[47][0-9]{2}[ -]?[0-9]{6}[ -]?[0-9]{5})(?![0-9A-Za-z_-])",
    ),
    _rule(
        *("P04", "IBAN", _iban, "NUMBER"),
        r"(?<![A-Za-z0-9])[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}+(?: ?[A-Z0-9]{1,3})?+(?![A-Za-z0-9])",
    ),
    _rule("P04", "social security number", _ssn, "NUMBER", r"(?<![0-9-])[0-9]{3}-[0-9]{2}-[0-9]{4}(?![0-9-])"),
)
"""Of two matches at the same place, the first rule here names the secret."""

_RUN = 12
"""Characters without a blank; a key that stands by itself has no fewer."""
_OF_RUNS = {
    "TWILIO": (("sk",), "sk[0-9a-f]{32}"),
    "MAILGUN": (("key-",), "key-[0-9a-f]{32}"),
    "MAILCHIMP": (("-us",), "-us[0-9]"),
    "DISCORD": ((".",), r"\.[a-z0-9_-]{6}\.[a-z0-9_-]{27}"),
    "PGPASS": ((":",), r":(?:[0-9]{4,5}|\*):"),
    "CRYPT": ((":$",), r":\$"),
    "AWS": (("aws", "amazon", "secret"), "(?<![a-z0-9+/=_.-])[a-z0-9+/]{40}(?![a-z0-9+/=_.-])"),
}
"""Runs that hold keys without a distinctive prefix, in a text that has one of some words."""
_OF_LINES = {
    "NUMBER": (
        ("",),
        r"[0-9][0-9](?:[0-9]{2}[ -]?[0-9]{4}|(?<=[a-z]{2}[0-9]{2}) ?[a-z0-9]{4}|[0-9]-[0-9]{2}-[0-9]{4})",
    ),
    "ADDRESS": (("://",), r"://[^\s:/@]{0,64}:"),
    "COOKIE": (("cookie",), "(?:session|id|auth)="),
}
"""The same for lines that have a number, a URL with a colon in its host, or a cookie."""
_SAYING = ("pass", "pwd", "secret", "token", "key", "bearer", "basic", "contraseña", "密", "パスワード")
_SAID = (
    r"(?:pass(?:word|wd|phrase)|pwd|secret|token|key)(?:_id|_base)?[\"'`]?[ \t]{0,8}[:=]|(?:bearer|basic)[ \t]+\S{16}"
    r"|passwor|passcode|passphrase|passe|contraseña|密|パスワード"
)
"""Words that call something a secret; each begins with one of those above."""
_ANYWHERE = ("-----begin", "password")
"""Signs of what may hold blanks and span lines."""
_PREFIXES = tuple({sign: None for rule in _RULES for sign in rule.signs if sign.islower() and sign not in _ANYWHERE})


def _signs(lowered: str) -> list[tuple[str, tuple[int, int]]]:
    """Find the signs of secrets in a lower-case text, each with a part to search; mostly there are none."""
    whole, has = (0, len(lowered)), lowered.__contains__
    runs = " ".join([run for run in lowered.split() if len(run) >= _RUN])
    found = [(sign, whole) for sign in _ANYWHERE if sign in lowered]
    if runs:
        found += [(sign, whole) for sign in _PREFIXES if sign in runs]
        for sign, (words, pattern) in _OF_RUNS.items():
            if any(map(has, words)) and re.search(pattern, runs):
                found.append((sign, whole))
    for sign, (words, pattern) in _OF_LINES.items():
        if any(map(has, words)) and re.search(pattern, lowered):
            places = (match.start() for match in re.finditer(pattern, lowered))
            found += [(sign, line) for line in lines_around(lowered, places, 0, 0)]
    if saying := [word for word in _SAYING if word in lowered]:
        said = sorted(
            place for word in saying for place in found_at(lowered, word) if re.compile(_SAID).match(lowered, place)
        )
        found += [("SAID", line) for line in lines_around(lowered, said, 0, 0)]
    return found


def _found(text: str, part: tuple[int, int] = (0, sys.maxsize)) -> list[Secret]:
    piece = text[slice(*part)]
    lowered = lower(piece)
    looks: dict[str, list[tuple[int, int]]] = {}
    for sign, (start, end) in _signs(lowered):
        looks.setdefault(sign, []).append((part[0] + start, part[0] + end) if len(lowered) == len(piece) else part)
    if not looks:
        return []
    return [
        Secret(rule.number, rule.kind, start, end)
        for rule in _RULES
        if (spans := next((looks[sign] for sign in rule.signs if sign in looks), None))
        for start, end in _places(rule, text, spans)
    ]


def _places(rule: _Rule, text: str, spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    end = 0
    for match in chain.from_iterable(re.compile(rule.pattern).finditer(text, *span) for span in spans):
        start, stop = match.span(match.lastindex or 0)
        if start < end or not rule.guard(_Found(text, start, stop, text[match.start() : start])):
            continue
        if rule.guard is _block:
            stop = _end_of_block(text, stop)
        end = stop
        yield start, stop


def _end_of_block(text: str, start: int) -> int:
    last = re.compile("-----END [A-Z0-9 ]{1,60}-----").search(text, start)
    return len(text) if last is None else last.end()
