"""What further agents leave on a machine, in the manner of `homes.py`: a home folder and a project for each of them.

Texts and names are made up; where files lie and how they look is what the agents' own sources and documentation say.
"""

import json
from collections.abc import Callable, Mapping
from hashlib import sha1
from pathlib import Path

from tests.agents.homes import below, lay


def copilot(home: Path, project: Path) -> None:
    """Memories of the user, of this workspace with two sessions and of another; instructions at every level."""
    user = home / ".config/Code/User"
    storage = "workspaceStorage/0a1b2c3d4e5f60718293a4b5c6d7e8f9"
    other = "workspaceStorage/ffeeddccbbaa99887766554433221100"
    lay(
        user,
        {
            "settings.json": '{\n  "github.copilot.chat.tools.memory.enabled": true\n}\n',
            "globalStorage/github.copilot-chat/memory-tool/memories/preferences.md": "- Short answers.\n",
            "globalStorage/github.copilot-chat/memory-tool/memories/git/commits.md": "- Imperative mood.\n",
            "globalStorage/github.copilot-chat/commandEmbeddings.json": "{}",
            "prompts/mine.instructions.md": "---\napplyTo: '**'\n---\nBe brief.\n",
            "prompts/review.prompt.md": "---\nmode: agent\n---\nReview this.\n",
            f"{storage}/workspace.json": json.dumps({"folder": project.as_uri()}),
            f"{storage}/state.vscdb": "not a memory",
            f"{storage}/GitHub.copilot-chat/memory-tool/memories/repo/build.md": "- `make all`, then `make check`.\n",
            f"{storage}/GitHub.copilot-chat/memory-tool/memories/c2Vzc2lvbi0x/plan.md": "1. Find the cookie.\n",
            f"{storage}/GitHub.copilot-chat/memory-tool/memories/c2Vzc2lvbi0y/plan.md": "1. Write the test.\n",
            f"{other}/workspace.json": json.dumps({"folder": (project.parent / "other").as_uri()}),
            f"{other}/GitHub.copilot-chat/memory-tool/memories/repo/notes.md": "- Old.\n",
        },
    )
    lay(home / ".copilot", {"copilot-instructions.md": "Ask before you push.\n", "config.json": "{}"})
    lay(
        project / ".github",
        {
            "copilot-instructions.md": "# App\n\nBuild with `make`.\n",
            "instructions/tests.instructions.md": '---\napplyTo: "tests/**"\n---\n- No sleeps.\n',
            "workflows/ci.yml": "on: push\n",
        },
    )


def serena(home: Path, project: Path) -> None:
    """Memories of the user, and of the project in topics that refer to each other."""
    lay(
        home / ".serena",
        {
            "serena_config.yml": 'language_backend: LSP\nproject_serena_folder_location: "$projectDir/.serena"\n',
            "memories/global/java/style_guide.md": "# Style\n\nNo wildcard imports.\n",
            "logs/2026-03-01/mcp.txt": "started\n",
        },
    )
    lay(
        project / ".serena",
        {
            "project.yml": "project_name: app\nlanguages: [python]\n",
            ".gitignore": "/cache\n",
            "cache/symbols.pkl": "x",
            "memories/project_overview.md": "# App\n\nSee `mem:modules/store` and mem:global/java/style_guide.",
            "memories/modules/store.md": "# Store\n\nOne table. Overview: mem:project_overview.\n",
            "memories/suggested_commands.md": "make check\n",
        },
    )


def letta(home: Path, project: Path) -> None:
    """Two agents: one in the old layout with its git repository, one in the new, kept by the local backend."""
    lay(
        home / ".letta",
        {
            "settings.json": "{}\n",
            **below(
                "agents/agent-8f31ed67-bc7d-40e7-abde-5a8bc4f7e601/memory",
                {
                    ".git/HEAD": "ref: refs/heads/main\n",
                    "system/persona.md": "---\ndescription: Who I am\nlimit: 20000\n---\n\n# Memo\n",
                    "system/project/gotchas.md": "---\ndescription: Footguns\n---\nSee [[system/persona]].\n",
                    "reference/api.md": "---\ndescription: The API\n---\nv2 only.\n",
                    "skills/deploy/SKILL.md": "---\nname: deploy\ndescription: Deploy\n---\nPress it.\n",
                },
            ),
            **below(
                "lc-local-backend/memfs/agent-local-1/memory",
                {
                    ".git/HEAD": "ref: refs/heads/main\n",
                    ".memfs.config.json": '{\n  "version": 1\n}\n',
                    "MEMORY.md": "- [Who I am](persona.md)\n- [The project](project/MEMORY.md)\n",
                    "persona.md": "---\nname: Persona\ndescription: Who I am\n---\n\nCareful.\n",
                    "project/MEMORY.md": "- [Build](build.md)\n",
                    "project/build.md": "---\nname: Build\ndescription: How to build\n---\n\n`make`.\n",
                },
            ),
        },
    )


