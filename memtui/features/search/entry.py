"""Feature entry: search."""

from memtui.features.feature import Feature, Tool
from memtui.ui.action import View, action
from memtui.wire.params import AGENT, LIMIT, SCOPE
from memtui.wire.verb import Param, Verb

_VERBS = (
    Verb(
        "search",
        "look",
        "Find memories by name, description or text",
        (
            Param("query", "words that must all occur; case does not matter", "query", required=True, many=True),
            SCOPE,
            AGENT,
            Param("--versions", "also in texts that memories had, and in those of deleted memories", "flag"),
            LIMIT,
        ),
        (
            ("memtui search postgres migration", "memories with both words"),
            ("memtui search '\"blue button\" -draft'", "those words together, and no `draft` anywhere"),
            ("memtui search --scope global --limit 5 tabs", "the best five of one scope"),
            ("memtui search --all-projects --versions retry", "in every project, and in what was there before"),
        ),
        "Names come before descriptions before texts, whole words before beginnings before parts; of equal hits "
        "pinned, used and recent ones come first.",
        "a list of memory rows, each with match: field (name, description or body), line, snippet, column, marks "
        "(pairs of characters of the snippet), places (how often the text has it); a hit in an old version has "
        "found_in: that version",
        does="memtui.features.search.tool:search_verb",
        rank=40,
    ),
)

FEATURE = Feature(
    title="Search (letters are text until tab leaves the line)",
    view=View(
        "search",
        "2",
        "Search",
        "Search in names, descriptions and texts.",
        "memtui.features.search.view:SearchView",
        (
            *("search_open", "search_texts", "search_versions", "search_projects", "search_type", "search_all"),
            *("search_next", "search_previous", "copy_line", "copy_path", "copy_contents"),
        ),
        ("search_open", "search_type", "next_pane", "search_next", "preview_down"),
        short="Find",
    ),
    actions=(
        action(
            "search_open", "enter", "open", "Open the memory at the hit; an old version opens in the history.", "search"
        ),
        action(
            "search_texts", "f6  ctrl+r", "texts", "Search in texts too, or in names and descriptions only.", "search"
        ),
        action(
            "search_versions", "f7  ctrl+o", "old", "Search in old versions and deleted memories too, or not.", "search"
        ),
        action("search_projects", "f8  ctrl+l", "projects", "Search in every project, or in this one only.", "search"),
        action("search_type", "/", "words", "Go back to the line of words.", "search"),
        action(
            "search_next", "n", "next place", "Go to the next place in the text beside the list.", "search", moves=True
        ),
        action("search_previous", "N", "previous place", "Go to the place before it.", "search", moves=True),
        action("copy_line", "y l", "line", "Copy the line of the hit; of who wrote what, the lines.", "search"),
    ),
    verbs=_VERBS,
    tools=(
        Tool(
            "memory_search",
            "Search memories",
            "memtui.features.search.tool:offer",
            "memtui.features.search.tool:call",
        ),
    ),
)
