"""Entry in the table of features: observations, small dated cards derived from memories."""

from memtui.features.feature import Feature, Tool
from memtui.ui.action import Action, View, action
from memtui.wire.params import AGENT, LIMIT
from memtui.wire.verb import Param, Verb

_SWITCHES = ("observe.enabled", "observe.agents")
_ACTIONS = (
    *("search", "timeline", "show", "grep", "describe", "status", "rebuild", "check"),
    *("mark", "edit", "rm", "restore", "redact", "promote", "clear"),
)
TYPES = (
    *("correction", "decision", "preference", "constraint"),
    *("fix", "error", "change", "plan", "fact", "summary", "note"),
)
"""Card types, the most valuable first: ties between equally good search results follow this order."""


def _action(name: str, keys: str, label: str, help_: str, *, writes: bool = False, moves: bool = False) -> Action:
    return action(f"obs_{name}", keys, label, help_, "observations", writes=writes, moves=moves)


_VIEW_ACTIONS = (
    _action("sessions", "S", "sessions", "Answer once whether agents' sessions make cards, too."),
    _action("open", "enter", "open", "Open the memory at the entry the card is made of."),
    _action("hidden", ".", "hidden", "Show what is suppressed, deleted or redacted, too, or not."),
    _action("projects", "f8  ctrl+l", "projects", "Look in every project, or in this one only."),
    *(
        _action(f"by_{name}", f"f {name[0]}", f"by {name}", f"Show only the next {name}; behind the last one all.")
        for name in ("type", "state", "kind")
    ),
    _action("around", "t", "around", "Show what was noted before and after it, or the list again."),
    _action("next", "n", "next place", "Go to the next place that was looked for.", moves=True),
    _action("previous", "N", "previous place", "Go to the place before it.", moves=True),
    _action("edit", "e", "edit", "Write over title, type and a note; its memory stays.", writes=True),
    _action("promote", "P", "to memory", "Make a memory of it: shows what is written first.", writes=True),
    _action("private", ", p", "private", "Give it to no agent; asks nothing, u takes it back.", writes=True),
    _action("suppressed", ", s", "suppressed", "Give it to no agent, and hide it here until . shows it.", writes=True),
    _action("normal", ", n", "normal", "Let agents have it again.", writes=True),
    _action("delete", "d t", "delete", "Take it away; its memory stays, and r brings it back.", writes=True),
    _action("restore", "r", "restore", "Bring a deleted card back, with its state and edits.", writes=True),
    _action("redact", "d r", "redact", "Clear its text for good: asks for a typed word and a reason.", writes=True),
    _action("rebuild", "g r", "rebuild", "Make all cards anew beside those there are; again stops it.", writes=True),
)


def _tool(id_: str, title: str, name: str, *, only_with_sessions: bool = False) -> Tool:
    offer, call = f"memtui.features.observations.tool:offer_{name}", f"memtui.features.observations.tool:{name}"
    return Tool(id_, title, offer, call, _SWITCHES, reads_sessions=True, only_with_sessions=only_with_sessions)


FEATURE = Feature(
    title="Observations",
    view=View(
        "observed",
        "9",
        "Observed",
        "Show what memories say as dated cards, and decide who is given them.",
        "memtui.features.observations.view:ObservedView",
        (
            *(one.id for one in _VIEW_ACTIONS),
            *("mark", "range", "range_down", "range_up", "mark_all", "filter", "copy_contents", "reload"),
            "show_in_tree",
        ),
        ("obs_open", "filter", "obs_edit", "obs_promote", "obs_private", "obs_hidden", "obs_around", "mark"),
        short="Obs",
    ),
    actions=_VIEW_ACTIONS,
    works={"observe": "memtui.features.observations.find:observe"},
    begins="memtui.features.observations.find:begin",
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
                Param("--type", "only cards of this type; for edit: the type it is to have", choices=TYPES),
                AGENT,
                Param("--path", "only cards that name such a path, or lie there"),
                Param("--since", "only what happened after this time", "time"),
                Param("--until", "only what happened before it", "time"),
                Param("--before", "so many cards before it in time; 5 when it is not given", "count", metavar="N"),
                Param("--after", "and so many after it", "count", metavar="N"),
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
                Param("--type", "what it is; note when it is not given", choices=TYPES),
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
        _tool("memory_search_index", "Search observations", "index"),
        _tool("memory_timeline", "Observations by time", "timeline"),
        _tool("memory_details", "Whole observations", "details"),
        _tool("context_grep", "Search this session", "grep", only_with_sessions=True),
        _tool("context_describe", "Turns of this session", "describe", only_with_sessions=True),
    ),
)
