"""The entry in the table of features: memtui in the configuration of agents."""

from memtui.agents.table import CLIENTS
from memtui.features.feature import Feature
from memtui.wire.params import ACCESS
from memtui.wire.verb import Param, Verb

_CLIENT = Param("client", "which agent", metavar="CLIENT", choices=tuple(CLIENTS))
_WRITE = Param("--write", "make the change, after showing it", "flag")
_LEVEL = Param(
    "--level",
    "whose configuration: your own (the default), or the project's, which others share",
    choices=("user", "project"),
)
_ON = Param("--on", "its server, which gives the memories of another machine that [hosts] names", metavar="HOST")
_ANSWER = "one object: client, level, written, changes (each: path, action, diff, backup), removed, notes; "
_VERBS = (
    Verb(
        "install",
        "agents",
        "Put memtui into an agent's configuration: its MCP server, and a hook that gives it the context",
        (
            _CLIENT,
            _WRITE,
            _LEVEL,
            _ON,
            ACCESS._replace(help="what the agent may do at most; off is for the settings"),
            Param("--recall", "also a hook that gives each prompt the memories that fit it", "flag"),
            Param("--extract", "also a hook that has each session looked through at its end", "flag"),
            Param("--no-hook", "only the server, which then gives the context itself", "flag"),
            Param("--no-context", "the server leaves the context out, also without a hook of its own", "flag"),
        ),
        (
            ("memtui install", "which agents are here, and which have memtui"),
            ("memtui install claude-code", "what would be changed; nothing is written"),
            ("memtui install claude-code --write", "and now it is"),
            ("memtui install claude-code --recall --write", "with memories for each prompt"),
            ("memtui install codex --on build --write", "with the memories of another machine as well"),
            ("memtui install codex --access plan --write", "for an agent that writes nothing into the checkout"),
        ),
        "Every other byte of the files stays as it is, and what they held is kept in memtui's own folder. Running it "
        "twice changes nothing.",
        _ANSWER
        + "without CLIENT a list: client, title, level, found, state (installed, outdated, absent, taken, unreadable), "
        "hook, recall, extract, context, access, command, runs, paths, problem",
        does="memtui.features.install.verbs:install",
        rank=50,
    ),
    Verb(
        "uninstall",
        "agents",
        "Take memtui out of an agent's configuration again",
        (_CLIENT._replace(required=True), _WRITE, _LEVEL, _ON),
        (
            ("memtui uninstall codex", "what would be changed; nothing is written"),
            ("memtui uninstall codex --write", "and now it is"),
        ),
        "A file that nobody else has edited since gets back exactly what it held; from another, only what is memtui's "
        "goes. Memories stay where they are.",
        _ANSWER.removesuffix("; "),
        does="memtui.features.install.verbs:uninstall",
        rank=60,
    ),
)

FEATURE = Feature(verbs=_VERBS)
