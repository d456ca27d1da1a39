"""One name for each client, whatever it calls itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.agents.table import CLIENTS, canonical, meant, nearest


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("claude-code", "claude-code"),
        ("Claude Code", "claude-code"),
        ("claude_code", "claude-code"),
        ("mcp:claude-code", "claude-code"),
        ("agent:claude-code/a name of its own", "claude-code"),
        ("codex-mcp-client", "codex"),
        ("Codex", "codex"),
        ("gemini-cli-mcp-client", "gemini"),
        ("qwen-code-mcp-client-memtui", "qwen"),
        ("Visual Studio Code", "vscode"),
        ("Visual Studio Code - Insiders", "vscode"),
        ("codexion", "codexion"),
        ("My  Own_Agent", "my-own-agent"),
        ("*", "*"),
        ("", ""),
    ],
)
def test_names(said: str, name: str) -> None:
    assert canonical(said) == name


@given(st.sampled_from(sorted(CLIENTS)) | st.text(max_size=20))
def test_a_name_is_its_own(text: str) -> None:
    assert canonical(text) in (canonical(canonical(text)), *CLIENTS)
    assert canonical(text.upper()) == canonical(text) or not text.isascii()


@pytest.mark.parametrize(
    ("name", "near"),
    [("cladue-code", "claude-code"), ("codx", "codex"), ("codex", None), ("Claude Code", None), ("aider", None)],
)
def test_a_slip_is_noticed(name: str, near: str | None) -> None:
    assert meant(name) == near


def test_the_nearest_names_come_first() -> None:
    known = ["cli", "mcp:gemini-cli-mcp-client", "mcp:codex-mcp-client", "mcp:Visual Studio Code", "outside"]
    assert nearest("mcp:codex", known)[0] == "mcp:codex-mcp-client"
    assert nearest("gemini", known)[0] == "mcp:gemini-cli-mcp-client"
    assert nearest("vscode", known)[0] == "mcp:Visual Studio Code"
    assert nearest("outsde", known)[0] == "outside"
    assert sorted(nearest("x", known)) == sorted(known)
