"""Budgets for gateways: asked before a prompt over HTTP, and shown in a chat.

It is apart because a command line loads none of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.features.attribution.door import known_fields, text_of
from memtui.features.attribution.said import ChatReply, named
from memtui.features.budgets.limits import admit, budget_words
from memtui.features.budgets.verbs import admission_json
from memtui.features.tasks.workspace import workspace_of
from memtui.wire.times import rfc3339

if TYPE_CHECKING:
    from memtui.config.settings import Settings
    from memtui.features.attribution.door import Fields
    from memtui.features.attribution.said import Word
    from memtui.wire.outcomes import Json
    from memtui.wire.session import Session


def may_begin(session: Session, settings: Settings, client: str, fields: Fields) -> Json:
    """Say whether a prompt of a channel may begin: `allowed, advisory, spent_real, spent_estimate, limit, warnings`."""
    del client  # what a gateway may speak for was looked at before
    known_fields(fields, "channel")
    channel = named("channel", text_of(fields, "channel"))
    return admission_json(admit(session.engine, settings, channel, lane=workspace_of(session.surroundings).id))


def answer(word: Word) -> ChatReply:
    """Say what is spent and left, in the chat."""
    states = admit(word.session.engine, word.settings, word.chat.channel).states
    lines = [f"{one.key}: {budget_words(one)}, until {rfc3339(one.end)}" for one in states]
    return ChatReply("\n".join(lines) or "No budget is set here.")
