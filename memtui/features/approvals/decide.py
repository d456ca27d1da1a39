"""Approval rules for proposals, and votes from chats.

A vote from a chat is a gateway's claim. It counts only because the user named that voter in `[approvals]`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple

from memtui import mask
from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.engine.ledger.proposals import VOTED_ON, Vote
from memtui.engine.model import Actor, Remove, Root
from memtui.engine.proposal import Proposal
from memtui.errors import RefusedError, UsageError
from memtui.features.attribution.chat import ChatCommand, ChatReply
from memtui.features.proposals import apply

SHOWN_LINES = 20
"""Lines of a proposal shown in a chat."""
ME = "me"
"""The voter at the keys of this machine."""
TEAM_PREFIX = "team:"
"""Prefix of voters whom the team's server identifies by their login."""
HOUR_MS = 3_600_000
LATE = "Nobody agreed in time."
DEFAULT_HOURS = 24


class ApprovalRule(NamedTuple):
    """One entry of `[approvals]`."""

    name: str
    what: tuple[str, ...]
    roots: tuple[str, ...]
    need: int
    of: tuple[str, ...]
    within: int
    """Milliseconds."""


def rules(settings: Settings) -> tuple[ApprovalRule, ...]:
    """Return the rules in the order of the file."""
    found = []
    for one in settings.named:
        if one.table == "approvals":
            of = tuple(dict.fromkeys(one.texts("of")))
            need = len(of) // 2 + 1 if one.flag("majority") else max(one.number("need"), 1)
            within = (one.number("hours") or DEFAULT_HOURS) * HOUR_MS
            found.append(ApprovalRule(one.name, one.texts("what"), one.texts("roots"), need, of, within))
    return tuple(found)


def rule_for(engine: Engine, settings: Settings, one: Proposal) -> ApprovalRule | None:
    """Return the first rule that matches a proposal."""
    roots = _roots(engine, one)
    kinds = {"proposal"}
    kinds |= {"delete"} if any(isinstance(step, Remove) for step in one.steps) else set()
    kinds |= {"channel" for root in roots if root.scope == "channel"}
    kinds |= {"instructions" for root in roots if root.kind == "instructions"}
    for rule in rules(settings):
        named = all(any(fnmatchcase(root.id, sign) for sign in rule.roots) for root in roots) or not rule.roots
        if named and (not rule.what or kinds.intersection(rule.what)):
            return rule
    return None


def _roots(engine: Engine, one: Proposal) -> list[Root]:
    named = [at.root for step in one.steps for at in (step.address, getattr(step, "new", step.address))]
    return [engine.roots.find(name) for name in dict.fromkeys(named)]


def tally(rule: ApprovalRule, votes: Mapping[str, Vote]) -> tuple[str, str]:
    """Tally votes: `accepted`, `rejected` or empty, and the reason."""
    given = [vote for voter, vote in votes.items() if voter in rule.of]
    yes = sum(vote.yes for vote in given)
    said = ", ".join(f"{vote.name} {'yes' if vote.yes else 'no'}" for vote in given)
    if yes >= rule.need:
        return "accepted", f"{yes} of {rule.need}: {said}"
    if yes + len(rule.of) - len(given) < rule.need:
        return "rejected", f"{rule.need} can agree no more: {said}"
    return "", f"{yes} of {rule.need}{': ' if said else ''}{said}"


class VoteStatus(NamedTuple):
    """The state of the votes about a proposal."""

    words: str
    """`1 of 2: Ann yes`."""
    missing: tuple[str, ...]
    """Voters without an answer."""
    until: int
    """Milliseconds."""
    mine: bool
    """Whether the person at the keys has one vote among others."""

    @property
    def short(self) -> str:
        """Text for a row: `1 of 2: Ann yes, waits for you`."""
        return f"{self.words}, {'waits for you' if ME in self.missing else f'{len(self.missing)} to answer'}"


def vote_statuses(engine: Engine, settings: Settings, proposals: Iterable[Proposal]) -> Mapping[str, VoteStatus]:
    """Return the state of the votes, by id, for the proposals that a rule puts to a vote."""
    if not rules(settings):
        return {}
    found = {}
    for one in proposals:
        rule = rule_for(engine, settings, one) if one.state in VOTED_ON else None
        if rule is not None:
            votes = engine.votes.of(engine.proposals.get(one.id))
            missing = tuple(voter for voter in rule.of if voter not in votes)
            found[one.id] = VoteStatus(tally(rule, votes)[1], missing, one.at + rule.within, ME in rule.of)
    return found