def goose(home: Path, project: Path) -> None:
    """Categories with tagged and untagged entries, for the user and for the project, and hints."""
    lay(
        home / ".config/goose",
        {
            "config.yaml": "GOOSE_PROVIDER: anthropic\n",
            ".goosehints": "Answer in short sentences.\n",
            "memory/personal.txt": "# name greeting\nThe user is Ann.\n\nShe likes tea.\n\n",
            "memory/commands.txt": "# build\nmake all\nmake check\n\n",
        },
    )
    lay(
        project,
        {".goosehints": "Build with `make`.\n", ".goose/memory/development.txt": "# tests slow\nRun them last.\n\n"},
    )


def hermes(home: Path, project: Path) -> None:
    """Entries of two profiles, one with limits of its own and a file over them, and the persona."""
    lay(
        home / ".hermes",
        {
            "config.yaml": "memory:\n  memory_enabled: true\n  memory_char_limit: 2200  # ~800 tokens\n",
            "SOUL.md": "Calm and exact.\n",
            "memories/MEMORY.md": "The host is called hut.\n§\nTests need the second database.\nIt starts by itself.",
            "memories/USER.md": "Ann, data engineer.\n§\nLikes short answers.",
            "memories/MEMORY.md.lock": "",
            "state.db": "x",
            "profiles/work/config.yaml": "memory:\n  user_char_limit: '20'\n",
            "profiles/work/memories/USER.md": "Works for the city of Graz.",
        },
    )
    lay(project, {".hermes.md": "# App\n\nBuild with `make`.\n"})


def openclaw(home: Path, project: Path) -> None:
    """The workspace in use with memories of two days, and one of a further agent, found by its name."""
    lay(
        home / ".openclaw",
        {
            "openclaw.json": "// mine\n{ agents: { defaults: { bootstrapMaxChars: 20000, }, }, }\n",
            "credentials/oauth.json": "{}",
            "workspace/AGENTS.md": "Read SOUL.md first.\n",
            "workspace/SOUL.md": "You are a crab.\n",
            "workspace/USER.md": "Ann.\n",
            "workspace/MEMORY.md": "# Lasting\n\n- Ann moved to Graz.\n",
            "workspace/memory/2026-03-01.md": "- Booked the train.\n",
            "workspace/memory/2026-03-02.md": "- The train was late.\n",
            "workspace/app/main.py": "print()\n",
            "workspace-writer/MEMORY.md": "- Chapter two is done.\n",
        },
    )


def deepagents(home: Path, project: Path) -> None:
    """The memories of one agent with the block that is the program's own, and a project's file."""
    lay(
        home / ".deepagents",
        {
            ".state/onboarding_complete": "1",
            "agent/AGENTS.md": (
                '# Preferences\n\n<!-- deepagents:onboarding-name:start -->\n- The user\'s preferred name is "Ann".\n'
                "<!-- deepagents:onboarding-name:end -->\n\n- Short answers.\n"
            ),
            "agent/memories/api-conventions.md": "# API\n\nsnake_case.\n",
            "agent/skills/web/SKILL.md": "---\nname: web\ndescription: Search\n---\n",
        },
    )
    lay(project, {".deepagents/AGENTS.md": "# App\n\nBuild with `make`.\n", ".deepagents/skills/x/SKILL.md": "x\n"})


def cline(home: Path, project: Path) -> None:
    """A memory bank with its six files, and rules of the user and of the project."""
    names = ("projectbrief", "productContext", "activeContext", "systemPatterns", "techContext", "progress")
    lay(home / "Documents/Cline/Rules", {"style.md": "- Short answers.\n"})
    lay(
        project,
        {
            ".clinerules/01-coding.md": "- Type everything.\n",
            **{f"memory-bank/{name}.md": f"# {name}\n\nText.\n" for name in names},
            "memory-bank/.clinerules": "Update the bank after each task.\n",
        },
    )


def roo(home: Path, project: Path) -> None:
    """A memory bank with its log of decisions, and rules, general and of one mode."""
    lay(home / ".roo", {"rules/style.md": "- Short answers.\n", "mcp.json": "{}"})
    lay(
        project,
        {
            ".roo/rules/01-general.md": "- Type everything.\n",
            ".roo/rules-code/tests.txt": "No sleeps.\n",
            ".roomodes": "customModes: []\n",
            ".roorules-ask": "Answer only.\n",
            "memory-bank/activeContext.md": "# Now\n\nThe login.\n",
            "memory-bank/decisionLog.md": "# Decisions\n\n- One table.\n",
        },
    )


