"""What agents leave on a machine: for each, a function that writes a realistic home folder and project.

Texts and names are made up; where files lie and how they look is what the agents' own sources and documentation say.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path

from memtui.agents.layout import slug

INDEX = "- [{title}]({file}) — {hook}\n"


def lay(folder: Path, files: Mapping[str, str]) -> None:
    """Write files below a folder, byte for byte as given."""
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode("utf-8"))


def memory(name: str, description: str, kind: str, body: str, *extra: str) -> str:
    """Make a memory as Claude Code and Qwen Code write them: front matter and a body."""
    head = "\n".join((f"name: {name}", f"description: {description}", f"type: {kind}", *extra))
    return f"---\n{head}\n---\n\n{body}\n"


def topics(*extra: str) -> dict[str, str]:
    """Make an index and three memories it names."""
    return {
        "MEMORY.md": (
            INDEX.format(title="User role", file="user_role.md", hook="data engineer, new to the front end")
            + INDEX.format(title="Testing", file="feedback_testing.md", hook="integration tests, no mocks of the store")
            + INDEX.format(title="Freeze", file="project_freeze.md", hook="no merges after Thursday")
        ),
        "user_role.md": memory("User role", "What the user does", "user", "Data engineer; ten years of SQL.", *extra),
        "feedback_testing.md": memory(
            "Testing", "How tests are wanted", "feedback", "Use the real store.\n\n**Why:** mocks hid a bug.", *extra
        ),
        "project_freeze.md": memory("Freeze", "The release freeze", "project", "Merge freeze from 2026-03-05.", *extra),
    }


def below(folder: str, files: Mapping[str, str]) -> dict[str, str]:
    """Put files into a folder."""
    return {f"{folder}/{name}": text for name, text in files.items()}


def claude_code(home: Path, project: Path) -> None:
    """Auto memory of this project and one that is gone, subagents in three places, CLAUDE.md at every level, rules."""
    others = slug(str(project.parent / "moved-away"))
    stamped = topics("modified: 2026-03-01T10:00:00.000Z")
    lay(
        home / ".claude",
        {
            "CLAUDE.md": "# About me\n\n- Answer in short sentences.\n\n@prefs/style.md\n",
            "prefs/style.md": "- Tabs, not blanks.\n",
            "rules/review.md": "- Look for missing tests first.\n",
            "rules/lang/python.md": '---\npaths: ["**/*.py"]\n---\n\n- Type everything.\n',
            "settings.json": '{\n  "autoMemoryEnabled": true\n}\n',
            "history.jsonl": '{"display": "hello"}\n',
            **below(f"projects/{slug(str(project))}/memory", stamped),
            f"projects/{slug(str(project))}/0b7e1d6c.jsonl": '{"type": "user"}\n',
            **below(f"projects/{others}/memory", topics()),
            **below("agent-memory/reviewer", topics()),
        },
    )
    lay(
        project,
        {
            "CLAUDE.md": (
                "# App\n\nBuild with `make`.\n\n@docs/conventions.md\n@../outside.md\n@~/.claude/prefs/style.md\n"
            ),
            "CLAUDE.local.md": "- My test account is in the vault.\n",
            "docs/conventions.md": "- Names are nouns.\n",
            ".claude/CLAUDE.md": "- Ask before you push.\n",
            ".claude/rules/api.md": '---\npaths: ["api/**"]\n---\n\n- Every answer has a request id.\n',
            ".claude/settings.local.json": "{}\n",
            **below(".claude/agent-memory/reviewer", topics()),
            **below(".claude/agent-memory-local/tester", topics()),
        },
    )
    lay(project.parent, {"CLAUDE.md": "- Everything here is for work.\n", "outside.md": "Not of this project.\n"})


def codex(home: Path, project: Path) -> None:
    """The memories folder with what Codex generates, and AGENTS.md with overrides."""
    lay(
        home / ".codex",
        {
            "AGENTS.md": "- Prefer small commits.\n",
            "config.toml": 'model = "o"\nproject_doc_fallback_filenames = ["TEAM.md"]\n\n[features]\nmemories = true\n',
            "memories/memory_summary.md": "v1\n## User Profile\n\nData engineer.\n\n## What's in Memory\n\n- app\n",
            "memories/MEMORY.md": (
                "# Task Group: app / build and release\n\n"
                "scope: building the app; use it for release tasks\n"
                f"applies_to: cwd={project}; reuse_rule=safe in this checkout\n\n"
                "## Task 1: fix the release script, done\n\n### rollout_summary_files\n\n"
                "- rollout_summaries/2026-03-01T10-00-00-abcd-fix_release.md (cwd=app, thread_id=1)\n\n"
                "### keywords\n\n- release, make, tag\n\n## User preferences\n\n- small commits [Task 1]\n\n"
                "# Task Group: app / data import\n\nscope: importing data\napplies_to: cwd=app; reuse_rule=any\n\n"
                "## Task 1: import a month, done\n\n### keywords\n\n- import, csv\n"
            ),
            "memories/raw_memories.md": "# Raw Memories\n\n## Thread `1`\n\nfixed the release script\n",
            "memories/rollout_summaries/2026-03-01T10-00-00-abcd-fix_release.md": "thread_id: 1\n\nFixed it.\n",
            "memories/skills/release/SKILL.md": "---\nname: release\ndescription: Release the app\n---\n\nRun make.\n",
            "memories/extensions/ad_hoc/instructions.md": "Notes by hand are evidence.\n",
            "memories/phase2_workspace_diff.md": "No changes.\n",
            "memories/.git/HEAD": "ref: refs/heads/main\n",
            "sessions/2026/03/01/rollout-1.jsonl": "{}\n",
        },
    )
    lay(
        project,
        {
            "AGENTS.md": "# App\n\nBuild with `make`.\n",
            "api/AGENTS.md": "- Every answer has a request id.\n",
            "api/AGENTS.override.md": "- Work on v2 only.\n",
            "api/v2/TEAM.md": "- Ask team v2.\n",
        },
    )


def gemini(home: Path, project: Path) -> None:
    """The global GEMINI.md, the project's own with an import, and private memory with an inbox."""
    gone = project.parent / "moved-away"
    private = {
        "MEMORY.md": "# Project memory\n\n- [Deploy](deploy.md)\n- The staging host is slow on Mondays.\n",
        "deploy.md": "# Deploy\n\nUse the second button.\n",
        ".inbox/private/extraction.patch": "--- a/MEMORY.md\n+++ b/MEMORY.md\n@@ -1 +1,2 @@\n # Project memory\n+- x\n",
        ".extraction-state.json": "{}\n",
        "skills/deploy/SKILL.md": "---\nname: deploy\ndescription: Deploy the app\n---\n\nPress it.\n",
    }
    lay(
        home / ".gemini",
        {
            "GEMINI.md": "# Me\n\n## Gemini Added Memories\n\n- Prefers metric units\n",
            "settings.json": '{\n  "context": {"fileName": ["GEMINI.md", "TEAM.md"]}\n}\n',
            "projects.json": json.dumps({"projects": {str(project): "app", str(gone): "moved-away"}}, indent=2),
            "oauth_creds.json": "{}\n",
            **below("tmp/app/memory", private),
            "tmp/app/.project_root": str(project),
            "tmp/app/chats/session-1.json": "{}\n",
            "tmp/moved-away/memory/MEMORY.md": "- Old.\n",
            "tmp/moved-away/.project_root": str(gone),
            f"tmp/{hashlib.sha256(b'/elsewhere').hexdigest()}/memory/MEMORY.md": "- From before projects had names.\n",
        },
    )
    lay(
        project,
        {
            "GEMINI.md": "# App\n\n@./docs/style.md\n",
            "docs/style.md": "- Short.\n",
            "api/GEMINI.md": "- Every answer has a request id.\n",
            "api/TEAM.md": "- Ask the team.\n",
        },
    )


