"""Every action of the workbench, said once: its id, keys, words, and where it works.

Bindings, footer, palette, help, key overrides and `docs/keys.md` are all made from this table, so they cannot disagree.
What belongs to one feature comes from its entry, the rest is beside this page, one part for each kind of place. It
imports nothing that draws, so that tests, docs and the command line can read it.
"""

from collections.abc import Mapping

from memtui.features.table import entries, views
from memtui.ui.action import Action, View
from memtui.workbench.actions import questions, texts, tree

VIEWS = tuple(view for view in views() if view.key)
"""Every view that has a tab, in the order of the tabs."""

VIEW: Mapping[str, View] = {view.id: view for view in views()}
"""Every view by its id."""

ROOMS = {
    "everywhere": "Everywhere (in text: only those with ctrl or an f-key)",
    "views": "Views (not where text is typed)",
    "list": "Tree and lists",
    "memory": "On a memory, or on all marked ones",
    "view": "What is shown",
    **{feature: each.title for feature, each in entries().items() if each.title},
    "picker": "Lists on top: help, messages",
    "editor": "Editor",
    "entry": "One entry of a memory (letters are text)",
    "form": "Front matter form (letters are text)",
    "conflict": "Conflict",
    "gone": "Your draft of a memory that somebody else deleted",
    "deleted": "A memory you deleted while somebody else changed it",
    "moved": "Your draft of a memory that somebody else renamed",
    "line_ends": "Your draft of a memory in which somebody else changed only line ends",
    "unsaved": "A save that failed",
}
"""Where an action works, in the order of the help page."""

ACTIONS: tuple[Action, ...] = (
    *tree.ACTIONS,
    *(action for each in entries().values() for action in each.actions),
    *texts.ACTIONS,
    *questions.ACTIONS,
)
"""Everything a user can do. Order is the order of help, palette and docs."""

BY_ID: Mapping[str, Action] = {action.id: action for action in ACTIONS}
"""Every action by its id."""

BROWSER_ROOMS = ("everywhere", "views", "list", "memory", "view")
"""The rooms whose keys work on the main screen."""

CASE_ROOMS = ("gone", "deleted", "moved", "line_ends", "unsaved")
"""The rooms of questions that are answered with one key."""

TEXT_ROOMS = ("editor", "entry", "form", "conflict", *CASE_ROOMS)
"""Rooms whose own keys come before those of `everywhere`."""

SIGNS: tuple[tuple[str, str], ...] = (
    ("P", "pinned; agents get those in memtui's own folders"),
    (
        "A",
        "changed by others since you last looked: stay a second with its text shown, open it, or press w or x",
    ),
    ("!", "conflict: your draft and the text on disk both changed; in what an agent loads: its text says more"),
    ("~", "draft: text of yours that is not saved yet"),
    ("I", "an index with findings: memories it does not name, or names although they are not there; 7 fixes them"),
    ("C", "below the cut: the agent does not load the line that names it, because its index is too long"),
    ("D", "on a folder: deleted by others since you last looked; w there, or 3, shows and restores them"),
    ("*", "marked; keys such as p and d t work on all marked ones"),
    (">", "the cursor; before a title: its pane has the keys; > and who moved it: the memory has another name now"),
    ("x17", "agents used it 17 times"),
    ("~A", "in the editor: your draft and the text on disk both changed, in different places; ctrl+s merges them"),
    ("!d", "in the editor: somebody else deleted the memory; your text is kept, and f8 asks what becomes of it"),
    ("raw", "in the editor: read-only here, for the reason behind it; f4 opens your own editor"),
    ("?", "beside a text: a fault, or a root that waits for your review; beside a finding: a fix for this one alone"),
    ("f", "beside a finding: d f fixes it"),
    ("--", "in the hot set: not given, for the reason at the end of the row"),
    ("x", "in what an agent loads: this line is not loaded"),
    ("-", "a line that went; in what an agent loads: a line it leaves out"),
    ("+", "a line that came"),
    ("???", "in a conflict: a place that is not decided yet"),
)
"""The signs and what they mean: those of a row in the order in which they are shown, then those of titles and texts."""