def cursor(home: Path, project: Path) -> None:
    """Rules of the user and of the project, in folders, and the older single file."""
    lay(home / ".cursor", {"rules/style.mdc": "---\nalwaysApply: true\n---\n- Short answers.\n", "mcp.json": "{}"})
    lay(
        project,
        {
            ".cursor/rules/tests.mdc": "---\nglobs: tests/**\nalwaysApply: false\n---\n- No sleeps.\n",
            ".cursor/rules/api/errors.mdc": "---\ndescription: Errors\n---\n- With a code.\n",
            ".cursor/environment.json": "{}",
            ".cursorrules": "Build with `make`.\n",
            "api/.cursor/rules/v2.mdc": "---\nalwaysApply: true\n---\n- v2 only.\n",
        },
    )


def kilo(home: Path, project: Path) -> None:
    """Memories of this project and of another, the older memory bank, and rules of the user and of the project."""
    made = sha1(str(project.resolve()).encode(), usedforsecurity=False).hexdigest()[:12]
    folder = home / ".local/share/kilo/memory"
    files = {"project.md": "- stack: Python\n", "state.json": '{"enabled": true}', "index.kmem": "stack: Python\n"}
    lay(folder / f"{project.name}-{made}", {**files, "sessions/one.md": "Built it.\n", "decisions.jsonl": "{}\n"})
    lay(folder / "other-0123456789ab", files)
    lay(home / ".kilocode", {"rules/style.md": "- Short answers.\n"})
    bank = {f".kilocode/rules/memory-bank/{name}.md": f"# {name}\n" for name in ("brief", "context")}
    lay(project, {".kilocode/rules/01.md": "- Type everything.\n", ".kilocode/mcp.json": "{}", **bank})


def replit(home: Path, project: Path) -> None:
    """Memories in the checkout, with their index."""
    lay(
        project,
        {
            ".replit": "run = 'make'\n",
            ".agents/memory/MEMORY.md": "- [Build](build.md) — how\n",
            ".agents/memory/build.md": "---\nname: Build\ndescription: how\n---\n`make`.\n**Why:** one way.\n",
        },
    )


def windsurf(home: Path, project: Path) -> None:
    """The user's rules, a memory that is not text, and rules of the project under both names of the program."""
    folder = home / ".codeium/windsurf/memories"
    lay(folder, {"global_rules.md": "- Short answers.\n"})
    (folder / "5f0c.pb").write_bytes(b"\x08\x01\x12\x04\xff\xfe\x00a")
    lay(
        project,
        {
            ".windsurf/rules/tests.md": "---\ntrigger: glob\nglobs: tests/**\n---\n- No sleeps.\n",
            ".windsurf/workflows/review.md": "Review.\n",
            ".devin/rules/api.md": "---\ntrigger: always_on\n---\n- v2 only.\n",
            ".windsurfrules": "Build with `make`.\n",
        },
    )


def kiro(home: Path, project: Path) -> None:
    """Steering files of the user and of the project, with each way to be loaded."""
    lay(home / ".kiro", {"steering/style.md": "- Short answers.\n", "settings/mcp.json": "{}"})
    lay(
        project / ".kiro",
        {
            "steering/product.md": "# Product\n\nAn app.\n",
            "steering/tests.md": '---\ninclusion: fileMatch\nfileMatchPattern: "tests/**"\n---\n- No sleeps.\n',
            "specs/login/design.md": "# Login\n",
        },
    )


def agents_md(home: Path, project: Path) -> None:
    """The file many agents read, in the project and in a folder of it, and those of agents that keep nothing else."""
    lay(home / ".config", {"opencode/AGENTS.md": "- Short answers.\n", "amp/AGENTS.md": "- Short answers.\n"})
    lay(project, {"AGENTS.md": "# App\n\nBuild with `make`.\n", "api/AGENTS.md": "- v2 only.\n", "WARP.md": "# Warp\n"})
    lay(project, {".junie/guidelines.md": "- Short.\n", ".specify/memory/constitution.md": "# Principles\n"})


HOMES_MORE: Mapping[str, Callable[[Path, Path], None]] = {
    "copilot": copilot,
    "serena": serena,
    "letta": letta,
    "goose": goose,
    "hermes": hermes,
    "openclaw": openclaw,
    "deepagents": deepagents,
    "cline": cline,
    "roo": roo,
    "kilo": kilo,
    "replit": replit,
    "cursor": cursor,
    "windsurf": windsurf,
    "kiro": kiro,
    "agents-md": agents_md,
}
"""By agent: writes what the agent leaves in a home folder and in a project; both exist."""
