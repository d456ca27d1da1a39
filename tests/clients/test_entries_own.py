"""What memtui wrote is told from what merely speaks of memtui."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.clients.entries import hook_client, is_server
from memtui.clients.start import how_to_start
from memtui.config.directories import Directories
from memtui.config.settings import Settings

HOOK = "context --format hook --client codex"
WORDS = st.sampled_from(
    ["memtui", "/m/memtui", "context", "--format", "hook", "--client", "codex", "--home", "/h", "-m", "&&", ";", "echo"]
)


@pytest.mark.parametrize(
    "line",
    [
        f"memtui {HOOK}",
        f"/opt/bin/memtui {HOOK}",
        f"'/my tools/memtui' {HOOK} --home '/x y'",
        f"/usr/bin/python3.11 -P -m memtui {HOOK}",
        f"python3 -m memtui {HOOK}",
    ],
)
def test_a_hook_of_ours(line: str) -> None:
    assert hook_client(line) == "codex"


@pytest.mark.parametrize(
    "line",
    [
        "echo memtui context",
        "cat notes # memtui context",
        "memtui ls && memtui context | tee /tmp/x",
        f"/usr/bin/memtui {HOOK} && mine",
        f"/usr/bin/memtui {HOOK}; mine",
        f"/usr/bin/memtui {HOOK};mine",
        f"/usr/bin/memtui {HOOK}>/tmp/x",
        f"/usr/bin/memtui {HOOK} --home $(mine)",
        f"/usr/bin/memtui {HOOK} --home `mine`",
        f"/usr/bin/memtui {HOOK} --home ~/notes",
        f"/usr/bin/memtui {HOOK}\nmine",
        f"/usr/bin/memtui {HOOK} # mine",
        f"/usr/bin/memtui  {HOOK}",
        f"A=b memtui {HOOK}",
        f"echo memtui {HOOK}",
        f"/bin/echo -m memtui {HOOK}",
        f"./memtui {HOOK}",
        f"/usr/bin/memtui-other {HOOK}",
        f"/usr/bin/memtui {HOOK} --root notes=/n",
        f"/usr/bin/memtui {HOOK} --part hot",
        f"/usr/bin/memtui {HOOK} --home",
        f"/usr/bin/memtui {HOOK} --home --home",
        f"/usr/bin/memtui {HOOK} --home /a --home /b",
        "memtui context",
        "memtui context --root notes=/n",
        "memtui context --format hook",
        "memtui context --format hook --client",
        "memtui --home /x context --format hook --client codex",
        "memtui 'context",
        "memtui",
        "",
        None,
        ["memtui", "context"],
    ],
)
def test_a_hook_of_the_users(line: object) -> None:
    assert hook_client(line) is None


@given(st.lists(WORDS, max_size=9))
def test_only_one_shape_is_ours(words: list[str]) -> None:
    if hook_client(" ".join(words)) is not None:
        assert words[-5:] == HOOK.split() or words[-7:] == [*HOOK.split(), "--home", words[-1]]
        assert {"&&", ";", "echo"}.isdisjoint(words)


@pytest.mark.parametrize("access", [None, "rw", "plan", "ro"])
@pytest.mark.parametrize("home", ["per user", "--home"])
@pytest.mark.parametrize("words", [("/m y/memtui",), ("/opt/python3", "-P", "-m", "memtui")])
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("context", ["full", "short", "none"])
def test_whatever_is_written_is_known_again(
    access: str | None, home: str, words: tuple[str, ...], shared: bool, context: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memtui.clients.start.found_command", lambda *_: words)
    settings = Settings(Directories("/c d", "/s", "/d", home), "/home/ann")
    start = how_to_start(settings, "qwen", access=access, shared=shared, context=context)
    assert hook_client(start.hook) == "qwen"
    assert is_server(start.server)
    assert is_server({"type": "stdio", "cwd": "${workspaceFolder}"} | start.server)
    assert is_server(start.server | {"trust": True, "env": {"A": "b"}})
    assert not is_server(start.server | {"type": "http"})
    assert not is_server(start.server | {"env": "x"})
    assert not is_server(start.server | {"args": [*start.args, "--root", "notes=/n"]})
    assert hook_client(f"{start.hook} {shlex.quote('a b')}") is None


@pytest.mark.parametrize(
    "value",
    [
        {"command": "mine", "env": {"A": "b"}},
        {"command": "mine", "args": ["mcp"]},
        {"command": "memtui"},
        {"command": "memtui", "args": "mcp"},
        {"command": "memtui", "args": []},
        {"command": "memtui", "args": ["mcp", 1]},
        {"command": "memtui", "args": ["mcp", "--access=ro"]},
        {"command": "memtui", "args": ["mcp", "--access", "all"]},
        {"command": "memtui", "args": ["mcp", "--access"]},
        {"command": "memtui", "args": ["mcp", "--no-context", "--no-context"]},
        {"command": "memtui", "args": ["mcp", "--no-context", "--access", "ro"]},
        {"command": "sh", "args": ["-c", "memtui mcp"]},
        {"command": "uvx", "args": ["memtui", "mcp"]},
        {"command": ["memtui", "mcp"]},
        {"url": "http://localhost"},
        {"env": {"A": "b"}},
        {},
        [],
        "memtui",
        None,
    ],
)
def test_a_server_of_the_users(value: object) -> None:
    assert not is_server(value)
