"""Every action of the workbench, said once: its id, keys, words, and where it works.

Bindings, footer, palette, help, key overrides and `docs/keys.md` are all made from this table, so they cannot disagree.
It imports nothing that draws, so that tests, docs and the command line can read it.
"""

from collections.abc import Iterable, Mapping

from memtui.tui.views.table import VIEWS
from memtui.values import NamedTuple

ROOMS = {
    "everywhere": "Everywhere (in text: only those with ctrl or an f-key)",
    "views": "Views (not where text is typed)",
    "list": "Tree and lists",
    "memory": "On a memory, or on all marked ones",
    "view": "What is shown",
    "inbox": "Changes since you looked",
    "search": "Search (letters are text until tab leaves the line)",
    "hot": "Hot set",
    "cost": "Start cost",
    "past": "History of a memory, and trash",
    "activity": "Activity",
    "health": "Health of indexes",
    "entries": "Entries of a memory that holds many",
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


TEXT, LINE, SCREEN, OUTSIDE = "text", "line", "screen", "outside"
"""What an action opens: a text to type in, one line to type in, a screen, or another program."""


class Action(NamedTuple):
    """One thing a user can do."""

    id: str
    """Stable name: what the key settings refer to."""
    keys: tuple[str, ...]
    """Alternatives. `g g` is two keys one after the other; single characters are written as they are."""
    label: str
    """Two words at most, for the footer."""
    help: str
    """One sentence, for help, palette and docs."""
    room: str
    """A key of `ROOMS`."""
    writes: bool = False
    """Changes something on disk, so it is off with --read-only."""
    footer: int = 0
    """Rank in the footer, 1 first; 0: not shown there."""
    moves: bool = False
    """Only moves about: may run at once even while a paste is being recognised."""
    opens: str = ""
    """Opens something that the keys after it are for: `TEXT`, `LINE`, `SCREEN` or `OUTSIDE`; empty: nothing."""


OPENS = {
    TEXT: ("open", "edit", "search_open", "edit_result", "form_text", "entry_edit", "entry_new", "entry_file"),
    LINE: (
        "filter",
        "new",
        "rename",
        "redact",
        "save_as",
        "keep_as",
        "save_elsewhere",
        *("export", "export_history", "import"),
    ),
    SCREEN: (
        *("help", "palette", "themes", "messages", "search_all", "copy_to", "describe_memory", "resolve", "changes"),
        *("versions", "entries", "trash_view", *(view.action for view in VIEWS)),
    ),
    OUTSIDE: ("edit_outside", "edit_all"),
}
"""Which actions open something, by what they open: the keys after them are for that."""
_KIND = {id_: kind for kind, ids in OPENS.items() for id_ in ids}


def _(id: str, keys: str, label: str, help: str, room: str, **rest: bool | int) -> Action:  # noqa: A002
    return Action(id, tuple(keys.split("  ")), label, help, room, opens=_KIND.get(id, ""), **rest)  # type: ignore[arg-type]


ACTIONS: tuple[Action, ...] = (
    # Everywhere
    _("help", "?  f1", "help", "Show the keys of this pane and what its signs mean.", "everywhere"),
    _("palette", ":  ctrl+p", "commands", "Find any command by name and run it.", "everywhere"),
    _(
        "back",
        "escape",
        "back",
        "Go one step back: close, clear the filter, clear the marks, un-zoom. Never quits.",
        "everywhere",
    ),
    _("quit", "q", "quit", "Close the view on top, else quit. Drafts are kept.", "everywhere"),
    _("quit_now", "ctrl+q", "quit", "Quit at once, from anywhere. Drafts are kept.", "everywhere"),
    _("next_pane", "tab", "next pane", "Go to the next pane.", "everywhere"),
    _("previous_pane", "shift+tab", "previous pane", "Go to the previous pane.", "everywhere"),
    _("themes", "T", "theme", "Choose a theme: each is shown as the cursor reaches it.", "everywhere"),
    _("messages", "M", "messages", "Show what memtui has said since it started.", "everywhere"),
    _("search_all", "ctrl+f", "search", "Search in every memory: names, descriptions and texts.", "everywhere"),
    # Views
    *(_(view.action, view.key, view.name, view.help, "views") for view in VIEWS),
    # Tree and lists
    _("down", "j  down", "down", "Move down.", "list", moves=True),
    _("up", "k  up", "up", "Move up.", "list", moves=True),
    _("left", "h  left", "close", "Close the folder, or go to the one it is in.", "list", moves=True),
    _("right", "l  right", "open", "Open the folder, or go into it.", "list", moves=True),
    _("top", "g g  home", "top", "Go to the first row.", "list", moves=True),
    _("bottom", "G  end", "bottom", "Go to the last row.", "list", moves=True),
    _("half_down", "ctrl+d", "half page down", "Move down half a page.", "list", moves=True),
    _("half_up", "ctrl+u", "half page up", "Move up half a page.", "list", moves=True),
    _("page_down", "pagedown", "page down", "Move down a page.", "list", moves=True),
    _("page_up", "pageup", "page up", "Move up a page.", "list", moves=True),
    _(
        "next_folder",
        "}",
        "next folder",
        "Go to the next folder or scope; in a text, to the next blank line.",
        "list",
        moves=True,
    ),
    _(
        "previous_folder",
        "{",
        "previous folder",
        "Go to the previous folder or scope; in a text, to the blank line before.",
        "list",
        moves=True,
    ),
    _("labels", ";", "jump", "Show a letter at every row in view; that letter goes there.", "list"),
    _("set_bookmark", "b", "bookmark", "Set a bookmark: a letter follows, and keeps this row.", "list"),
    _("go_bookmark", "'", "go to mark", "Go to a bookmark: its letter follows; - and a letter forgets one.", "list"),
    _(
        "jump_back",
        "[",
        "jump back",
        "Go back to where you jumped from: a view, a bookmark, the editor; in Changes, History, Activity: a hunk.",
        "list",
    ),
    _(
        "jump_forward",
        "]",
        "jump forward",
        "Go forward again in the places you jumped from; in Changes, History and Activity: to the next hunk.",
        "list",
    ),
    _("expand_all", "t", "open all", "Open or close everything below.", "list", moves=True),
    _("mark", "space", "mark", "Mark this memory (or all in this folder) and move down.", "list", footer=3),
    _("range", "v", "range", "Start or end a range: moving marks every memory on the way.", "list"),
    _("range_down", "shift+down", "mark down", "Mark and move down.", "list"),
    _("range_up", "shift+up", "mark up", "Mark and move up.", "list"),
    _("mark_all", "*", "mark all", "Mark every memory shown; again takes the marks away.", "list"),
    _(
        "filter",
        "/",
        "filter",
        "Show only memories whose name or description has these words; in a text, find them in it.",
        "list",
        footer=2,
    ),
    _("sort_name", "s n", "by name", "Sort by name; again reverses.", "list"),
    _("sort_uses", "s u", "by uses", "Sort by how often agents used it lately; again reverses.", "list"),
    _("sort_age", "s a", "by age", "Sort by last change, newest first; again reverses.", "list"),
    _("sort_size", "s s", "by size", "Sort by size, largest first; again reverses.", "list"),
    _(
        "sort_edited",
        "s m",
        "by agent edit",
        "Sort by the most recent change by somebody else; again reverses.",
        "list",
    ),
    _("only_unseen", "f a", "changed only", "Show only what others changed since you looked; again shows all.", "list"),
    _("only_pinned", "f p", "pinned only", "Show only pinned memories; again shows all.", "list"),
    _("only_conflicts", "f c", "conflicts only", "Show only memories with a conflict; again shows all.", "list"),
    _("all_projects", "A", "all projects", "Read the memories of every project, or show this one's only.", "list"),
    _("group", "a", "group", "Group by agent, or by scope again.", "view"),
    _("instructions", "f i", "instructions", "Put away the files people write for agents, or show them.", "list"),
    _("reload", "R", "reload", "Read every folder again.", "list"),
    # On a memory
    _("open", "enter", "edit", "Open the memory in the editor; a folder opens or closes.", "memory", footer=1),
    _("edit", "e", "edit", "Open the memory in the editor.", "memory"),
    _("entries", "E", "entries", "List the entries of a file that holds many, and change one alone.", "memory"),
    _("edit_outside", "f4", "$EDITOR", "Open the memory in $EDITOR, guarded.", "memory", writes=True),
    _("new", "n", "new", "Create a memory here.", "memory", writes=True, footer=5),
    _(
        "rename",
        "r",
        "rename",
        "Rename or move; an address of another root moves it there.",
        "memory",
        writes=True,
        footer=8,
    ),
    _(
        "copy_to",
        "C",
        "copy to",
        "Copy to another folder, root or agent: says what lands where, and in which shape, before anything is done.",
        "memory",
        writes=True,
    ),
    _("export", "g x", "export", "Export the marked memories into a file, with pins and uses.", "memory"),
    _("export_history", "g X", "export all", "Export the marked memories into a file, with their history.", "memory"),
    _("import", "g i", "import", "Import memories from a file: says what comes of each first.", "memory", writes=True),
    _(
        "describe_memory",
        "f9",
        "describe",
        "Show the front matter as a form: name, description, type, tags.",
        "memory",
        writes=True,
    ),
    _(
        "pin",
        "p",
        "pin",
        "Pin or unpin: pinned memories are always given to agents; asks when several are meant.",
        "memory",
        writes=True,
        footer=4,
    ),
    _("trash", "d t", "trash", "Move to the trash; u brings it back.", "memory", writes=True, footer=6),
    _(
        "repoint",
        "g p",
        "re-point",
        "Move the memories of a project that moved to where it is now: shows what would move first.",
        "memory",
        writes=True,
    ),
    _(
        "accept_root",
        "g a",
        "accept root",
        "Accept a root that came with a checkout: from then on agents are given its texts.",
        "memory",
        writes=True,
    ),
    _(
        "undo",
        "u",
        "undo",
        "Undo the last operation, whatever it was, also after a restart.",
        "memory",
        writes=True,
        footer=7,
    ),
    _("redo", "U", "redo", "Do again what was undone.", "memory", writes=True),
    _("resolve", "c", "resolve", "Resolve the conflict of this memory.", "memory"),
    _("copy_path", "y p", "path", "Copy the path of the file.", "memory"),
    _("copy_contents", "y c", "contents", "Copy the text.", "memory"),
    _("copy_description", "y d", "description", "Copy the description.", "memory"),
    _("copy_sha", "y s", "sha", "Copy the sha-256 of the text.", "memory"),
    # What is shown
    _(
        "changes",
        "w",
        "what changed",
        "Show what changed since you last looked, here or in everything below.",
        "view",
        footer=9,
    ),
    _("seen", "x", "seen", "Say that you have seen it: takes the sign A away.", "view", writes=True),
    _("versions", "H", "versions", "Show every version there was, compare them, and restore one.", "view", footer=10),
    _("info", "i", "info", "Show or hide everything known about the memory.", "view"),
    _("trash_view", "g t", "trash", "Show the trash, and restore from it.", "view"),
    _("page_next", "f3  ctrl+g", "next place", "Go to the next place that is looked for in the text.", "view"),
    _("page_previous", "shift+f3  f15", "previous place", "Go to the place before it.", "view"),
    _("preview_down", "J", "text down", "Scroll the text beside the tree down.", "view", moves=True),
    _("preview_up", "K", "text up", "Scroll the text beside the tree up.", "view", moves=True),
    _("zoom", "z", "zoom", "Give this pane the whole screen, or take it back.", "view", footer=11),
    # Changes since you looked
    _("seen_all", "X", "all seen", "Say that you have seen all of them; u takes it back.", "inbox", writes=True),
    _(
        "take_back_hunk",
        "d h",
        "undo hunk",
        "Take back this one hunk, if the memory still is as shown; u brings it back.",
        "inbox",
        writes=True,
    ),
    _(
        "take_back",
        "d c",
        "undo change",
        "Take back the whole change, or all marked ones, or all of the group; u brings them back.",
        "inbox",
        writes=True,
    ),
    _("inline_words", "w", "words", "Compare word by word, or line by line.", "inbox"),
    _("show_in_tree", "o", "in tree", "Go to the memory in the tree.", "inbox"),
    # Search
    _("search_open", "enter", "open", "Open the memory at the hit; an old version opens in the history.", "search"),
    _("search_texts", "f6  ctrl+r", "texts", "Search in texts too, or in names and descriptions only.", "search"),
    _("search_versions", "f7  ctrl+o", "old", "Search in old versions and deleted memories too, or not.", "search"),
    _("search_projects", "f8  ctrl+l", "projects", "Search in every project, or in this one only.", "search"),
    _("search_type", "/", "words", "Go back to the line of words.", "search"),
    _("search_next", "n", "next place", "Go to the next place in the text beside the list.", "search", moves=True),
    _("search_previous", "N", "previous place", "Go to the place before it.", "search", moves=True),
    # Hot set
    _("hot_jump", "enter", "in tree", "Go to the memory in the tree; from what is no memory, to the text.", "hot"),
    _("hot_client", "c", "client", "See it with the eyes of the next client of the [access] table.", "hot"),
    _("hot_door", "b", "hook", "As the MCP server gives it, or as a session-start hook, which takes less.", "hot"),
    # Start cost
    _(
        "cost_go",
        "enter",
        "open",
        "Open the agent; go to the memory in the tree; from another file, to its text.",
        "cost",
    ),
    _("cost_agent", "c", "next agent", "Show the next agent.", "cost"),
    _("cost_cut", "n", "cut line", "Go to the place of the text where loading ends.", "cost"),
    # History and trash
    _("restore", "r", "restore", "Put this text back under its name, at once; u takes it back.", "past", writes=True),
    _("read_text", "enter", "text", "Go to the text beside the list; it never restores.", "past"),
    _("compare_with", "c", "against", "Compare with the version before, or with the file as it is now.", "past"),
    _("whole_text", "v", "whole", "Show the whole text, or what changed.", "past"),
    _("next_aside", "n", "set aside", "Go to the next text that was kept aside: draft, refused, late.", "past"),
    _("previous_aside", "N", "set aside before", "Go to the text before that was kept aside.", "past"),
    _(
        "redact",
        "X",
        "redact",
        "Clear the text of an old version for good: asks for a typed word and a reason.",
        "past",
        writes=True,
    ),
    # Activity
    _("step_open", "enter", "go", "Go to the memory (its history when it is gone), or open the row.", "activity"),
    _("step_diff", "w", "diff", "Give the difference of this step the whole screen, or take it back.", "activity"),
    _(
        "undo_step",
        "d s",
        "undo step",
        "Take this step back and nothing else, where its memories still are as it left them; u brings it back.",
        "activity",
        writes=True,
    ),
    _("only_actor", "a", "this writer", "Show only what this writer did; again shows everybody.", "activity"),
    # Health of indexes
    _("health_open", "enter", "to memory", "Go to the memory in the tree, or to the index.", "health"),
    _(
        "fix_finding",
        "d f",
        "fix",
        "Fix this finding, if the index still is as shown; u takes it back.",
        "health",
        writes=True,
    ),
    _(
        "fix_kind",
        "D k",
        "fix kind",
        "Fix all of this kind in this root: `D` says what, `k` does it; u takes it back.",
        "health",
        writes=True,
    ),
    _(
        "fix_root",
        "D r",
        "fix all",
        "Fix all of this root that loses no words: `D` says what, `r` does it; u takes it back.",
        "health",
        writes=True,
    ),
    # Entries
    _("entry_edit", "enter  e", "edit", "Edit this entry: only its bytes change.", "entries"),
    _("entry_new", "n", "new", "Write a new entry behind the last one.", "entries", writes=True),
    _("entry_remove", "d t", "remove", "Take this entry out of the file; u brings it back.", "entries", writes=True),
    # Lists on top
    _("pick", "enter", "choose", "Choose this row.", "picker"),
    # Editor
    _("save", "ctrl+s", "save", "Save, guarded: never over somebody else's text.", "editor", writes=True, footer=1),
    _("leave", "escape", "tree", "Go back to the tree; the draft is kept.", "editor", footer=2),
    _("editor_outside", "f4", "$EDITOR", "Go on in $EDITOR, guarded.", "editor", writes=True, footer=3),
    _("compare", "f8", "compare", "Show both texts when somebody else saved.", "editor", footer=4),
    _("text_undo", "ctrl+z", "undo", "Undo typing.", "editor", footer=5),
    _("text_redo", "ctrl+y", "redo", "Redo typing.", "editor"),
    _("find_text", "ctrl+f", "find", "Find in this text; a capital letter makes it exact.", "editor", footer=6),
    _("find_next", "f3  ctrl+g", "find next", "Go to the next place that was looked for.", "editor"),
    _("find_previous", "shift+f3  f15", "find previous", "Go to the place before it.", "editor"),
    _("editor_rename", "f2", "rename", "Rename or move this memory; the draft goes with it.", "editor", writes=True),
    _("describe", "f9", "describe", "Show the front matter as a form: description, type, tags.", "editor", writes=True),
    # One entry
    _("entry_save", "ctrl+s", "save", "Save the entry: no other byte changes.", "entry", writes=True, footer=1),
    _("entry_leave", "escape", "leave", "Leave; what is typed needs a second escape to be dropped.", "entry", footer=2),
    _("entry_file", "f9", "whole file", "Go on in the whole file, with what is typed as its draft.", "entry", footer=3),
    _("entry_undo", "ctrl+z", "undo", "Undo typing.", "entry", footer=4),
    _("entry_redo", "ctrl+y", "redo", "Redo typing.", "entry"),
    # Front matter form
    _("form_save", "ctrl+s", "save", "Save the fields, guarded: no other byte changes.", "form", writes=True, footer=1),
    _("form_leave", "escape", "leave", "Leave; what is typed needs a second escape to be dropped.", "form", footer=2),
    _("form_next", "tab  down  enter", "next", "Go to the next field.", "form", footer=3),
    _("form_previous", "shift+tab  up", "previous", "Go to the previous field.", "form"),
    _("form_type", "f6  ctrl+r", "next type", "Write the next type that is known for this agent.", "form", footer=4),
    _("form_text", "f9", "as text", "Go on in the text, with what is typed in it.", "form", footer=5),
    _("form_down", "pagedown", "down", "Scroll what changes down.", "form"),
    _("form_up", "pageup", "up", "Scroll what changes up.", "form"),
    # Conflict
    _("take_yours", "y  1", "yours", "Take YOURS for this conflict.", "conflict", footer=1),
    _("take_agent", "a  2", "agent", "Take AGENT for this conflict.", "conflict", footer=2),
    _("take_both", "b  3", "both", "Take both, YOURS first.", "conflict", footer=3),
    _("take_both_agent", "B  4", "both, agent first", "Take both, AGENT first.", "conflict"),
    _("take_base", "o  0", "orig", "Take the original, BASE: neither change.", "conflict", footer=4),
    _("edit_result", "e", "edit", "Edit the result of this conflict here.", "conflict", footer=5),
    _("edit_all", "E", "edit all", "Edit the whole result in $EDITOR.", "conflict"),
    _("reopen", "x", "reopen", "Take the decision back, also an automatic one.", "conflict", footer=8),
    _("next_open", "n", "next", "Go to the next open conflict.", "conflict", footer=6),
    _("previous_open", "N", "previous open", "Go to the previous open conflict.", "conflict"),
    _(
        "next_hunk",
        "]",
        "next change",
        "Go to the next change of any kind; in views too, where the tree has jumps.",
        "conflict",
    ),
    _("previous_hunk", "[", "previous change", "Go to the previous change of any kind.", "conflict"),
    _("conflict_down", "j  down", "down", "Scroll down.", "conflict"),
    _("conflict_up", "k  up", "up", "Scroll up.", "conflict"),
    _("all_yours", "Y !", "all yours", "Take YOURS for every open conflict: `Y` asks, `!` does it.", "conflict"),
    _("all_agent", "A !", "all agent", "Take AGENT for every open conflict: `A` asks, `!` does it.", "conflict"),
    _("undo_decision", "u", "undo", "Undo the last decision.", "conflict", footer=7),
    _("redo_decision", "U", "redo", "Redo it.", "conflict"),
    _(
        "word_pair",
        "w",
        "words",
        "Compare other words: each with BASE, YOURS with AGENT, BASE with YOURS, BASE with AGENT.",
        "conflict",
        footer=9,
    ),
    _("conflict_view", "v", "view", "Change the view: stacked, side by side, the result only.", "conflict", footer=10),
    _("conflict_zoom", "z", "zoom", "Give this place, or the file, the whole screen, or take it back.", "conflict"),
    _("save_as", "s  S", "save as", "Keep your text as a new memory under another name.", "conflict", writes=True),
    _("write_result", "ctrl+s", "write", "Write the result, once nothing is open.", "conflict", writes=True, footer=11),
    _("later", "escape", "later", "Come back later: texts and decisions are kept.", "conflict", footer=12),
    # Deleted by somebody else
    _("keep_mine", "k", "keep mine", "Write your text again under its name.", "gone", writes=True, footer=1),
    _(
        "accept_deletion",
        "d",
        "let it go",
        "Accept the deletion; your text goes to history.",
        "gone",
        writes=True,
        footer=2,
    ),
    _("keep_as", "s", "save as", "Keep your text under another name.", "gone", writes=True, footer=3),
    _("gone_later", "escape", "later", "Come back later: your draft is kept.", "gone", footer=4),
    # Deleted by you, changed by somebody else
    _("keep_theirs", "k", "keep theirs", "Leave the memory as they wrote it.", "deleted", footer=1),
    _(
        "trash_theirs",
        "d",
        "trash it",
        "Move what they wrote to the trash; u brings it back.",
        "deleted",
        writes=True,
        footer=2,
    ),
    _("deleted_later", "escape", "leave it", "Leave the memory as they wrote it.", "deleted", footer=3),
    # Renamed by somebody else
    _("follow_name", "f", "follow", "Follow the memory to its new name; your draft comes along.", "moved", footer=1),
    _(
        "keep_name",
        "s",
        "keep old name",
        "Write your text under the old name too.",
        "moved",
        writes=True,
        footer=2,
    ),
    _("moved_later", "escape", "later", "Come back later: your draft is kept.", "moved", footer=3),
    # Only line ends differ
    _(
        "ends_yours",
        "y  1",
        "yours",
        "Write your text with its own line ends.",
        "line_ends",
        writes=True,
        footer=1,
    ),
    _("ends_agent", "a  2", "agent", "Take the text on disk with its line ends.", "line_ends", footer=2),
    _("ends_later", "escape", "leave", "Leave both as they are.", "line_ends", footer=3),
    # A save that failed
    _("try_again", "r", "try again", "Save again.", "unsaved", writes=True, footer=1),
    _("save_elsewhere", "s", "save as", "Save your text under another name or in another root.", "unsaved", footer=2),
    _("copy_draft", "c", "copy", "Copy your text.", "unsaved", footer=3),
    _("unsaved_later", "escape", "later", "Go back to the text; the draft is kept.", "unsaved", footer=4),
)
"""Everything a user can do. Order is the order of help, palette and docs."""

BY_ID: Mapping[str, Action] = {action.id: action for action in ACTIONS}
"""Every action by its id."""

BROWSER_ROOMS = ("everywhere", "views", "list", "memory", "view")
"""The rooms whose keys work on the main screen."""

CASE_ROOMS = ("gone", "deleted", "moved", "line_ends", "unsaved")
"""The rooms of questions that are answered with one key."""

COUNTS = "counts"
"""The value of the setting `digits` with which digits are counts and views are opened with `g` first."""

TEXT_ROOMS = ("editor", "entry", "form", "conflict", *CASE_ROOMS)
"""Rooms whose own keys come before those of `everywhere`."""

SIGNS: tuple[tuple[str, str], ...] = (
    ("P", "pinned: always given to agents"),
    (
        "A",
        "changed by others since you last looked: stay a second with its text shown, open it, or press w or x",
    ),
    ("!", "conflict: your draft and the text on disk both changed"),
    ("~", "draft: text of yours that is not saved yet"),
    ("I", "an index with findings: memories it does not name, or names although they are not there; 7 fixes them"),
    ("C", "below the cut: the agent does not load the line that names it, because its index is too long"),
    ("R", "a proposal waits for your review"),
    ("D", "on a folder: deleted by others since you last looked; w there, or 3, shows and restores them"),
    ("*", "marked; keys such as p and d t work on all marked ones"),
    (">", "the cursor"),
)
"""The signs of a row and what they mean, in the order in which they are shown."""


def in_room(*rooms: str, actions: Iterable[Action] = ACTIONS) -> tuple[Action, ...]:
    """Return the actions of these rooms, in table order."""
    return tuple(action for action in actions if action.room in rooms)


def keymap_of(actions: Iterable[Action]) -> dict[str, Action]:
    """Return key or sequence to action; earlier actions win."""
    found: dict[str, Action] = {}
    for action in actions:
        for key in action.keys:
            found.setdefault(key, action)
    return found


def keymap(rooms: Iterable[str], actions: Iterable[Action] = ACTIONS) -> dict[str, Action]:
    """Return key or sequence (`g g`) to action for these rooms; earlier rooms win, then earlier actions."""
    actions = tuple(actions)
    found: dict[str, Action] = {}
    for room in rooms:
        for action in in_room(room, actions=actions):
            for key in action.keys:
                found.setdefault(key, action)
    return found


_SHOWN = {
    "escape": "esc",
    "pagedown": "page down",
    "pageup": "page up",
    "question_mark": "?",
    "colon": ":",
    "slash": "/",
}


def beside_text(action: Action) -> Action:
    """Leave only the keys that work where text is typed, where a letter is a letter."""
    return action._replace(keys=tuple(key for key in action.keys if len(key) > 1 and " " not in key))


def shown_key(key: str) -> str:
    """Write a key as people do: `esc`, `page down`, `g g`."""
    return _SHOWN.get(key, key)


def shown_keys(action: Action) -> str:
    """Write all keys of an action as people do."""
    return ", ".join(shown_key(key) for key in action.keys)
