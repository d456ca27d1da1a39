"""Secrets are found and masked, each kind of them; what is no secret stays; no text makes the look for them slow."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui import mask as module
from memtui.mask import BEGIN, Secret, around, mask, secrets, shown, shown_bytes, shown_parts, with_secrets
from tests import planted
from tests.growth import growth

KEY = (
    "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\nAAAAB3NzaC1yc2E=\n-----END OPENSSH PRIVATE KEY-----"
)
GITHUB = "gh" + "p_" + "a1B2" * 9
AWS = "AK" + "IA" + "IOSFODNN7QWERTYU"


def test_planted_secrets_are_found_and_innocent_lines_are_not() -> None:
    found, missed, wrong = 0, [], []
    for seed in range(3):
        for kind, value, text in planted.secrets(seed):
            masked = mask(text)
            whole = any(value in text[one.start : one.end] for one in masked.secrets)
            found += whole
            missed += [] if whole else [(kind, text)]
            assert not whole or (value not in masked.text and any(one.rule == kind[:3] for one in masked.secrets)), kind
        wrong += [text for text in planted.innocents(seed) if secrets(text)]
    planted_ones, others = len(planted.PLANTS) * 9, len(planted.INNOCENT) * 9
    assert len(planted.PLANTS) >= 40
    assert planted_ones / 3 >= 120
    assert others / 3 >= 120
    assert found / planted_ones >= 0.95, missed
    assert found / (found + len(wrong)) >= 0.97, wrong


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "machine api.example.org login ann password hunter2",
            "machine api.example.org login ann password [masked: password]",
        ),
        ("machine h\n  login ann\n  password hunter2\n", "machine h\n  login ann\n  password [masked: password]\n"),
        ("postgres://ann:hunter2@db/main", "postgres://ann:[masked: password]@db/main"),
        ('DB_PASSWORD="two words here"', "DB_PASSWORD=[masked: password]"),
        ("postgres://ann:p@ssw0rd9@db/main", "postgres://ann:[masked: password]@db/main"),
        ("ann:$apr1$abcdefgh$0123456789abcdefghijkl", "ann:[masked: password hash]"),
        (f"token={GITHUB}", "token=[masked: GitHub token]"),
        (f"{GITHUB[:4]}\u200b{GITHUB[4:]} and {GITHUB}", "[masked: GitHub token] and [masked: GitHub token]"),
        (f"&#{ord('g')};&#x68;{GITHUB[2:]}!", "[masked: GitHub token]!"),
        (f"{AWS} and {AWS}, then {KEY}\n{KEY}\nend", "[masked: AWS key] and [masked: AWS key], then {0}\n{0}\nend"),
        ("a\n" + KEY[:60], "a\n[masked: private key]"),
        (f"{KEY[:60]}\n-----END \n{KEY[60:]} end", "[masked: private key] end"),
        ("a h" + "f_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZabcdefgh b", "a [masked: Hugging Face token] b"),
        ("a AK" + "IAQWERTYUIOPASDFGH b", "a [masked: AWS key] b"),
        ("a h" + "f_" + "abcdefghijklmnopqrstuvwxyzabcdefgh b", "a h" + "f_" + "abcdefghijklmnopqrstuvwxyzabcdefgh b"),
        (f"x{GITHUB} n{AWS}", "x[masked: GitHub token] n[masked: AWS key]"),
        ("".join(chr(ord(sign) + 0xFEE0) for sign in AWS), "[masked: AWS key]"),
        ("SSN 219-09-9999, not 000-12-3456", "SSN [masked: social security number], not 000-12-3456"),
        ("", ""),
        ("plain", "plain"),
        ("\ud800 the password is `hunter2!`", "\ud800 the password is `[masked: password]`"),
    ],
)
def test_only_the_value_is_masked(text: str, shown: str) -> None:
    assert mask(text).text == shown.replace("{0}", "[masked: private key]")


def test_offsets_are_those_of_the_text_as_given() -> None:
    text = f"\u200b{AWS[:4]}\u2060{AWS[4:]} and &#x41;{AWS[1:]}."
    first, second = secrets(text)
    assert first == Secret("S02", "AWS key", 1, 22)
    assert text[second.start : second.end] == f"&#x41;{AWS[1:]}"


PLANTED = [text for seed in range(4) for _, _, text in planted.secrets(seed)]
INNOCENT = [text for seed in range(4) for text in planted.innocents(seed)]


def test_looking_where_the_signs_are_finds_what_the_whole_text_holds() -> None:
    texts = [*PLANTED, *INNOCENT, KEY, f"x{GITHUB}", AWS, "IBAN MT84 MALT 0110", "a pa\u017f\u017fword: hunter2!9x"]
    texts += ["\n".join(texts[at : at + 40]) for at in range(0, len(texts), 40)]
    found = 0
    for text in texts:
        whole = [
            Secret(rule.number, rule.kind, *place)
            for rule in module._RULES
            for place in module._places(rule, text, [(0, len(text))])
        ]
        assert module._found(text) == whole
        found += len(whole)
    assert found > 800


def test_most_texts_hold_no_sign_of_a_secret() -> None:
    for text in ("a plain note on retries, from 2026-11-23", "memtui:global/notes/some-name.md"):
        assert list(module._signs(text)) == []


@given(st.text(max_size=80), st.text(max_size=80), st.sampled_from([AWS, KEY, GITHUB]))
def test_no_text_around_a_secret_saves_it(before: str, after: str, secret: str) -> None:
    text = f"{before} {secret} {after}"
    masked = mask(text)
    assert secret not in masked.text
    ends = [0, *(place for one in masked.secrets for place in (one.start, one.end)), len(text)]
    assert ends == sorted(ends)
    pieces = [text[start:end] for start, end in zip(ends[::2], ends[1::2], strict=True)]
    marks = [f"{BEGIN}{one.kind}]" for one in masked.secrets]
    assert masked.text == "".join(piece + mark for piece, mark in zip(pieces, [*marks, ""], strict=True))


@given(
    st.lists(
        st.sampled_from([" deploy ", "\n", " ", f" {GITHUB} ", KEY, "the password is `hunter2!`", "é"]), max_size=12
    )
)
def test_a_part_is_masked_as_in_the_whole_and_places_move_with_it(parts: list[str]) -> None:
    text = "".join(parts)
    kept, whole = mask(text, lines=True), mask(text)
    assert kept.text == shown(text) == shown_bytes(text.encode()).decode()
    assert kept.text.count("\n") == text.count("\n")
    assert mask(whole.text) == (whole.text, ())
    at = 0
    for line in text.split("\n"):
        part = around(text, at, at + len(line))
        assert not [part for value in (GITHUB, *KEY.split("\n")) if value in part.text]
        at += len(line) + 1
    data, at, spans = text.encode(), 0, []
    for raw in data.split(b"\n"):
        spans.append((at, at + len(raw)))
        at += len(raw) + 1
    assert shown_parts(data, [(0, len(data))]) == [shown_bytes(data)]
    parted = b"\n".join(shown_parts(data, spans)).decode()
    assert not [value for value in (GITHUB, *KEY.split("\n")) if value in parted]
    for one in whole.secrets:
        assert whole.text[slice(*whole.moved(one.start + 1, one.end - 1))] == f"{BEGIN}{one.kind}]"
    first = text.find("deploy", text.rfind("`"))
    assert first < 0 or whole.text[slice(*whole.moved(first, first + 6))] == "deploy"


def test_many_texts_are_masked_as_each_of_them_is() -> None:
    texts = [text for seed in range(2) for _, _, text in planted.secrets(seed)] + list(planted.innocents(0))
    found = with_secrets(texts)
    assert found == {text: mask(text) for text in texts if secrets(text)}
    assert with_secrets(list(planted.innocents(0))) == {}


UNITS = (
    *("eyJ", "QUJD", "a", "login ", "machine ", "machine" + " " * 40, "password=", "password: a1", "://a:", "sk-"),
    *(
        "token=''",
        "-----BEGIN RSA PRIVATE KEY-----\n",
        "bearer ",
        "eyJaaaaaaaaa.",
        "secret\t",
        "gh",
        "the password is ",
    ),
    *(
        "otpauth://",
        "otpauth://?",
        "a:1234:a:a:",
        "1",
        "4111 ",
        "DE11 ",
        "sessionid=",
        "https://discord.com/",
        "\u200b",
    ),
    *("&#65;", "password", "N" * 24 + "." + "a" * 6 + ".", "AccountKey=", "sig=", "&sig="),
)


SIGNS = {sign for rule in module._RULES for sign in rule.signs}
WRITTEN = {
    "TWILIO": "sk" + "0" * 32,
    "MAILGUN": "key-" + "0" * 32,
    "MAILCHIMP": "a-us1",
    "PGPASS": "a:1234:",
    "CRYPT": ":$",
}
WRITTEN |= {"DISCORD": f".{'a' * 6}.{'a' * 27}", "AWS": f"aws {'a' * 40}", "NUMBER": "12345678", "ADDRESS": "://a:"}
WRITTEN |= {"COOKIE": "cookie id=", "SAID": "password"}
LEAD = " ".join(f"{WRITTEN.get(sign, sign)},,,,,,,,,,," for sign in sorted(SIGNS))
"""Every pattern runs over a text that begins so; those of lines over its lines with their signs."""


def test_the_lead_has_every_sign() -> None:
    assert {sign for sign, _ in module._signs(LEAD)} >= SIGNS


@pytest.mark.parametrize("unit", sorted({*UNITS, *(sign for sign in SIGNS if sign.islower())}))
def test_time_grows_with_the_text_and_no_faster(unit: str) -> None:
    def look(size: int) -> None:
        mask(LEAD + " " + (unit * (size // len(unit) + 1))[:size])

    assert growth(look, 3 * 1024, 24 * 1024) < 24


@pytest.mark.parametrize("unit", ["password: a1", "otpauth://", "4111 ", "-----BEGIN RSA PRIVATE KEY-----\n"])
def test_a_megabyte_takes_eight_times_as_long_as_an_eighth_of_it(unit: str) -> None:
    assert growth(lambda size: mask((unit * (size // len(unit) + 1))[:size]), 128 * 1024, 1024 * 1024) < 24