def qwen_code(home: Path, project: Path) -> None:
    """User, project, team and channel memories with a pinned one, rules, and QWEN.md at every level."""
    sorted_in = {
        "MEMORY.md": (
            INDEX.format(title="User role", file="user/role.md", hook="data engineer")
            + INDEX.format(title="Freeze", file="pinned/freeze.md", hook="no merges after Thursday")
        ),
        "user/role.md": memory("User role", "data engineer", "user", "Ten years of SQL."),
        "pinned/freeze.md": memory("Freeze", "no merges after Thursday", "project", "From 2026-03-05."),
        "feedback.md": memory("Feedback", "old file of one topic", "feedback", "Short answers."),
    }
    thread = hashlib.sha256(b"chat\0").hexdigest()[:32]
    lay(
        home / ".qwen",
        {
            "QWEN.md": "- Answer in short sentences.\n",
            "AGENTS.md": "- Prefer small commits.\n",
            "rules/review.md": "- Look for missing tests first.\n",
            "settings.json": '{\n  "memory": {"enableTeamMemory": true}\n}\n',
            **below("memories", sorted_in),
            **below(f"projects/{slug(str(project))}/memory", sorted_in),
            f"projects/{slug(str(project))}/meta.json": '{\n  "version": 1\n}\n',
            f"projects/{slug(str(project))}/extract-cursor.json": '{"updatedAt": "2026-03-01T10:00:00.000Z"}',
            f"projects/{slug(str(project.parent / 'moved-away'))}/memory/MEMORY.md": "",
            f"channels/memory/telegram/{thread}/CHANNEL.md": "The group speaks German.\nStand-up is at ten.\n",
        },
    )
    lay(
        project,
        {
            "QWEN.md": "# App\n\nBuild with `make`.\n",
            ".qwen/QWEN.local.md": "- My test account is in the vault.\n",
            ".qwen/rules/api.md": '---\npaths: ["api/**"]\n---\n\n- Every answer has a request id.\n',
            "api/QWEN.md": "- Work on v2 only.\n",
            **below(".qwen/team-memory", sorted_in),
        },
    )


