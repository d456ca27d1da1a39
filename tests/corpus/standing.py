"""Folders of the archive put where their agents would have left them, and what must be found there.

People commit memories that agents keep at home, so some folders are a checkout, some belong below the home folder, and
some are both, looked at twice.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from memtui.agents.layout import slug
from tests.agents.machine import Machine

Found = Mapping[str, tuple[str, int]]
"""By root id: the layout it follows, as module and name, and how many files it lists."""


class Standing(NamedTuple):
    """One way to look at a folder of the archive."""

    folder: str
    found: Found
    places: tuple[tuple[str, str], ...] = (("", "app"),)
    """What of the folder goes where, as `Machine.path` reads it; later ones take files from earlier ones. `{slug}` is
    the checkout's."""
    project: str = "app"
    left: tuple[str, ...] = ()
    """Files, or folders with a final `/`, that no layout knows: a root by hand shows them."""


def place(machine: Machine, source: Path, standing: Standing) -> dict[str, Path]:
    """Put a folder's files in their places, with their modes and times.

    Returns:
        Where each file is now, by its path in the folder.
    """
    at: dict[str, Path] = {}
    for name in sorted(path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file()):
        for begin, folder in standing.places:
            if not begin or name.startswith(f"{begin}/"):
                inside = name[len(begin) :].lstrip("/")
                at[name] = machine.path(folder.replace("{slug}", slug(str(machine.app)))) / inside
    for name, path in at.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source / name, path)
    return at


CLAUDE = (("", "app"), (".claude/memory", "~/.claude/projects/{slug}/memory"))
"""Auto memory as people commit it; Claude Code keeps it at home."""
AUTO = "claude-code:project:{slug}"
CLAUDE_MD = "claude-code:project:instructions"
COPILOT_MD = "copilot:project:instructions"
CLINE_MD = "cline:project:instructions"
CURSOR_MD = "cursor:project:instructions"
AGENTS_MD = "agents-md:project:instructions"
ID = "agent-8f31ed67-bc7d-40e7-abde-5a8bc4f7e601"
LETTA = ((f"agents/{ID}", f"~/.letta/agents/{ID}/memory"), ("system", "~/.letta/agents/agent-top/memory/system"))
WORKSPACE = (("", "~/.openclaw/workspace"),)

