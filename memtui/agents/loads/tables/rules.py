"""What agents with rule files load when a session starts; front matter decides for each rule.

Source of Copilot's setting: code.visualstudio.com/docs/copilot, page memory: its memory tool is on unless switched off.
"""

import os

from memtui.agents.folders import short_path
from memtui.agents.layouts.copilot import editions
from memtui.agents.loads.cutting import Limits
from memtui.agents.loads.loading import (
    BY_FOLDER,
    CHAIN,
    FOLDER,
    HOME,
    MATCHING,
    ON_DEMAND,
    PROJECT,
    SKIPPED,
    SYSTEM,
    Excluded,
    Options,
    Source,
    Table,
    Verdict,
)
from memtui.agents.loads.settings import problems, read_json
from memtui.config.surroundings import Surroundings

ON_TOP = "Its own system prompt, tools and MCP servers come on top."
BY_HAND = Verdict(ON_DEMAND, "It is loaded when somebody names it.")
DECIDES = Verdict(ON_DEMAND, "The agent is shown its description, and decides.")
_MEMORY = "github.copilot.chat.tools.memory.enabled"
_BANK = "It is read when the rules tell the agent to, as the usual text about memory banks does at each task."


def _cursor(found: dict[str, str]) -> Verdict:
    if found.get("alwaysApply", "").lower() == "true":
        return Verdict()
    if found.get("globs"):
        return Verdict(MATCHING, f"globs: {found['globs']}")
    return DECIDES if found.get("description") else BY_HAND


def _windsurf(found: dict[str, str]) -> Verdict:
    trigger = found.get("trigger", "")
    if trigger == "glob":
        return Verdict(MATCHING, f"globs: {found.get('globs', '')}")
    return {"always_on": Verdict(), "model_decision": DECIDES}.get(trigger, BY_HAND)


def _kiro(found: dict[str, str]) -> Verdict:
    inclusion = found.get("inclusion", "always")
    if inclusion == "fileMatch":
        return Verdict(MATCHING, f"fileMatchPattern: {found.get('fileMatchPattern', '')}")
    return {"manual": BY_HAND, "auto": DECIDES}.get(inclusion, Verdict())


def _kiro_of_the_user(found: dict[str, str]) -> Verdict:
    verdict = _kiro(found)
    if verdict.mark == MATCHING:
        return Verdict(SKIPPED, "Kiro does not follow fileMatch in the user's own steering.")
    return verdict


def _copilot(found: dict[str, str]) -> Verdict:
    pattern = found.get("applyTo", "")
    if pattern in ("**", "**/*", "*"):
        return Verdict()
    return Verdict(MATCHING, f"applyTo: {pattern}") if pattern else BY_HAND


def _copilots_memory(surroundings: Surroundings, homes: tuple[str, ...]) -> Options:
    """Read in which installations of the editor the memory tool is switched off."""
    del homes
    folders = tuple(edition.user for edition in editions(surroundings))
    files = tuple(read_json(os.path.join(folder, "settings.json")) for folder in folders)
    excluded = []
    for folder, file in zip(folders, files, strict=True):
        if file.values.get(_MEMORY) is False:
            why = f"Not loaded: switched off in {short_path(file.path, surroundings.home)} ({_MEMORY})."
            excluded += [
                Excluded(os.path.join(folder, name), why, BY_FOLDER) for name in ("globalStorage", "workspaceStorage")
            ]
    return Options(excluded=tuple(excluded), problems=problems(files))


def _cline(found: dict[str, str]) -> Verdict:
    return Verdict(MATCHING, f"paths: {found['paths']}") if found.get("paths") else Verdict()


def _rules(label: str, place: str, *names: str) -> Source:
    return Source(label, place, names, front_matter=True)


