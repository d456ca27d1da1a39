"""Entry in the table of features: observations, small dated cards derived from memories."""

from memtui.features.feature import Feature, Tool
from memtui.ui.action import View, action
from memtui.wire.params import AGENT, LIMIT
from memtui.wire.verb import Param, Verb

_SWITCHES = ("observe.enabled", "observe.agents")
_ACTIONS = (
    *("search", "timeline", "show", "grep", "describe", "status", "rebuild", "check"),
    *("mark", "edit", "rm", "restore", "redact", "promote", "clear"),
)
_TYPES = (
    *("correction", "decision", "preference", "constraint"),
    *("fix", "error", "change", "plan", "fact", "summary", "note"),
)

_STATES = (
    ("private", ", p", "private", "Give it to no agent; asks nothing, u takes it back."),
    ("suppressed", ", s", "suppressed", "Give it to no agent, and hide it here until . shows it."),
    ("normal", ", n", "normal", "Let agents have it again."),
)
_VIEW_ACTIONS = (
    action("obs_sessions", "S", "sessions", "Answer once whether agents' sessions make cards, too.", "observations"),
    action("obs_open", "enter", "open", "Open the memory at the entry the card is made of.", "observations"),
    action("obs_hidden", ".", "hidden", "Show what is suppressed, deleted or redacted, too, or not.", "observations"),
    action("obs_projects", "f8  ctrl+l", "projects", "Look in every project, or in this one only.", "observations"),
    *(
        action(
            f"obs_by_{name}",
            f"f {name[0]}",
            f"by {name}",
            f"Show only the next {name}; behind the last one all.",
            "observations",
        )
        for name in ("type", "state", "kind")
    ),
    action("obs_around", "t", "around", "Show what was noted before and after it, or the list again.", "observations"),
    action("obs_next", "n", "next place", "Go to the next place that was looked for.", "observations", moves=True),
    action("obs_previous", "N", "previous place", "Go to the place before it.", "observations", moves=True),
    action(
        "obs_edit", "e", "edit", "Write over title, type and a note; its memory stays.", "observations", writes=True
    ),
    action(
        "obs_promote",
        "P",
        "to memory",
        "Make a memory of it: shows what is written first.",
        "observations",
        writes=True,
    ),
    *(action(f"obs_{name}", keys, label, help_, "observations", writes=True) for name, keys, label, help_ in _STATES),
    action(
        "obs_delete",
        "d t",
        "delete",
        "Take it away; its memory stays, and r brings it back.",
        "observations",
        writes=True,
    ),
    action(
        "obs_restore",
        "r",
        "restore",
        "Bring a deleted card back, with its state and edits.",
        "observations",
        writes=True,
    ),
    action(
        "obs_redact",
        "d r",
        "redact",
        "Clear its text for good: asks for a typed word and a reason.",
        "observations",
        writes=True,
    ),
    action(
        "obs_rebuild",
        "g r",
        "rebuild",
        "Make all cards anew beside those there are; again stops it.",
        "observations",
        writes=True,
    ),
)

