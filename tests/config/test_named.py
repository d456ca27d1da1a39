"""Tables with names of the user's own: what they may say, and that no secret is repeated."""

from pathlib import Path

import pytest

from memtui.config.named import NAMED
from memtui.config.read import load_settings, read_environment, reread
from memtui.errors import UsageError

SECRET = "sk4f9aK2mQ7xT1vB8nR3wE6y"


def test_an_entry_is_read_and_read_again(home: Path) -> None:
    (home / ".memtui-test").mkdir()
    file = home / ".memtui-test" / "config.toml"
    file.write_text(
        '[jobs.a]\nargv = ["x", "y"]\ncwd = "/w"\n[channels."team eng"]\nspeak = true\nquiet = "22:00-07:00"\n'
    )
    found = load_settings(read_environment())
    assert (found.entries("jobs")["a"].texts("argv"), found.entries("jobs")["a"].text("cwd")) == (("x", "y"), "/w")
    assert (found.entries("channels")["team eng"].flag("speak"), found.entries("budgets")) == (True, {})
    file.write_text('[budgets.org]\nlimit = 5\nunit = "tokens"\nwindow = "day"\n')
    again = reread(found)
    assert (again.entries("jobs"), again.entries("budgets")["org"].number("limit")) == ({}, 5)


@pytest.mark.parametrize(
    "text",
    [
        "jobs = 1",
        "[jobs]\na = 1",
        '[jobs.a]\nargv = "x"\ncwd = "/w"',
        '[jobs.a]\nargv = []\ncwd = "/w"',
        '[jobs.a]\ncwd = "/w"',
        '[jobs.a]\nargv = ["x"]\ncwd = "/w"\nshell = true',
        f'[delivery.a]\nkind = "feishu"\nsecret = "{SECRET}"',
        f'[delivery.a]\nkind = "webhook"\nurl = "https://h.example/hook?key={SECRET}"',
        f'[delivery.a]\nkind = "webhook"\nurl = "https://h.example/hook/{SECRET}"',
        f'[delivery.a]\nkind = "webhook"\nurl = "https://u:{SECRET}@h.example/hook"',
        '[delivery.a]\nkind = "webhook"\nurl = "http://h.example/"',
        '[delivery.a]\nkind = "mail"',
        '[channels.a]\nquiet = "22-7"',
        '[channels.a]\nzone = "Mars/One"',
        '[budgets.a]\nlimit = 5\nunit = "tokens"\nwindow = "day"',
        '[budgets.org]\nlimit = 0\nunit = "tokens"\nwindow = "day"',
        '[budgets.org]\nlimit = true\nunit = "tokens"\nwindow = "day"',
        '[budgets.org]\nlimit = 5\nunit = "tokens"\nwindow = "week"',
    ],
)
def test_what_an_entry_may_not_say_is_refused_without_its_secret(home: Path, text: str) -> None:
    (home / ".memtui-test").mkdir()
    (home / ".memtui-test" / "config.toml").write_text(text + "\n")
    with pytest.raises(UsageError) as error:
        load_settings(read_environment())
    assert error.value.code == "E_CONFIG"
    assert SECRET not in f"{error.value} {error.value.hint} {error.value.details}"


def test_a_reference_or_a_plain_address_is_taken(home: Path) -> None:
    (home / ".memtui-test").mkdir()
    said = 'kind = "webhook"\nurl = "{}"\nsecret = "{}"\n'
    pairs = [("https://h.example/hook", "env:X"), ("env:URL", "file:~/s"), ("http://127.0.0.1:1/x", "file:/s")]
    text = "".join(f"[delivery.a{n}]\n{said.format(*pair)}" for n, pair in enumerate(pairs))
    (home / ".memtui-test" / "config.toml").write_text(text)
    found = load_settings(read_environment()).entries("delivery")
    assert [(one.text("url"), one.text("secret")) for one in found.values()] == pairs


def test_every_key_has_a_sentence() -> None:
    assert all(key.text.endswith(".") for _, keys in NAMED.values() for key in keys)
