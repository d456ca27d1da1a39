"""Feature entry for the start cost: `memtui cost` and view 8."""

from memtui.features.feature import Feature
from memtui.ui.action import View, action
from memtui.wire.verb import Param, Verb

_VERBS = (
    Verb(
        "cost",
        "agents",
        "Show what agents load when a session starts, with bytes and tokens",
        (Param("--agent", "the files of this agent, such as claude-code, in the order of loading"),),
        (
            ("memtui cost", "one line for each agent in use here"),
            ("memtui cost --agent claude-code", "its files in the order of loading, and what is cut off"),
            ("memtui cost --agent codex --json | jq .tokens", "one number"),
        ),
        "Marks: cut (the rest falls below a limit), on demand, only when matching files are touched, needs approval "
        "(it leads out of the project and is not read), missing, skipped, names only. Tokens are estimated, unless "
        "memtui[tokens] is installed. Looking at it is no use.",
        "with --agent one object: agent, title, project, files, bytes, tokens, tokens_by, below_limits, marks, note, "
        "items (what, path, address, mark, why, size, bytes, tokens, below_limits, cut_line, depth); without it a list "
        "of the same without note and items",
        does="memtui.features.cost.verbs:cost",
        rank=20,
    ),
)

FEATURE = Feature(
    title="Start cost",
    view=View(
        "cost",
        "8",
        "Start cost",
        "Show what each agent loads when a session starts, with bytes and tokens.",
        "memtui.features.cost.view:CostView",
        (
            *("cost_go", "cost_agent", "cost_cut", "left", "right", "edit", "versions", "copy_path", "copy_contents"),
            "reload",
        ),
        ("cost_go", "cost_agent", "cost_cut", "edit", "copy_path"),
        "Cost",
    ),
    actions=(
        action(
            "cost_go",
            "enter",
            "open",
            "Open the agent; go to the memory in the tree; from another file, to its text.",
            "cost",
        ),
        action("cost_agent", "c", "next agent", "Show the next agent.", "cost"),
        action("cost_cut", "n", "cut line", "Go to the place of the text where loading ends.", "cost"),
    ),
    verbs=_VERBS,
)
