"""Copilot CLI: instructions of many names, and no memories on disk; its files are roots of `copilot` and others.

Apart from `copilot`, which is the one in VS Code, because the two load different files. Its instructions without
`applyTo` are loaded, those of other folders than the checkout and the one at hand are not. Source: the program, run by
`python -m tests.agents`; docs.github.com, pages about Copilot CLI, custom instructions.
"""

from memtui.agents import agent
from memtui.config.surroundings import Surroundings

ID = "copilot-cli"
OWN = agent.AgentHome(("COPILOT_HOME",), (".copilot",))
IMPORTS = agent.ImportRule(depth=20, markdown=False, approval=False, home=False, trimmed='.,;:!?)"', after='("@')
NAMES = ("AGENTS.md", "CLAUDE.md", "GEMINI.md")
MAIN = ".github/copilot-instructions.md"
RULES = ".github/instructions/**/*.instructions.md"
_JUDGE = agent.matching("applyTo", ("", "**", "**/*", "*"))


def _written(label: str, place: str, *names: str) -> agent.LoadSource:
    return agent.LoadSource(label, place, names, imports=IMPORTS)


def _rules(label: str, place: str, name: str) -> agent.LoadSource:
    return agent.LoadSource(label, place, (name,), judge=_JUDGE)


def _options(surroundings: Surroundings, homes: tuple[str, ...]) -> agent.LoadOptions:
    named = surroundings.variable("COPILOT_CUSTOM_INSTRUCTIONS_DIRS") or ""
    return agent.LoadOptions(folders=tuple(surroundings.folder(text) for text in filter(None, named.split(","))))


LOADS = agent.Loads(
    (
        _written("user instructions", agent.HOME, "copilot-instructions.md"),
        _written("project instructions", agent.PROJECT, MAIN),
        _written("project instructions", agent.FOLDER, MAIN),
        _written("project instructions", agent.PROJECT, *NAMES),
        _written("project instructions", agent.FOLDER, *NAMES),
        _written("project instructions", agent.CHAIN, MAIN, *NAMES)._replace(upwards=True),
        _rules("user rule", agent.HOME, "instructions/**/*.instructions.md"),
        _rules("rule", agent.PROJECT, RULES),
        _rules("rule", agent.FOLDER, RULES),
        _rules("further rule", agent.NAMED, RULES),
        _rules("further rule", agent.NAMED, "**/*.instructions.md"),
    ),
    in_project=(".github/copilot-instructions.md", ".github/instructions"),
    options=_options,
    note="What GitHub keeps for Copilot on its own machines, its system prompt, tools and MCP servers come on top.",
    checked="1.0.102, 23 November 2026",
)
AGENT = agent.KnownAgent(ID, "Copilot CLI", home=OWN, loads=LOADS)