def mux(home: Path, project: Path, folder: str = ".xum") -> None:
    """Global, project and workspace memories, and the sidecar with pins and counts."""
    name = f"{project.name}-{hashlib.sha256(str(project).encode()).hexdigest()[:12]}"
    used = {"pinned": False, "accessCount": 3, "lastAccessedAt": 1_767_225_600_000, "lastWriteAt": None}
    lay(
        home / folder,
        {
            "memory/global/preferences.md": "---\ndescription: How the user likes answers\n---\n\nShort.\n",
            "memory/global/topics/a:b.md": "A name with a colon.\n",
            f"memory/project/{name}/build.md": "---\ndescription: How to build\n---\n\n`make`.\n",
            "sessions/fix-login/memory/plan.md": "1. Find the cookie.\n",
            "sessions/fix-login/chat.jsonl": "{}\n",
            "config.json": json.dumps(
                {
                    "projects": [
                        [str(project), {"workspaces": [{"id": "fix-login", "name": "fix-login", "path": str(project)}]}]
                    ]
                }
            ),
            "memory-meta.json": json.dumps(
                {
                    "entries": {
                        "global:preferences.md": {**used, "pinned": True},
                        "global:topics/a%3Ab.md": {**used, "pinned": True},
                        "global:gone.md": {**used, "pinned": True},
                        f"project:{project}:build.md": used,
                        "workspace:fix-login:plan.md": {**used, "pinned": True, "accessCount": 9},
                    }
                },
                indent=2,
            ),
        },
    )
    lay(project, {"AGENTS.md": "# App\n\nBuild with `make`.\n"})


HOMES: Mapping[str, Callable[[Path, Path], None]] = {
    "claude-code": claude_code,
    "codex": codex,
    "gemini": gemini,
    "qwen-code": qwen_code,
    "mux": mux,
}
"""By agent: writes what the agent leaves in a home folder and in a project; both exist."""
