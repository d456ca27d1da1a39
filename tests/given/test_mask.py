"""Secrets do not leave the machine with a memory; what is no secret stays readable."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.given.mask import BEGIN, mask

KEY = (
    "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\nAAAAB3NzaC1yc2E=\n-----END OPENSSH PRIVATE KEY-----"
)
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"


def made(*parts: str) -> str:
    """A secret put together here, so that no scanner takes this file for a leak."""
    return "".join(parts)


SECRETS = {
    "aws": (made("AKIA", "IOSFODNN7EXAMPLE"), "API key"),
    "github": (made("ghp_", "a1B2" * 9), "API key"),
    "github, fine": (made("github_pat_", "11ABCDEFG0" * 5), "API key"),
    "gitlab": (made("glpat-", "x1y2z3A4B5C6D7E8F9G0"), "API key"),
    "slack": (made("xox", "b-123456789012-abcdefABCDEF"), "API key"),
    "openai": (made("sk-", "proj-abcDEF123456abcDEF123456"), "API key"),
    "anthropic": (made("sk-", "ant-api03-abcDEF123456abcDEF-123456"), "API key"),
    "stripe": (made("sk_live", "_abcdefABCDEF123456"), "API key"),
    "google": (made("AIza", "SyA1234567890abcdefghijklmnopqrstuv"), "API key"),
    "npm": (made("npm_", "a1b2c3d4e5" * 4), "API key"),
    "pypi": (made("pypi-", "AgEIcHlwaS5vcmc" * 4), "API key"),
    "jwt": (JWT, "JWT"),
    "private key": (KEY, "private key"),
    "pgp": (KEY.replace("OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"), "private key"),
    "age": (made("AGE-SECRET-", "KEY-1", "QQPZRY9X8GF2TVDW0S3JN54K"), "private key"),
    "bearer": ("0123456789abcdefABCDEF0123", "token"),
}
AROUND = {"bearer": "Authorization: Bearer {} "}


@pytest.mark.parametrize("name", SECRETS)
def test_each_kind_is_masked_wherever_it_stands(name: str) -> None:
    secret, word = SECRETS[name]
    for around in [AROUND[name]] if name in AROUND else ["{}", "see {} there", "key={}\n", '"{}",', "({})", "\n{}\n"]:
        text = around.format(secret)
        masked = mask(text)
        assert secret not in masked.text
        assert not set(secret.splitlines()) & set(masked.text.splitlines())
        assert masked.secrets == 1
        assert BEGIN in masked.text
        if around == "{}":
            assert masked.text == f"{BEGIN}{word}]"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "machine api.example.org login ann password hunter2",
            "machine api.example.org login ann password [masked: password]",
        ),
        ("machine h\n  login ann\n  password hunter2\n", "machine h\n  login ann\n  password [masked: password]\n"),
        ("default login anonymous password user@site", "default login anonymous password [masked: password]"),
        ("postgres://ann:hunter2@db/main", "postgres://ann:[masked: password]@db/main"),
        ("DB_PASSWORD=hunter2hunter2", "DB_PASSWORD=[masked: password]"),
        ("DB_PASSWORD=correcthorse", "DB_PASSWORD=[masked: password]"),
        ('DB_PASSWORD="two words here"', "DB_PASSWORD=[masked: password]"),
        ("export API_TOKEN='abc def ghi'", "export API_TOKEN=[masked: password]"),
        ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: Basic [masked: token]"),
        ("AccountName=x;AccountKey=abcdEFGH1234abcdEFGH==;", "AccountName=x;AccountKey=[masked: password];"),
        (made("12345678:", "AAF1abcdefghijklmnopqrstuvwxyz123"), "[masked: API key]"),
        (made("gh\u200bp_", "a1B2" * 4, "\u2060", "a1B2" * 5), "[masked: API key]"),
        ('api_key: "abcd1234efgh"', 'api_key: "[masked: secret]"'),
        (
            "export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "export AWS_SECRET_ACCESS_KEY=[masked: secret]",
        ),
    ],
)
def test_passwords_are_masked_in_their_usual_places(text: str, shown: str) -> None:
    assert mask(text) == (shown, 1)


@pytest.mark.parametrize(
    "text",
    [
        "Ask Ann for the password: it is in the vault.",
        "The token budget is 12000 tokens; token: 4000.",
        "Read `SECRET_KEY = os.environ['SECRET_KEY']` in settings.",
        "password: ${DB_PASSWORD}",
        "token = get_token(user)",
        "The login page and the password reset.",
        "risk-averse, ask-me-anything, task-123456789012345",
        "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
        "https://example.org:8080/a@b and git@example.org:x/y",
        "eyJ is how a JWT begins",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert mask(text) == (text, 0)


def test_a_key_block_without_end_is_masked_to_the_end() -> None:
    assert mask("a\n" + KEY[:60]) == ("a\n[masked: private key]", 1)


def test_several_are_counted() -> None:
    text = f"{SECRETS['aws'][0]} and {SECRETS['aws'][0]}, then {JWT}\n{KEY}\n{KEY}\nend"
    masked = mask(text)
    assert masked.secrets == 5
    assert masked.text.endswith("[masked: private key]\nend")


@given(st.text(max_size=80), st.text(max_size=80), st.sampled_from(["aws", "private key", "openai", "gitlab"]))
def test_no_text_around_a_secret_saves_it(before: str, after: str, name: str) -> None:
    secret = SECRETS[name][0]
    assert secret not in mask(f"{before} {secret} {after}").text


HOSTILE = [
    "eyJ", "QUJD", "a", "login ", "machine ", "machine" + " " * 40, "password=", "password: a1", "://a:", "sk-",
    "token=''",
    "-----BEGIN RSA PRIVATE KEY-----\n", "bearer ", "AKIA", "eyJaaaaaaaaa.", "secret\t", "SG.", "gh", "xoxb-",
]  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_time_grows_with_the_text_and_no_faster(unit: str) -> None:
    def best(size: int) -> float:
        text = (unit * (size // len(unit) + 1))[:size]
        times = []
        for _ in range(3):
            start = time.process_time()
            mask(text)
            times.append(time.process_time() - start)
        return min(times)

    assert best(256 * 1024) < 8 * best(64 * 1024) + 0.02