STANDINGS = (
    Standing(
        "108yen--task-orchestrator-mcp",
        {
            COPILOT_MD: ("copilot.INSTRUCTIONS", 1),
            "serena:project": ("serena.POLICY", 6),
            "kiro:project:instructions": ("kiro.POLICY", 3),
        },
        left=(".gemini/",),
    ),
    Standing("1cvibe--MetadataViewer1C", {"serena:project": ("serena.POLICY", 10)}),
    Standing(
        "31103--tanshu3",
        {
            COPILOT_MD: ("copilot.INSTRUCTIONS", 1),
            "cline:project:bank-instructions": ("cline.RULES", 1),
            "cline:project": ("cline.POLICY", 6),
            CURSOR_MD: ("cursor.POLICY", 1),
        },
    ),
    Standing(
        "5dengz--mungcourse-client-ios",
        {CLINE_MD: ("cline.RULES", 1), "cline:project": ("cline.POLICY", 6), CURSOR_MD: ("cursor.POLICY", 4)},
    ),
    Standing(
        "717986230--openclaw-workspace",
        {"openclaw:global": ("openclaw.POLICY", 13), "openclaw:global:instructions": ("openclaw.INSTRUCTIONS", 2)},
        WORKSPACE,
    ),
    Standing(
        "A-H-911--acmp",
        {AUTO: ("claude_code.AUTO", 66), CLAUDE_MD: ("", 1), AGENTS_MD: ("agents_md.POLICY", 1)},
        CLAUDE,
    ),
    Standing("Alfareslab--dr-harddisk", {}, left=("master-constitution.md", "project-context.md", "project-key.md")),
    Standing(
        "Beans-BV--dotnet-stellar-sdk", {COPILOT_MD: ("copilot.INSTRUCTIONS", 1), CURSOR_MD: ("cursor.POLICY", 5)}
    ),
    Standing("KitTheFox123--workspace", {"openclaw:global": ("openclaw.POLICY", 3)}, WORKSPACE),
    Standing("LumenBot--LobsterOps", {"openclaw:global": ("openclaw.POLICY", 8)}, WORKSPACE, left=("config/",)),
    Standing("MadBomber--sqa", {CLAUDE_MD: ("", 1), "goose:project": ("goose.POLICY", 1)}),
    Standing("Meng-Fei--PyFstat", {CLAUDE_MD: ("", 1), "serena:project": ("serena.POLICY", 4)}),
    Standing(
        "MikaAK--elixir_cache",
        {"windsurf:project:instructions": ("windsurf.RULES", 1)},
        left=(".windsurf/skills/", ".windsurf/workflows/"),
    ),
    Standing("alpenblick-gmbh--starter-kit", {AUTO: ("claude_code.AUTO", 5), CLAUDE_MD: ("", 1)}, CLAUDE),
    Standing("anthropics--anthropic-sdk-python", {CLAUDE_MD: ("", 1)}),
    Standing(
        "bitwikiorg--continuity",
        {"openclaw:global": ("openclaw.POLICY", 4), "openclaw:global:instructions": ("openclaw.INSTRUCTIONS", 1)},
        WORKSPACE,
        left=("memories/",),
    ),
    Standing(
        "bitwikiorg--continuity",
        {"hermes:global": ("hermes.POLICY", 2), "hermes:global:instructions": ("hermes.INSTRUCTIONS", 1)},
        (("", "~/.hermes"),),
        left=("MEMORY.md", "memory/"),
    ),
    Standing("djha-skin--yamcl", {"goose:project": ("goose.POLICY", 2), AGENTS_MD: ("agents_md.POLICY", 1)}),
    Standing("doudouqie66--CommonTools", {"codex:global": ("codex.AUTO", 12)}, (("", "~/"),)),
    Standing("emgarten--Sleet", {CLINE_MD: ("cline.RULES", 1), AGENTS_MD: ("agents_md.POLICY", 1)}),
    Standing(
        "golaunchmate--memories",
        {f"letta:global:{ID}": ("letta.OLD", 6), "letta:global:agent-top": ("letta.OLD", 6)},
        LETTA,
    ),
    Standing("iromu--spring-boot-openfeature", {"qwen-code:project:team": ("qwen_code.AUTO", 6)}),
    Standing(
        "marcuscastelo--marucs-diet",
        {CLAUDE_MD: ("", 1), COPILOT_MD: ("copilot.INSTRUCTIONS", 2), "serena:project": ("serena.POLICY", 10)},
        left=("memory.jsonl",),
    ),
    Standing(
        "orestesgaolin--agent-device-dart",
        {"claude-code:project:agent-memory": ("claude_code.SUBAGENTS", 17), COPILOT_MD: ("copilot.INSTRUCTIONS", 1)},
    ),
    Standing(
        "ractive--ff-rdp",
        {CLAUDE_MD: ("", 3), "claude-code:project:agent-memory": ("claude_code.SUBAGENTS", 11)},
        left=("kb/",),
    ),
    Standing(
        "ractive--ff-rdp",
        {"claude-code:project:agent-memory": ("claude_code.SUBAGENTS", 3)},
        (("kb", "app/kb"),),
        project="app/kb",
    ),
    Standing(
        "rjmurillo--ai-agents",
        {COPILOT_MD: ("copilot.INSTRUCTIONS", 1), "serena:project": ("serena.POLICY", 115)},
        left=(".agents/",),
    ),
    Standing(
        "vidarc--recommendarr",
        {AUTO: ("claude_code.AUTO", 14), CLAUDE_MD: ("", 2)},
        CLAUDE,
    ),
    Standing(
        "viktor-ferenczi--se-client-plugin-template",
        {
            CLAUDE_MD: ("", 1),
            COPILOT_MD: ("copilot.INSTRUCTIONS", 1),
            CLINE_MD: ("cline.RULES", 1),
            AGENTS_MD: ("agents_md.POLICY", 1),
        },
        left=(".vscode/",),
    ),
)
"""Every folder of the archive; Claude Code's instructions are put together from the folders on the way, so their layout
has no name."""
