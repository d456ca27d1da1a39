"""Every view of the workbench, said once: its digit, its tab, its screen, and the actions that work in it.

A view joins the workbench with one entry here: key, tab line, palette, help, `docs/keys.md` and the check for clashing
keys all read this table. It imports nothing that draws.
"""

from collections.abc import Mapping
from typing import NamedTuple

MOVES = ("down", "up", "top", "bottom", "half_down", "half_up", "page_down", "page_up")
"""Actions that move in a list or a text."""

PANES = ("next_pane", "previous_pane", "preview_down", "preview_up")
"""Actions of every list with a text beside it."""

COMMON = (*("help", "palette", "back", "quit", "quit_now", "messages", "undo", "redo", "search_all", "zoom", "themes"),)
"""Actions that work in every view; their keys come after the view's own."""


class View(NamedTuple):
    """One view."""

    id: str
    """Its action is `view_<id>`."""
    key: str
    """Its digit."""
    name: str
    """Its tab."""
    help: str
    """One sentence, for help, palette and docs."""
    screen: str = ""
    """Module and class of its screen (`memtui.workbench.views.changes:ChangesScreen`), loaded when first opened; empty
    for the main screen."""
    actions: tuple[str, ...] = ()
    """Ids of the actions that work in it beside `COMMON` and the digits, in the order of its help page."""
    footer: tuple[str, ...] = ()
    """Ids of those of them that the footer shows, the most important first."""
    short: str = ""
    """What says best what it is where its name does not fit; empty: the first word of the name."""

    @property
    def action(self) -> str:
        """The id of the action that opens it."""
        return f"view_{self.id}"


VIEWS: tuple[View, ...] = (
    View("memories", "1", "Memories", "Show the tree of all memories."),
    View(
        "search",
        "2",
        "Search",
        "Search in names, descriptions and texts.",
        "memtui.workbench.views.search:SearchScreen",
        (
            *("search_open", "search_texts", "search_versions", "search_projects", "search_type", "search_all"),
            *("search_next", "search_previous", *PANES, *MOVES),
        ),
        ("search_open", "search_type", "next_pane", "search_next", "preview_down"),
    ),
    View(
        "changes",
        "3",
        "Changes",
        "Show everything others changed since you looked, by who and when.",
        "memtui.workbench.views.changes:ChangesScreen",
        (
            *("seen", "seen_all", "take_back_hunk", "take_back", "open", "edit", "edit_outside", "versions"),
            *("next_hunk", "previous_hunk", "inline_words", "show_in_tree", "mark", "range", "range_down", "range_up"),
            *("mark_all", "filter", "left", "right", "expand_all", "next_folder", "previous_folder", "reload"),
            *(*PANES, *MOVES),
        ),
        ("seen", "open", "take_back_hunk", "take_back", "next_hunk", "mark", "seen_all", "versions", "filter"),
    ),
    View(
        "hot",
        "4",
        "Hot set",
        "Show what an agent would be given now, and what just fails to fit.",
        "memtui.workbench.views.hot:HotScreen",
        (
            *("pin", "hot_jump", "edit", "hot_client", "hot_door", "accept_root", "copy_contents", "reload", "zoom"),
            *("versions", "describe_memory", *PANES, *MOVES),
        ),
        ("pin", "hot_jump", "edit", "hot_client", "hot_door", "accept_root", "zoom"),
    ),
    View(
        "activity",
        "5",
        "Activity",
        "Show everything that was done, by anybody, and take one step back.",
        "memtui.workbench.views.activity:ActivityScreen",
        (
            *("step_open", "step_diff", "undo_step", "only_actor", "filter", "versions", "show_in_tree", "left"),
            *("right", "next_hunk", "previous_hunk", *PANES, *MOVES),
        ),
        ("step_open", "step_diff", "undo_step", "only_actor", "filter", "versions", "next_hunk"),
    ),
    View(
        "trash",
        "6",
        "Trash",
        "Show what was deleted, and restore it.",
        "memtui.workbench.views.trash:TrashScreen",
        (
            *("restore", "read_text", "mark", "range", "range_down", "range_up", "mark_all", "filter", "versions"),
            *("copy_contents", "copy_sha", *PANES, *MOVES),
        ),
        ("restore", "read_text", "mark", "filter", "versions", "mark_all"),
    ),
    View(
        "health",
        "7",
        "Health",
        "Show what is wrong with the indexes agents load, and fix it.",
        "memtui.workbench.views.health:HealthScreen",
        (
            *("health_open", "fix_finding", "fix_kind", "fix_root", "edit", "filter", "next_folder", "previous_folder"),
            *("repoint", "reload", *PANES, *MOVES),
        ),
        ("fix_finding", "fix_root", "repoint", "health_open", "fix_kind", "edit", "filter"),
    ),
    View(
        "cost",
        "8",
        "Start cost",
        "Show what each agent loads when a session starts, with bytes and tokens.",
        "memtui.workbench.views.cost:CostScreen",
        (
            *("cost_go", "cost_agent", "cost_cut", "left", "right", "edit", "versions", "copy_path", "copy_contents"),
            *("reload", *PANES, *MOVES),
        ),
        ("cost_go", "cost_agent", "cost_cut", "edit", "copy_path"),
        "Cost",
    ),
)
"""Every view, in the order of the tabs."""

OVER: tuple[View, ...] = (
    View(
        "history",
        "",
        "History",
        "Show every version of one memory.",
        "memtui.workbench.views.history:HistoryScreen",
        (
            *("restore", "read_text", "compare_with", "mark", "whole_text", "inline_words", "next_hunk"),
            *("previous_hunk", "next_aside", "previous_aside", "redact", "copy_contents", "copy_sha", "edit"),
            *("show_in_tree", *PANES, *MOVES),
        ),
        ("restore", "compare_with", "mark", "whole_text", "next_aside", "next_hunk", "redact", "copy_contents"),
    ),
    View(
        "entries",
        "",
        "Entries",
        "Show the entries of one memory that holds many.",
        "memtui.workbench.views.entries:EntriesScreen",
        (
            *("entry_edit", "entry_new", "entry_remove", "filter", "edit_outside", "versions", "show_in_tree"),
            *("copy_contents", "copy_sha", *PANES, *MOVES),
        ),
        ("entry_edit", "entry_new", "entry_remove", "filter", "edit_outside", "versions", "copy_contents"),
    ),
)
"""Views that lie over the one they were opened from, and have no tab."""

VIEW: Mapping[str, View] = {view.id: view for view in (*VIEWS, *OVER)}
"""Every view by its id."""
