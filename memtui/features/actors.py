"""How those who write memories are named for people."""

from memtui.engine.model import is_person

OWN_FOLDERS = ("files", "memtui", "")
"""Agents that say nothing about who wrote into a folder."""


def who_words(actor: str, agent: str = "") -> str:
    """Name a writer: `claude`; `outside (codex)` for an unknown one in an agent's folder; `you`."""
    if is_person(actor):
        return "you"
    name = actor.removeprefix("agent:")
    return f"{name} ({agent})" if actor == "outside" and agent not in OWN_FOLDERS else name