FEATURE = Feature(
    title="Observations",
    view=View(
        "observed",
        "9",
        "Observed",
        "Show what memories say as dated cards, and decide who is given them.",
        "memtui.features.observations.inspector.view:ObservedView",
        (
            *(one.id for one in _VIEW_ACTIONS),
            *("mark", "range", "range_down", "range_up", "mark_all", "filter", "copy_contents", "reload"),
            "show_in_tree",
        ),
        ("obs_open", "filter", "obs_edit", "obs_promote", "obs_private", "obs_hidden", "obs_around", "mark"),
        short="Obs",
    ),
    actions=_VIEW_ACTIONS,
    works={"observe": "memtui.features.observations.work:observe"},
    begins="memtui.features.observations.work:begin",
    status="memtui.features.observations.verbs:status",
    verbs=(
        Verb(
            "obs",
            "look",
            "Find what memories say as small dated cards, and decide who may be given them",
            (
                Param(
                    "action",
                    "what to do; any other word is looked for, and with none it is status",
                    "query",
                    metavar="ACTION",
                    choices=_ACTIONS,
                ),
                Param("words", "words to look for, or names of cards", "query", metavar="WORD", many=True),
                LIMIT,
                Param("--cursor", "the next page, as the one before names it"),
                Param("--type", "only cards of this type; for edit: the type it is to have", choices=_TYPES),
                AGENT,
                Param("--path", "only cards that name such a path, or lie there"),
                Param("--since", "only what happened after this time", "time"),
                Param("--until", "only what happened before it", "time"),
                Param("--before", "so many cards before it in time; 5 when it is not given", "number", metavar="N"),
                Param("--after", "and so many after it", "number", metavar="N"),
                Param("--all", "also what no agent is given; only for a person at a terminal", "flag"),
                Param("--as", "what mark makes of it", choices=("normal", "private", "suppressed")),
                Param("--title", "for edit: what to call it"),
                Param("--note", "for edit: what to say beside it"),
                Param("--reason", "why it is decided so, for the log"),
                Param(
                    "--to", "for promote: the memory to make; memtui:project when it is not given", metavar="ADDRESS"
                ),
            ),
            (
                ("memtui obs", "how many memories are observed, and what failed"),
                ("memtui obs retry budget", "cards with both words, the best first; also: obs search"),
                ("memtui obs search --since 2d", "the newest cards, without words to look for"),
                ("memtui obs show kswz3zgl", "all of one card, by the beginning of its name"),
                ("memtui obs timeline kswz3zgl", "what the same project noted before and after it"),
                (
                    "memtui obs grep pool size",
                    "lines of the newest session here, where memtui may keep cards of sessions",
                ),
                ("memtui obs mark kswz3zgl --as private", "no agent is given it any more"),
                ("memtui obs edit kswz3zgl --title 'Retry budget'", "found by that, after every rebuild too"),
                ("memtui obs promote kswz3zgl", "a memory of it, after its bytes were shown"),
                ("memtui obs clear", "takes all cards of sessions out for good"),
            ),
            "A card is made of each memory, and of each entry of a file that holds many: title, facts, concepts and "
            "paths, by rules alone, with secrets masked and `<private>` parts cut. Memories stay the truth: cards are "
            "made anew at any time, what you decide about one is kept. What decides or writes asks at your "
            "terminal. Private: no agent is given the card; suppressed: nor are you, without --all; redact takes its "
            "text away for good. The memory itself stays as it is.",
            "search, timeline: a list of cards: name, at, kind, type, agent, address, title, concepts, files, "
            "tokens, masked, cut, state, marks, snippet, and next beside the items; grep, describe: text; show: "
            "narrative, facts, note, span, log in each; status: total, processed, failed, pending, running, "
            "last_run_at, last_error, generation, bytes, adrift, scrub_due; rebuild: summary and counts; check: "
            "ok, problem; the others: result, names",
            does="memtui.features.observations.verbs:obs",
            rank=45,
        ),
        Verb(
            "observe",
            "change",
            "Keep a short note about this project, to be found as an observation",
            (
                Param("text", "what to keep; `-`: standard input", "text", many=True, required=True),
                Param("--type", "what it is; note when it is not given", choices=_TYPES),
                Param("--tag", "a word to find it by; repeatable", metavar="WORD", many=True),
            ),
            (
                ("memtui observe the pool dies at night --type error", "kept with the time"),
                (
                    "memtui observe 'retry budget is three' --type decision --tag http",
                    "`memtui obs search http` has it",
                ),
            ),
            "Notes are entries of one file a month in memtui's own folder, with history and undo. No agent is given "
            "them unasked; they are found by `memtui obs` and by the tools of observations. Secrets are masked, and "
            "what stands in `<private>...</private>` is left out.",
            "one object: result (observed), address",
            does="memtui.features.observations.verbs:observe",
            rank=17,
        ),
    ),
    tools=(
        Tool(
            "memory_search_index",
            "Search observations",
            "memtui.features.observations.tool:offer_index",
            "memtui.features.observations.tool:index",
            _SWITCHES,
            reads_sessions=True,
        ),
        Tool(
            "memory_timeline",
            "Observations by time",
            "memtui.features.observations.tool:offer_timeline",
            "memtui.features.observations.tool:timeline",
            _SWITCHES,
            reads_sessions=True,
        ),
        Tool(
            "memory_details",
            "Whole observations",
            "memtui.features.observations.tool:offer_details",
            "memtui.features.observations.tool:details",
            _SWITCHES,
            reads_sessions=True,
        ),
        Tool(
            "context_grep",
            "Search this session",
            "memtui.features.observations.tool:offer_grep",
            "memtui.features.observations.tool:grep",
            _SWITCHES,
            reads_sessions=True,
            only_with_sessions=True,
        ),
        Tool(
            "context_describe",
            "Turns of this session",
            "memtui.features.observations.tool:offer_describe",
            "memtui.features.observations.tool:describe",
            _SWITCHES,
            reads_sessions=True,
            only_with_sessions=True,
        ),
    ),
)