COPILOT = Table(
    "copilot",
    "Copilot",
    (
        Source("user instructions", HOME, ("copilot-instructions.md",)),
        _rules("user rule", HOME, "instructions/**/*.instructions.md")._replace(judge=_copilot),
        Source("project instructions", PROJECT, (".github/copilot-instructions.md", "AGENTS.md")),
        _rules("rule", PROJECT, ".github/instructions/**/*.instructions.md")._replace(judge=_copilot),
        Source("user memories", "copilot:global*", ("*",), budget="lines", by_lines=True),
        Source(
            "user memories",
            "copilot:global*",
            ("*/**/*",),
            mark=ON_DEMAND,
            why="Folders are not looked into at the start.",
        ),
        Source(
            "project memories",
            "copilot:project",
            ("**/*",),
            mark=ON_DEMAND,
            why="The agent is told that it is there, and reads it when it wants to.",
        ),
    ),
    variables=("COPILOT_HOME",),
    at_home=(".copilot",),
    in_project=(".github/copilot-instructions.md", ".github/instructions"),
    budgets=(("lines", 200),),
    options=_copilots_memory,
    note=ON_TOP,
    also=("vscode", "github-copilot"),
)
CURSOR = Table(
    "cursor",
    "Cursor",
    (
        _rules("user rule", HOME, "rules/**/*.mdc")._replace(judge=_cursor),
        _rules("rule", PROJECT, ".cursor/rules/**/*.mdc")._replace(judge=_cursor),
        Source("project instructions", PROJECT, ("AGENTS.md", ".cursorrules")),
    ),
    at_home=(".cursor",),
    in_project=(".cursor", ".cursorrules"),
    note="The rules and memories kept inside the program, its system prompt and its tools come on top.",
)
WINDSURF = Table(
    "windsurf",
    "Windsurf",
    (
        _rules("managed rule", SYSTEM, "rules/*.md")._replace(system=("windsurf", "Windsurf", "devin", "Devin")),
        Source("user rules", HOME, ("global_rules.md",), limits=Limits(characters=6_000)),
        _rules("rule", PROJECT, ".windsurf/rules/**/*.md", ".devin/rules/**/*.md")._replace(
            judge=_windsurf, limits=Limits(characters=12_000)
        ),
        Source("project instructions", PROJECT, ("AGENTS.md", ".windsurfrules"), limits=Limits(characters=12_000)),
        Source("memories", HOME, ("*",), mark=ON_DEMAND, why="The agent is given those that fit what is asked."),
    ),
    at_home=(".codeium/windsurf/memories",),
    in_project=(".windsurf", ".windsurfrules", ".devin"),
    note=ON_TOP,
)
KIRO = Table(
    "kiro",
    "Kiro",
    (
        _rules("user steering", HOME, "steering/**/*.md")._replace(judge=_kiro_of_the_user),
        _rules("steering", PROJECT, ".kiro/steering/**/*.md")._replace(judge=_kiro),
        Source("project instructions", PROJECT, ("AGENTS.md",)),
    ),
    at_home=(".kiro",),
    in_project=(".kiro",),
    note=ON_TOP,
)
CLINE = Table(
    "cline",
    "Cline",
    (
        _rules("user rule", HOME, "**/*.md")._replace(judge=_cline),
        _rules("rule", PROJECT, ".clinerules", ".clinerules/**/*.md", ".clinerules/**/*.txt")._replace(judge=_cline),
        Source("project instructions", PROJECT, ("AGENTS.md",)),
        Source("memory bank", PROJECT, ("memory-bank/**/*.md",), mark=ON_DEMAND, why=_BANK),
    ),
    at_home=("Documents/Cline/Rules",),
    in_project=(".clinerules",),
    note=ON_TOP,
)
ROO = Table(
    "roo",
    "Roo Code",
    (
        Source("user rule", HOME, ("rules/**/*.md", "rules/**/*.txt")),
        Source("rule", PROJECT, (".roo/rules/**/*.md", ".roo/rules/**/*.txt", ".roorules")),
        Source("project instructions", PROJECT, ("AGENTS.md",)),
        Source(
            "rule of a mode",
            PROJECT,
            (".roo/rules-*/**/*.md",),
            mark=ON_DEMAND,
            why="It is loaded when a session starts in this mode.",
        ),
        Source("memory bank", PROJECT, ("memory-bank/**/*.md",), mark=ON_DEMAND, why=_BANK),
    ),
    at_home=(".roo",),
    in_project=(".roo", ".roorules"),
    note=ON_TOP,
    also=("roo-code",),
)
OPENCODE = Table(
    "opencode",
    "OpenCode",
    (
        Source("user instructions", HOME, ("AGENTS.md",)),
        Source("project instructions", FOLDER, ("AGENTS.md", "CLAUDE.md"), first=True),
    ),
    in_config=("opencode",),
    in_project=(".opencode", "opencode.json"),
    note=ON_TOP,
)
AMP = Table(
    "amp",
    "Amp",
    (
        Source("user instructions", HOME, ("AGENTS.md",)),
        Source("project instructions", CHAIN, ("AGENTS.md",)),
    ),
    in_config=("amp",),
    note=ON_TOP,
)
