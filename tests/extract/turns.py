"""Turns that people might say to an agent, made up, each with whether it holds something worth keeping.

Templates and words are written by hand, with the words of the rules in turns that are none of their business; `+` says
that it is worth keeping, `-` that it is not, `!` that the agent spoke before it.
"""

from itertools import count
from typing import NamedTuple

TOOLS = ("pnpm", "ruff", "pytest", "docker compose", "terraform")
THINGS = ("the payments service", "the ingest worker", "the mobile app", "the billing report", "the search index")
NAMES = ("Ann", "Marek", "the data team", "our auditors", "Yuki")
DAYS = ("Friday", "next Monday", "March 14", "2026-05-01", "tomorrow")
TEMPLATES = """
+ Remember that {thing} is deployed from the release branch only.
+ Please remember: {tool} runs before every commit here.
+ Remember to ask {name} before you change {thing}.
+ from now on use {tool} for all of this project
+ Keep in mind that {name} reviews every change of {thing}.
+ Don't forget that {thing} must stay compatible with the old clients.
+ Note: {thing} has its own database, and nobody else writes to it.
+ Going forward, run {tool} without any network access.
+ For future reference, {name} owns {thing}.
+ Great, thanks. Also remember that {tool} is pinned on purpose.
+ 记住{thing}只能从主分支部署
+ Merk dir: {tool} läuft bei uns nur in der CI.
- Do you remember how {thing} was deployed?
- I can't remember why we use {tool}, can you look it up?
- Remember me?
- Note that this line is wrong
- The user asked us to remember the filter in {thing}, implement that.
- Add a "remember this device" checkbox to {thing}.
-! ok, note the failing test and go on
+! No, use {tool} instead of the global install.
+! Don't mock {thing} in integration tests, always use the real one.
+! Stop adding comments that only repeat what the code of {thing} says.
+! Actually, we never push {thing} without a changelog entry.
+! No. Always run {tool} through make, never directly.
-! No, that's not what I meant.
-! No, look at {thing} again.
-! Don't touch that file.
-! Stop, {tool} is still running.
-! Actually, do the tests first.
-! Wrong directory, go back and run {tool} there.
-! no, it still fails with the same error in {thing}
+ I prefer small commits for {thing}, with one change in each.
+ We prefer {tool} over anything that needs a daemon.
+ I like short answers without a summary when we talk about {thing}.
+ I always prefer named arguments in the code of {thing}.
+ My preferred way to run {tool} is in a container.
+ We want all errors of {thing} to have a code.
- I want you to add a retry to {thing}.
- I need to see the logs of {thing}.
- I'd like a button in {thing} that starts {tool}.
- We need a migration for {thing}, write one.
- I like it, go on with {thing}.
- I prefer the second option for {thing}.
- I would love to see {thing} finished today.
+ Bugs of {thing} are tracked in the Linear project INGEST.
+ The Grafana dashboard for {thing} is at https://grafana.example/d/abc
+ The runbook of {thing} lives in the wiki under Operations.
+ {name} keeps the documentation of {tool} in Notion, that is where the truth is.
- Look at https://example.org/issues/12 and fix it in {thing}.
- The documentation of {thing} is outdated, update it.
- The dashboard of {thing} is broken.
- Open a ticket for {thing}.
- What is in the docs about {tool}?
- Update the wiki page of {thing}.
+ The release of {thing} is on {day}, decided by {name}.
+ The merge freeze for {thing} starts {day}.
+ The deadline for {thing} is {day} because {name} needs it.
- Prepare the release of {thing} for {day}.
- Write a release note for {thing}.
- Is the deadline of {thing} still {day}?
- Today the release of {thing} is blocked, so skip it for now.
- thanks, that works
- I hate how {tool} prints so much, can you make it quiet?
- We like {thing} to load in under a second, profile it.
- The migration of {thing} is at 50 %, wait until {day}.
- The docs are at docs/index.md, add a page about {tool}
+ {name} prefers to be asked before {thing} is restarted.
+ In this team nobody deploys {thing} on a weekend.
- remember to rebase before you push the branch of {thing}
- Note that I renamed the tests of {thing}, so run them again
+! Use {tool} instead, the global one is too old for us.
+ It is important that {thing} never logs the names of customers.
"""
"""One a line: a label, and what is said."""


class LabelledTurn(NamedTuple):
    """One turn."""

    text: str
    worth: bool
    answers: bool
    """The agent spoke before it."""


def labelled() -> list[LabelledTurn]:
    """Give 300 turns, none twice."""
    found: dict[str, LabelledTurn] = {}
    lines = [line.partition(" ") for line in TEMPLATES.strip().splitlines()]
    for number in count():
        for label, _, text in lines:
            words = {
                "tool": TOOLS[number % 5],
                "thing": THINGS[(number + 1) % 5],
                "name": NAMES[(number + 2) % 5],
                "day": DAYS[(number + 3) % 5],
            }
            said = text.format(**words) if number < 5 else f"{text.format(**words)} ({number})"
            found.setdefault(said, LabelledTurn(said, label[0] == "+", "!" in label))
            if len(found) == 300:
                return list(found.values())
    raise AssertionError("the count has no end")
