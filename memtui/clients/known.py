"""The clients memtui can be installed in: the one list of them."""

from memtui.clients.claude_code import CLAUDE_CODE
from memtui.clients.client import Client
from memtui.clients.codex import CODEX
from memtui.clients.gemini import GEMINI
from memtui.clients.qwen import QWEN
from memtui.clients.vscode import VSCODE

CLIENTS: tuple[Client, ...] = (CLAUDE_CODE, CODEX, GEMINI, QWEN, VSCODE)
"""Every client, in the order in which they are shown; a test compares their names with `names.KNOWN`."""


def client_named(name: str) -> Client:
    """Return a client by its name, which is one of `names.KNOWN`."""
    return next(client for client in CLIENTS if client.name == name)
