"""Feature entry: agents' sessions."""

from memtui.features.feature import Feature
from memtui.ui.action import View, action
from memtui.wire.params import LIMIT
from memtui.wire.verb import Param, Verb

FEATURE = Feature(
    title="Sessions of agents",
    view=View(
        "sessions",
        "",
        "Sessions",
        "Show what agents' sessions did to memories.",
        "memtui.features.sessions.view:SessionsView",
        ("session_go", "filter", "reload"),
        ("session_go", "filter"),
    ),
    actions=(action("session_go", "enter", "in tree", "Go to what it wrote, or read, in the tree.", "sessions"),),
    verbs=(
        Verb(
            "sessions",
            "agents",
            "Show what agents' sessions did to memories, and whether memtui reads their files",
            (
                Param(
                    "what",
                    "read all of them, those of this project, or none; list, read now, forget",
                    choices=("on", "project", "off", "list", "read", "forget"),
                ),
                Param("--keep", "what is kept of them: places, or also cards", choices=("places", "cards")),
                Param("--agent", "list only this agent's, such as claude-code", "text", "AGENT"),
                Param("--since", "list only those since: RFC 3339, a date, or an age such as 2h, 3d", "time", "TIME"),
                Param("--address", "list only those that used this memory", "address"),
                LIMIT,
            ),
            (
                ("memtui sessions", "what is allowed, since when, and how many files there are"),
                ("memtui sessions project", "read those of this project; a typed yes is asked for"),
                ("memtui sessions off", "read nothing from now on"),
                ("memtui sessions list --since 3d", "who opened, was given and wrote which memories"),
                ("memtui sessions forget", "drop what is kept; a typed yes is asked for"),
            ),
            "Nothing is read before you said yes. Session files are never changed, and nothing that was said in them "
            "is kept: only which memory was opened, searched, loaded, written or deleted, when, in which session, and "
            "where its prompt stands. What an agent opened counts as a use, at its time. `after` names what a session "
            "had taken in from outside since the prompt before it wrote: a web page, an MCP server, a file that is not "
            "in its folder.",
            "one object: read, keep, since, by, agents (each: agent, files; none where nothing may be read); list: a "
            "list of sessions: agent, session, cwd, began, ended, after, uses (each: address, kind, calls, after), and "
            "with --address `memory`: loaded, opened, of the last `sessions`; read: one object: files, touches, "
            "skipped, denied (why nothing was read); forget: one object: forgotten",
            does="memtui.features.sessions.verbs:sessions",
            rank=70,
        ),
    ),
    begins="memtui.features.sessions.read_touches:begin",
    status="memtui.features.sessions.verbs:status",
)
