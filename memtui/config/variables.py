"""Every environment variable that changes what memtui does: memtui's own, and those of agents; no others are kept.

The settings keep what is set of the agents', and the page of settings lists all of them.
"""

VARIABLES = (
    ("MEMTUI_HOME", "memtui", "One absolute folder for everything memtui keeps: settings, ledger, drafts, memories."),
    (
        "MEMTUI_WORKSPACE",
        "memtui",
        "The workspace's name, instead of one made from the checkout's path: 1 to 64 letters, digits, `-`, `_`, `.`.",
    ),
    ("MEMTUI_DEBUG", "memtui", "`1`: show a traceback when memtui itself fails."),
    ("HOME", "memtui", "The home folder; when unset, the password database is asked; a relative path is refused."),
    (
        "XDG_CONFIG_HOME",
        "memtui, VS Code",
        "Where the settings' folder lies (Linux), and VS Code's own; a relative path is ignored.",
    ),
    ("XDG_STATE_HOME", "memtui", "Where the ledger's folder lies (Linux); a relative path is ignored."),
    ("XDG_DATA_HOME", "memtui", "Where the folder of memtui's own memories lies (Linux); a relative path is ignored."),
    ("MEMTUI_EDITOR", "memtui", "The editor for memtui alone, when the settings name none."),
    ("VISUAL", "memtui", "The editor, when neither the settings nor `MEMTUI_EDITOR` name one."),
    ("EDITOR", "memtui", "The editor, when nothing above names one."),
    ("NO_COLOR", "memtui", "When set and not empty, no colour is used."),
    ("SSH_CONNECTION", "memtui", "When set, `calm` is on unless the settings say otherwise."),
    ("LC_ALL", "memtui", "The locale, then `LC_CTYPE`, then `LANG`: an encoding other than UTF-8 turns `ascii` on."),
    ("CLAUDE_CONFIG_DIR", "Claude Code", "Its folder, instead of `~/.claude`."),
    (
        "CLAUDE_CODE_DISABLE_AUTO_MEMORY",
        "Claude Code",
        "`1`: it has no auto memory, and memtui says so; `0`: it has, whatever its settings say.",
    ),
    (
        "CLAUDE_CODE_DISABLE_CLAUDE_MDS",
        "Claude Code",
        "`1`: it loads no instructions and no memories, and memtui says so.",
    ),
    ("CODEX_HOME", "Codex", "Its folder, instead of `~/.codex`."),
    ("GEMINI_CLI_HOME", "Gemini CLI", "The folder that its `.gemini` lies in, instead of the home folder."),
    ("COPILOT_HOME", "VS Code", "The folder of Copilot's hooks and instructions, instead of `~/.copilot`."),
    ("VSCODE_PORTABLE", "VS Code", "The data folder of a portable installation."),
    ("QWEN_HOME", "Qwen Code", "Its folder, instead of `~/.qwen`."),
    ("QWEN_RUNTIME_DIR", "Qwen Code", "Where it keeps memories, instead of its own folder."),
    ("QWEN_CODE_MEMORY_BASE_DIR", "Qwen Code", "The same, and stronger."),
    ("QWEN_CODE_MEMORY_LOCAL", "Qwen Code", "`1`: project memories live in the project, in `.qwen/memory/`."),
    (
        "QWEN_CODE_MEMORY_PROJECT_SCOPE",
        "Qwen Code",
        "`workspace`: project memories belong to the exact folder, not to the checkout.",
    ),
    ("QWEN_CODE_MEMORY_TEAM", "Qwen Code", "`1` or `0`: whether it loads team memories; memtui says so."),
    (
        "QWEN_CODE_MEMORY_TEAM_SYNC",
        "Qwen Code",
        "`1` or `0`: whether it pulls, commits and pushes team memories; memtui says so.",
    ),
    ("XUM_ROOT", "Mux", "Its folder, instead of `~/.xum`."),
    ("MUX_ROOT", "Mux", "The same, under its older name."),
    ("SERENA_HOME", "Serena", "Its folder, instead of `~/.serena`."),
    ("LETTA_MEMORY_DIR", "Letta Code", "The memories of the agent that is running."),
    ("MEMORY_DIR", "Letta Code", "The same, when it names a memory repository of Letta Code's."),
    ("LETTA_LOCAL_BACKEND_DIR", "Letta Code", "Where agents of this machine are kept, instead of `~/.letta`."),
    ("HERMES_HOME", "Hermes", "Its folder, or a profile's, instead of `~/.hermes`."),
    ("OPENCLAW_STATE_DIR", "OpenClaw", "Its folder, instead of `~/.openclaw`."),
    ("OPENCLAW_WORKSPACE_DIR", "OpenClaw", "The agent's workspace."),
    ("OPENCLAW_PROFILE", "OpenClaw", "The profile: its folder is `~/.openclaw-<profile>`."),
)
"""Every environment variable that changes what memtui does: name, whose it is, one sentence."""

AGENT_VARIABLES = tuple(name for name, whose, _ in VARIABLES if whose != "memtui")
"""Those of agents, which say where their memories and settings are, or switch them off."""
