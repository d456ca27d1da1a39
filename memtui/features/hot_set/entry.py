"""Feature entry for the hot set: `memtui context` and view 4."""

from memtui.features.feature import Feature
from memtui.ui.action import View, action
from memtui.wire.verb import Param, Verb

_VERBS = (
    Verb(
        "context",
        "agents",
        "Print what an agent is given without asking: the index and the hot set",
        (
            Param("--part", "only this part; default: all", choices=("index", "hot", "all")),
            Param(
                "--format",
                "text as the agent reads it, json with what was chosen and left out, or the answer of a hook",
                choices=("text", "json", "hook"),
            ),
            Param("--client", "the client it is for, as the [access] table names it", metavar="NAME"),
        ),
        (
            ("memtui context", "the very bytes"),
            ("memtui context --part hot --json | jq '.items[].path'", "what is in the hot set"),
            ("memtui context --format hook --client claude-code", "what a session-start hook runs"),
        ),
        "The same memories, pins and uses give the same bytes. Looking at it is no use. With --format hook it is "
        "made to fit into 10,000 characters, which is what Claude Code takes of a hook.",
        "one object: text, sha256, masked, index (bytes, tokens, masked, memories, listed, unlisted, limits), hot "
        "(bytes, tokens, masked, text_bytes, limits), items (address, path, place, pinned, heat, uses, size, bytes, "
        "tokens, truncated, masked), left_out (address, path, reason, pinned, heat, uses, size), unreviewed",
        does="memtui.features.hot_set.verbs:context",
        rank=10,
    ),
)

FEATURE = Feature(
    title="Hot set",
    view=View(
        "hot",
        "4",
        "Hot set",
        "Show what each agent is given, by itself and by memtui, and what is pinned or used and is not.",
        "memtui.features.hot_set.view:HotSetView",
        (
            *("pin", "hot_jump", "edit", "hot_client", "hot_door", "accept_root", "copy_contents", "reload", "zoom"),
            *("versions", "describe_memory", "install_hook", "lift_line"),
        ),
        ("pin", "hot_jump", "hot_client", "install_hook", "edit", "hot_door", "accept_root", "zoom"),
    ),
    actions=(
        action(
            "hot_jump",
            "enter",
            "in tree",
            "Go to the memory in the tree; of another agent, show its share; else go to the text.",
            "hot_set",
        ),
        action(
            "hot_client", "c", "agent", "Show the share of the next agent, or client of the [access] table.", "hot_set"
        ),
        action(
            "hot_door",
            "b",
            "MCP/hook",
            "As the MCP server gives it, or as a start-up hook, which takes less.",
            "hot_set",
        ),
    ),
    verbs=_VERBS,
)
