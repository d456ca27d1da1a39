"""Team votes on proposals: asked on the team's server, and counted here by this machine's rule.

Only the title and patch of a proposal leave, and only for rules that name a `team:` voter. The server says who voted.
"""

from __future__ import annotations

import json

from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.engine.ledger.proposals import VOTED_ON, Vote, steps_sha
from memtui.engine.model import Actor
from memtui.engine.proposal import Proposal
from memtui.errors import ConflictError
from memtui.features.approvals.decide import LATE, TEAM_PREFIX, ApprovalRule, cast, is_late, rule_for, rules
from memtui.features.proposals import apply
from memtui.features.proposals.verbs import patch
from memtui.features.team.postgres import TeamServer, membership, tolerate_outage
from memtui.mask import mask
from memtui.wire.session import Session

_LONGEST = 500_000
"""Characters of a patch that is sent; a longer one is decided here."""


def begin(session: Session, settings: Settings) -> None:
    """Publish waiting proposals and count the answers."""
    named = any(one.startswith(TEAM_PREFIX) for rule in rules(settings) for one in rule.of)
    if settings.team_url and named and not session.options.read_only and not settings.worker:
        with tolerate_outage(session.engine):
            synchronize(session.engine, settings)


def synchronize(engine: Engine, settings: Settings) -> None:
    """Publish each proposal that a rule gives to the team, and apply the team's decisions."""
    found = membership(engine, settings)
    if found is None:
        return
    server, name = found
    asked = {(number, steps): (request, late) for request, number, steps, late in server.call("asked", name)}
    for one in apply.waiting(engine, VOTED_ON):
        rule = rule_for(engine, settings, one)
        members = (
            [voter.removeprefix(TEAM_PREFIX) for voter in rule.of if voter.startswith(TEAM_PREFIX)] if rule else []
        )
        if rule is None or not members:
            continue
        key = int(one.id), steps_sha(engine.proposals.get(one.id)).hex()
        request, late = asked.get(key) or (None, is_late(engine, rule, one))
        if late:
            engine.proposals.decide([one.id], "rejected", by="the team", note=LATE)
        elif request is None:
            left = one.at + rule.within - engine.turns.clock()  # the server's clock says when that is over
            _ask(engine, server, name, one, key[1], members, int(server.value("clock_ms")) + left)
        else:
            _count(engine, rule, one, server.call("votes", request))
    for (number, steps), (request, _) in asked.items():
        known = engine.proposals.get(str(number))
        if known.state not in VOTED_ON or steps_sha(known).hex() != steps:
            state = known.state if known.state not in VOTED_ON else "superseded"
            server.call("settle", request, state, mask(known.note).text[:300])


def _ask(
    engine: Engine, server: TeamServer, name: str, one: Proposal, steps: str, members: list[str], until: int
) -> None:
    title = mask(f"{one.kind} {' '.join(one.targets)}: {one.why}").text[:1000]
    text = "\n".join(patch(apply.preview(engine, one.id)))
    if len(text) <= _LONGEST:
        clean = (each.replace("\0", "\\0").encode("utf-8", "replace").decode() for each in (title, text))
        server.call("ask", name, int(one.id), steps, *clean, json.dumps(members), until)


def _count(engine: Engine, rule: ApprovalRule, one: Proposal, votes: list[tuple[str, bool]]) -> None:
    for person, yes in votes:
        voter = f"{TEAM_PREFIX}{person}"
        before = engine.votes.of(engine.proposals.get(one.id)).get(voter)
        if voter not in rule.of or (before is not None and before.yes == yes):
            continue
        try:
            cast(engine, rule, one, Vote(voter, person, yes, voter), Actor(f"http:{voter}"), late=False)
        except ConflictError:
            return  # somebody here was faster; the next look tells the team how it ended
