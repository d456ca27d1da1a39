"""What the view asks once about agents' sessions, in words, and what an answer does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.config.read import reread
from memtui.features.sessions import switch
from memtui.transcripts.sessions import ALL, CARDS, OFF, PROJECT
from memtui.ui.draw.spans import Line

if TYPE_CHECKING:
    from memtui.config.settings import Settings
    from memtui.engine import Engine

ASKED: Line = [
    (" Agents' sessions can make cards, too. ", "description"),
    ("S", "key"),
    (" says what is kept, and asks once", "description"),
]
ANSWERED = "That was answered: memtui sessions says how, and changes it."
HINT = "type project, all or no"
ANSWERS = {"project": PROJECT, "all": ALL, "no": OFF}
"""Typed answers, and the setting each stands for."""


def explained(settings: Settings) -> list[str]:
    """Return the question in paragraphs."""
    return [
        switch.question(PROJECT, CARDS, settings.lifecycle_worker),
        "",
        "project: only what happened in this project; all: in every project; no: nothing is read.",
        "esc asks the next time. `memtui sessions` changes the answer at any time.",
    ]


def answer(engine: Engine, settings: Settings, read: str) -> str:
    """Store the answer in settings and audit, and return what it means; raises `E_PERSON` or `E_READ_ONLY`."""
    engine.history.check_settable()
    switch.write_consent(settings, read, settings.transcripts_keep if read == OFF else CARDS)
    switch.record_consent(engine, reread(settings), known=True)
    if read == OFF:
        return "No session is read. memtui sessions on asks again."
    return "Sessions make cards from now on. memtui sessions off ends it."
