"""Parameters shared by verbs, and the global options."""

from memtui.wire.verb import Param

SCOPES = ("global", "project", "workspace", "channel")
ADDRESS = Param("address", "the memory: ROOT/PATH, /memories/SCOPE/PATH or a file path", "address", required=True)
ADDRESSES = ADDRESS._replace(name="addresses", metavar="ADDRESS", many=True)
ALONE = Param("--alone", "leave index entries and links that name it as they are", "flag")
FILE = Param("--file", "read the text from this file; `-` is standard input", "file")
DASH = Param("source", "`-`: read the text from standard input", choices=("-",))
SCOPE = Param("--scope", "only this scope", choices=SCOPES)
AGENT = Param("--agent", "only this agent's roots, such as claude-code")
LIMIT = Param("--limit", "at most so many", "number", metavar="N")
NAMES = Param("--names", "print addresses only, one a line", "flag")
ACCESS = Param(
    "--access",
    "what the client may do at most; the settings can only narrow it, and only they know off",
    choices=("rw", "plan", "ro"),
)

GLOBALS = (
    Param("--home", "keep everything of memtui's below DIR (as MEMTUI_HOME does)", "dir", metavar="DIR"),
    Param("--project", "the project to look at; else the one around the working directory", "dir", metavar="DIR"),
    Param(
        "--root",
        "one more root: NAME=DIR[,agent=KIND][,scope=SCOPE]; repeatable",
        "text",
        metavar="NAME=DIR",
        many=True,
    ),
    Param("--only-root", "nothing but the --root ones and memtui's own", "flag"),
    Param("--all-projects", "every project an agent keeps memories for, not only this one", "flag"),
    Param("--json", "print one JSON document, also for errors", "flag"),
    Param("--read-only", "refuse every change", "flag"),
    Param(
        "--actor", "who the changes are recorded for (default: cli, or the agent that runs the command)", metavar="NAME"
    ),
    Param("--on", "do it on another machine, one that [hosts] of the settings names", metavar="HOST"),
    Param("--given", "the sha-256 of the text it is given; one that is not that text is refused", "sha", metavar="SHA"),
    Param("--ascii", "draw with ASCII only", "flag"),
    Param("--show-secrets", "print secrets on a terminal as they are, not masked", "flag"),
    Param("--calm", "no animation, few repaints (for slow links)", "flag"),
    Param("--fresh", "open the workbench as if for the first time", "flag"),
    Param("--no-mouse", "leave the mouse to the terminal, as for selecting text", "flag"),
    Param("--version", "print the version", "flag"),
    Param("--help", "print this help", "flag"),
)
"""Options every verb takes, before or after its name."""
