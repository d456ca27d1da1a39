"""Secrets in what agents are given: keys, tokens and passwords are replaced by a word that says what was there.

A memory with a password in it would otherwise reach every model, and whoever keeps its logs, at each start. Only the
copy that is handed out is masked. Each pattern needs time in proportion to the text: nothing is looked at twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

BEGIN = "[masked: "
"""What stands where a secret was begins like this."""


class Masked(NamedTuple):
    """A text without its secrets."""

    text: str
    secrets: int
    """How many there were."""


class _Kind(NamedTuple):
    """One kind of secret."""

    word: str
    anchors: tuple[str, ...]
    """Lower-case texts one of which is there whenever the pattern matches: a plain look is cheaper than a pattern."""
    pattern: str
    """Its last group is what is masked, or the whole where it has none."""
    block: bool = False
    """Whether it is only the first line of what is masked."""


_PASSWORDS = ("password", "passwd", "passphrase")
_KEYS = ("secret", "token", "api_key", "apikey", "api-key", "access_key", "access-key", "accesskey")
_KINDS = (
    _Kind("private key", ("-----begin",), r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----", block=True),
    _Kind("private key", ("age-secret-key-1",), r"(?i)AGE-SECRET-KEY-1[a-z0-9]{20,}+"),
    _Kind("JWT", ("eyj",), r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{6,}+\.[A-Za-z0-9_-]{6,}+(?:\.[A-Za-z0-9_-]*+)?"),
    _Kind(
        "API key",
        ("akia", "asia", "aiza", "ya29.", "sg."),
        r"(?<![A-Za-z0-9])(?:A(?:KIA|SIA)[A-Z0-9]{16}+(?![A-Za-z0-9])|AIza[A-Za-z0-9_-]{30,}+|ya29\.[A-Za-z0-9_-]{20,}+"
        r"|SG\.[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}+)",
    ),
    _Kind(
        "API key",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "npm_", "pypi-", "hf_", "dop_v1_", "shpat_"),
        r"(?<![A-Za-z0-9])(?:gh[oprsu]_[A-Za-z0-9]{20,}+|github_pat_[A-Za-z0-9_]{20,}+|glpat-[A-Za-z0-9_-]{16,}+"
        r"|npm_[A-Za-z0-9]{30,}+|pypi-[A-Za-z0-9_-]{40,}+|hf_[A-Za-z0-9]{24,}+|dop_v1_[a-f0-9]{40,}+"
        r"|shpat_[a-fA-F0-9]{24,}+)",
    ),
    _Kind(
        "API key",
        ("sk-", "sk_live", "sk_test", "rk_live", "rk_test", "xox", "xapp-"),
        r"(?<![A-Za-z0-9])(?:sk-[A-Za-z0-9_-]{20,}+|[rs]k_(?:live|test)_[A-Za-z0-9]{16,}+"
        r"|xox[abeoprs]-[A-Za-z0-9-]{10,}+|xapp-[A-Za-z0-9-]{10,}+)",
    ),
    _Kind("token", ("bearer", "basic"), r"(?i)(?<![a-z])(?:bearer|basic)[ \t]++([A-Za-z0-9._~+/-]{16,}+={0,2})"),
    _Kind(
        "password",
        ("password",),
        r"(?m)(?:\bmachine\s++\S++|\bdefault|^[ \t]*+(?=login\s))(?:\s*+\b(?:login|account)\s++\S++){0,2}+"
        r"\s++password\s++(\S++)",
    ),
    _Kind("password", ("accountkey",), r"(?i)AccountKey=([A-Za-z0-9+/=]{16,}+)"),
    _Kind("API key", ("bot", "telegram", ":aa"), r"(?<![0-9A-Za-z])[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}+"),
    _Kind(
        "password",
        (*_PASSWORDS, "secret", "token"),
        r"(?m)(?i:^[ \t]*+(?:export[ \t]++)?[A-Z0-9_]{0,40}(?:PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN)=)"
        r"(\"[^\"\n]{4,}+\"|'[^'\n]{4,}+'|(?![$<{])[^\s\"'()\[\]{}<>$]{6,}+(?![(\[{]))",
    ),
    _Kind("password", ("://",), r"(?<=://)[^\s:/@]{0,64}+:([^\s/@]{3,128}+)(?=@)"),
    _Kind(
        "secret",
        (*_PASSWORDS, *_KEYS),
        r"(?i)(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key)(?:_id|_base)?[\"']?[ \t]{0,8}+"
        r"[:=][ \t]{0,8}+"
        r"[\"'`]?(?=[^\s\"'`]{0,64}?[0-9])(?=[^\s\"'`]{0,64}?[a-z])([^\s\"'`,;(){}\[\]<>$|*]{8,}+)(?![(\[{])",
    ),
)
"""In the order in which they are masked: what one has taken, the next no longer sees."""

_ANCHORS = tuple({anchor: None for kind in _KINDS for anchor in kind.anchors})
_HIDDEN = dict.fromkeys((0xAD, 0x61C, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFEFF))
"""Characters nobody sees, which would keep a secret from being recognised."""


def mask(text: str) -> Masked:
    """Replace every secret in a text by `[masked: what it was]`.

    Args:
        text: a memory's text, or a part of it that begins where the text does: a key block that does not end is masked
            to the end of the text.
    """
    if not text.isascii() and _HIDDEN.keys() & set(map(ord, text)):
        plain, found = mask(text.translate(_HIDDEN)), _masked(text)
        return plain if plain.secrets > found.secrets else found
    return _masked(text)


def _masked(text: str) -> Masked:
    lowered = text.lower()
    here = {anchor for anchor in _ANCHORS if anchor in lowered}
    count = 0
    if not here:
        return Masked(text, 0)
    for kind in _KINDS:
        if here.isdisjoint(kind.anchors):
            continue
        pieces: list[str] = []
        end = 0
        for start, stop in _found(kind, text):
            pieces += (text[end:start], f"{BEGIN}{kind.word}]")
            end = stop
            count += 1
        if pieces:
            text = "".join((*pieces, text[end:]))
    return Masked(text, count)


def _found(kind: _Kind, text: str) -> Iterator[tuple[int, int]]:
    """Where secrets of one kind begin and end, in order."""
    end = 0
    for match in re.finditer(kind.pattern, text):
        start, stop = match.span(match.re.groups)
        if start < end:
            continue
        if kind.block:
            stop = _end_of_block(text, stop)
        end = stop
        yield start, stop


def _end_of_block(text: str, start: int) -> int:
    """Where a key block ends that begins before `start`: behind its last line, or with the text."""
    last = text.find("-----END ", start)
    if last < 0:
        return len(text)
    dashes = text.find("-----", last + 9, last + 80)
    return len(text) if dashes < 0 else dashes + 5