def vote_here(engine: Engine, settings: Settings, number: str, actor: Actor, *, yes: bool) -> str:
    """Vote as the person at the keys; return the new state in words. Raises as `cast` and `apply.decide`."""
    one = apply.find(engine, number)
    rule = rule_for(engine, settings, one)
    assert rule is not None
    apply.decide(engine, [number], "open", actor=actor)  # an agent at the keys decides nothing
    decided = cast(engine, rule, one, Vote(ME, "you", yes, ME), actor)
    found = engine.proposals.get(number)
    return f"Proposal {number} is {found.state}." if decided else tally(rule, engine.votes.of(found))[1]


def approve(command: ChatCommand) -> ChatReply:
    """Agree to a proposal in a chat; without a number, list what waits."""
    return _vote(command, yes=True) if command.text else _waiting(command)


def deny(command: ChatCommand) -> ChatReply:
    """Refuse a proposal in a chat."""
    return _vote(command, yes=False) if command.text else _waiting(command)


def _voters(command: ChatCommand, rule: ApprovalRule) -> list[str]:
    """Return the voters somebody in a chat may vote as: their id at this channel or gateway, else the whole chat.

    `chat` and, where there is a team, `team` are no places of persons; a place with `:` would be ambiguous, and the
    name of a gateway cannot be used as a channel.
    """
    channel, person = command.chat.channel, command.person
    places = [command.client] if channel in command.settings.entries("gateways") else [channel, command.client]
    barred = ("chat", "team") if command.settings.team_url else ("chat",)
    own = [f"{place}:{person}" for place in places if person and ":" not in place and place not in barred]
    chat = [f"chat:{channel}"] if command.allowed else []
    return [one for one in (*own, *chat) if one in rule.of]


def _asked(command: ChatCommand, one: Proposal) -> bool:
    if not one.turn:
        return False
    turn, journal = command.session.engine.turns.get(one.turn), command.session.engine.journal
    said = (command.person, f"name:{command.name}")
    return turn.person in [journal.hashed(turn.channel or turn.via, each) for each in said]


def _vote(command: ChatCommand, *, yes: bool) -> ChatReply:
    engine, (number, *more) = command.session.engine, command.text.split()
    if more:
        raise UsageError("Give one number: each proposal is voted about by itself. None was.")
    one = apply.find(engine, number)
    rule = rule_for(engine, command.settings, one)
    voters = _voters(command, rule) if rule is not None else []
    if rule is None or not voters:
        raise RefusedError("Nobody asked you about that proposal.", code="E_ACCESS")
    if _asked(command, one):
        raise RefusedError("You asked for that yourself: somebody else agrees to it.", code="E_ACCESS")
    for root in _roots(engine, one):
        engine.access.require(root)
    vote = Vote(voters[0], command.name, yes, engine.journal.hashed("vote", command.person))
    decided = cast(engine, rule, one, vote, Actor(f"http:{command.client}"))
    found = engine.proposals.get(number)
    if not decided:
        return ChatReply(f"Proposal {number}: {tally(rule, engine.votes.of(found))[1]}.")
    return ChatReply(f"Proposal {number} is {found.state}. {found.note}".strip())


def cast(
    engine: Engine, rule: ApprovalRule, one: Proposal, vote: Vote, actor: Actor, *, late: bool | None = None
) -> str:
    """Add a vote and apply the proposal when it decides; return the decision.

    `late` overrides this machine's clock. Raises `E_DECIDED`, and as `apply.carry_out`.
    """

    def judge(votes: Mapping[str, Vote]) -> tuple[str, str]:
        over = is_late(engine, rule, one) if late is None else late
        return ("rejected", LATE) if over else tally(rule, votes)

    decided = engine.votes.cast(one.id, vote, judge)
    if decided == "accepted":
        apply.carry_out(engine, [one.id], actor=actor, merge=False)
        if engine.proposals.get(one.id).state == "accepted":
            engine.proposals.decide([one.id], "open", by=vote.name)
    return decided


def is_late(engine: Engine, rule: ApprovalRule, one: Proposal) -> bool:
    """Return whether the voting period of a proposal is over."""
    return engine.turns.clock() > one.at + rule.within


def _waiting(command: ChatCommand) -> ChatReply:
    from memtui.features.proposals.verbs import patch  # only who asks in a chat what waits needs it

    engine = command.session.engine
    lines = []
    for one in apply.waiting(engine, VOTED_ON):
        rule = rule_for(engine, command.settings, one)
        if rule is not None and _voters(command, rule):
            stand = tally(rule, engine.votes.of(engine.proposals.get(one.id)))[1]
            lines.append(f"{one.id} {one.kind} {' '.join(one.targets)}: {stand}\n{mask.shown(one.why)}")
            shown = patch(apply.preview(engine, one.id), person=False)
            lines += shown[:SHOWN_LINES]
            lines += [f"and {len(shown) - SHOWN_LINES:,} lines more"] * (len(shown) > SHOWN_LINES)
    return ChatReply("\n".join(lines) or "Nothing waits for this chat.")
