"""The table of every action of the workbench: id, keys, words, and where it works.

Bindings, footer, palette, help, key overrides and `docs/keys.md` are made from it. A feature's own actions come from
its entry. It imports nothing that draws, so that tests, docs and the command line can read it.
"""

from collections.abc import Mapping

from memtui.features.table import entries, views
from memtui.ui.action import Action, View, action

VIEWS = tuple(view for view in views() if view.key)
"""Every view with a tab, in the order of the tabs."""

VIEW: Mapping[str, View] = {view.id: view for view in views()}

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
"""Titles of the rooms of actions, in the order of the help page."""


def _room(room: str, *actions: Action) -> tuple[Action, ...]:
    return tuple(one._replace(room=room) for one in actions)


MAIN: tuple[Action, ...] = (
    *_room(
        "everywhere",
        action("help", "?  f1", "help", "Show the keys of this pane and what its signs mean."),
        action("palette", ":  ctrl+p", "commands", "Find any command by name and run it."),
        action(
            "back",
            "escape",
            "back",
            "Go one step back: close, clear the filter, clear the marks, un-zoom. Never quits.",
        ),
        action("quit", "q", "quit", "Close the view on top, else quit. Drafts are kept."),
        action("quit_now", "ctrl+q", "quit", "Quit at once, from anywhere. Drafts are kept."),
        action("next_pane", "tab", "next pane", "Go to the next pane."),
        action("previous_pane", "shift+tab", "previous pane", "Go to the previous pane."),
        action("themes", "T", "theme", "Choose a theme: each is shown as the cursor reaches it."),
        action("messages", "M", "messages", "Show what memtui has said since it started."),
        action("search_all", "ctrl+f", "search", "Search in every memory: names, descriptions and texts."),
    ),
    *(action(view.action, view.key, view.name, view.help, "views") for view in views() if view.key),
    *_room(
        "list",
        action("down", "j  down", "down", "Move down.", moves=True),
        action("up", "k  up", "up", "Move up.", moves=True),
        action("left", "h  left", "close", "Close the folder, or go to the one it is in.", moves=True),
        action("right", "l  right", "open", "Open the folder, or go into it.", moves=True),
        action("top", "g g  home", "top", "Go to the first row.", moves=True),
        action("bottom", "G  end", "bottom", "Go to the last row.", moves=True),
        action("half_down", "ctrl+d", "half page down", "Move down half a page.", moves=True),
        action("half_up", "ctrl+u", "half page up", "Move up half a page.", moves=True),
        action("page_down", "pagedown", "page down", "Move down a page.", moves=True),
        action("page_up", "pageup", "page up", "Move up a page.", moves=True),
        action(
            "next_folder",
            "}",
            "next folder",
            "Go to the next folder or scope; in a text, to the next blank line.",
            moves=True,
        ),
        action(
            "previous_folder",
            "{",
            "previous folder",
            "Go to the previous folder or scope; in a text, to the blank line before.",
            moves=True,
        ),
        action("expand_all", "t", "open all", "Open or close everything below.", moves=True),
        action("mark", "space", "mark", "Mark this row, or all in this folder, and move down.", footer=3),
        action("range", "v", "range", "Start or end a range: moving marks every row on the way."),
        action("range_down", "shift+down", "mark down", "Mark and move down."),
        action("range_up", "shift+up", "mark up", "Mark and move up."),
        action("mark_all", "*", "mark all", "Mark every row shown; again takes the marks away."),
        action("filter", "/", "filter", "Show only rows that have these words; in a text, find them in it.", footer=2),
        action("sort_name", "s n", "by name", "Sort by name; again reverses."),
        action("sort_uses", "s u", "by uses", "Sort by how often agents used it lately; again reverses."),
        action("sort_age", "s a", "by age", "Sort by last change, newest first; again reverses."),
        action("sort_size", "s s", "by size", "Sort by size, largest first; again reverses."),
        action(
            "sort_edited", "s m", "by agent edit", "Sort by the most recent change by somebody else; again reverses."
        ),
        action("only_unseen", "f a", "changed", "Show only what others changed since you looked; again shows all."),
        action("only_pinned", "f p", "pinned", "Show only pinned memories; again shows all."),
        action("only_conflicts", "f c", "conflicts", "Show only memories with a conflict; again shows all."),
        action(
            "only_old",
            "f o",
            "unused",
            "Show only what no agent used and nobody changed for so many days: x keeps, d t trashes, d a archives; "
            "again shows all.",
        ),
        action("all_projects", "A", "all projects", "Read the memories of every project, or show this one's only."),
    ),
    *_room("view", action("group", "a", "group", "Group by agent, or by scope again.")),
    *_room(
        "list",
        action("instructions", "f i", "instructions", "Put away the files people write for agents, or show them."),
        action("reload", "R", "reload", "Read every folder again."),
    ),
    *_room(
        "memory",
        action("open", "enter", "edit", "Open the memory in the editor; a folder opens or closes.", footer=1),
        action("edit", "e", "edit", "Open the memory in the editor."),
        action("entries", "E", "entries", "List the entries of a file that holds many, and change one alone."),
        action("edit_outside", "f4", "$EDITOR", "Open the memory in $EDITOR, guarded.", writes=True),
        action(
            "remember",
            "m",
            "remember",
            "Write down something to remember: memtui finds type, place and name.",
            writes=True,
        ),
        action("new", "n", "new", "Create a memory here.", writes=True, footer=5),
        action(
            "rename", "r", "rename", "Rename or move; an address of another root moves it there.", writes=True, footer=8
        ),
        action(
            "copy_to",
            "C",
            "copy to",
            "Copy to another folder, root or agent: says what lands where, and in which shape, before anything is "
            "done.",
            writes=True,
        ),
        action("export", "g x", "export", "Export the marked memories into a file, with pins and uses."),
        action("export_history", "g X", "export all", "Export the marked memories into a file, with their history."),
        action(
            "import", "g i", "import", "Import memories from a file: first shows what happens to each.", writes=True
        ),
        action(
            "describe_memory",
            "f9",
            "describe",
            "Show the front matter as a form: name, description, type, tags.",
            writes=True,
        ),
        action(
            "pin",
            "p",
            "pin",
            "Pin or unpin: memtui gives the text to agents at their start, an agent's own to that agent; says so "
            "when it cannot. Asks when several are meant.",
            writes=True,
            footer=4,
        ),
        action(
            "install_hook",
            "g h",
            "hook",
            "Put memtui into the agent of this memory, as memtui install does: its hook gives the agent what is "
            "pinned.",
            writes=True,
        ),
        action(
            "lift_line",
            "g l",
            "lift line",
            "Move the line that names this memory above the cut of its index, so that the agent loads it; u takes "
            "it back.",
            writes=True,
        ),
        action("trash", "d t", "trash", "Move to the trash; u brings it back.", writes=True, footer=6),
        action(
            "archive",
            "d a",
            "archive",
            "Move to memtui's own folder archive/, where no agent is given it; u brings it back.",
            writes=True,
        ),
        action(
            "repoint",
            "g p",
            "re-point",
            "Move the memories of a project that moved to where it is now: shows what would move first.",
            writes=True,
        ),
        action(
            "accept_root",
            "g a",
            "review",
            "Review what came with a checkout: from then on agents are given exactly this version. Of a root or "
            "folder, what waits is shown first.",
            writes=True,
        ),
        action(
            "undo",
            "u",
            "undo",
            "Undo the last operation, whatever it was, also after a restart.",
            writes=True,
            footer=7,
        ),
        action("redo", "U", "redo", "Do again what was undone.", writes=True),
        action("resolve", "c", "resolve", "Resolve the conflict of this memory, or the next one."),
        action("copy_path", "y p", "path", "Copy the path of the file."),
        action("copy_contents", "y c", "contents", "Copy the text."),
        action("copy_description", "y d", "description", "Copy the description."),
        action("copy_sha", "y s", "sha", "Copy the sha-256 of the text."),
    ),
    *_room(
        "view",
        action(
            "changes",
            "w",
            "what changed",
            "Show what changed since you last looked, here or in everything below.",
            footer=9,
        ),
        action(
            "seen", "x", "seen", "Say that you have seen it: takes the sign A away; under f o, keeps it.", writes=True
        ),
        action("versions", "H", "versions", "Show every version there was, compare them, and restore one.", footer=10),
        action("blame", "B", "who wrote", "Show who wrote each line, in which session, and how that is known."),
        action("info", "i", "info", "Show or hide everything known about the memory."),
        action("strip", "f s", "strip", "Show or hide the newest activity below the tree."),
        action("trash_view", "g t", "trash", "Show the trash, and restore from it."),
        action("page_next", "f3  ctrl+g", "next place", "Go to the next place that is looked for in the text."),
        action("page_previous", "shift+f3  f15", "previous place", "Go to the place before it."),
        action("preview_down", "J", "text down", "Scroll the text beside the tree down.", moves=True),
        action("preview_up", "K", "text up", "Scroll the text beside the tree up.", moves=True),
        action("reveal", "V", "reveal", "Show what is masked in the text until the cursor leaves, or mask it."),
        action("zoom", "z", "zoom", "Give this pane the whole screen, or take it back.", footer=11),
    ),
)
"""Actions that work everywhere, in the tree, on a memory, and in the panes beside it."""

TEXTS: tuple[Action, ...] = (
    *_room(
        "editor",
        action("save", "ctrl+s", "save", "Save, guarded: never over somebody else's text.", writes=True, footer=1),
        action("leave", "escape", "back", "Go back to where it was opened; the draft is kept.", footer=2),
        action("editor_outside", "f4", "$EDITOR", "Go on in $EDITOR, guarded.", writes=True, footer=3),
        action("compare", "f8", "compare", "Show both texts when somebody else saved.", footer=4),
        action("text_undo", "ctrl+z", "undo", "Undo typing.", footer=5),
        action("text_redo", "ctrl+y", "redo", "Redo typing."),
        action("find_text", "ctrl+f", "find", "Find in this text; a capital letter makes it exact.", footer=6),
        action("find_next", "f3  ctrl+g", "find next", "Go to the next place that was looked for."),
        action("find_previous", "shift+f3  f15", "find previous", "Go to the place before it."),
        action("editor_rename", "f2", "rename", "Rename or move this memory; the draft goes with it.", writes=True),
        action("describe", "f9", "describe", "Show the front matter as a form: description, type, tags.", writes=True),
    ),
    *_room(
        "entry",
        action("entry_save", "ctrl+s", "save", "Save the entry: no other byte changes.", writes=True, footer=1),
        action("entry_leave", "escape", "leave", "Leave; what is typed needs a second escape to be dropped.", footer=2),
        action("entry_file", "f9", "whole file", "Go on in the whole file, with what is typed as its draft.", footer=3),
        action("entry_undo", "ctrl+z", "undo", "Undo typing.", footer=4),
        action("entry_redo", "ctrl+y", "redo", "Redo typing."),
    ),
    *_room(
        "form",
        action(
            "form_save", "ctrl+s", "save", "Save the fields, guarded: no other byte changes.", writes=True, footer=1
        ),
        action("form_leave", "escape", "leave", "Leave; what is typed needs a second escape to be dropped.", footer=2),
        action("form_next", "tab  down  enter", "next", "Go to the next field.", footer=3),
        action("form_previous", "shift+tab  up", "previous", "Go to the previous field."),
        action("form_type", "f6  ctrl+r", "next type", "Fill in the next type this agent knows.", footer=4),
        action("form_text", "f9", "as text", "Go on in the text, with what is typed in it.", footer=5),
        action("form_down", "pagedown", "down", "Scroll the changes down."),
        action("form_up", "pageup", "up", "Scroll the changes up."),
    ),
)

QUESTIONS: tuple[Action, ...] = (
    *_room(
        "conflict",
        action("take_yours", "y  1", "yours", "Take YOURS for this conflict.", footer=1),
        action("take_agent", "a  2", "agent", "Take AGENT for this conflict.", footer=2),
        action("take_both", "b  3", "both", "Take both, YOURS first.", footer=3),
        action("take_both_agent", "B  4", "both, agent first", "Take both, AGENT first."),
        action("take_base", "o  0", "orig", "Take the original, BASE: neither change.", footer=4),
        action("edit_result", "e", "edit", "Edit the result of this conflict here.", footer=5),
        action("edit_all", "E", "edit all", "Edit the whole result in $EDITOR."),
        action("reopen", "x", "reopen", "Take the decision back, also an automatic one.", footer=8),
        action("next_open", "n", "next", "Go to the next open conflict.", footer=6),
        action("previous_open", "N", "previous open", "Go to the previous open conflict."),
        action(
            "next_hunk", "]", "next hunk", "Go to the next change of any kind; in Review, History and Activity too."
        ),
        action(
            "previous_hunk",
            "[",
            "previous hunk",
            "Go to the previous change of any kind; in Review, History and Activity too.",
        ),
        action("conflict_reveal", "V", "reveal", "Show what is masked until you go on, or mask it."),
        action("conflict_down", "j  down", "down", "Scroll down."),
        action("conflict_up", "k  up", "up", "Scroll up."),
        action("all_yours", "Y !", "all yours", "Take YOURS for every open conflict: `Y` asks, `!` does it."),
        action("all_agent", "A !", "all agent", "Take AGENT for every open conflict: `A` asks, `!` does it."),
        action("undo_decision", "u", "undo", "Undo the last decision.", footer=7),
        action("redo_decision", "U", "redo", "Redo it."),
        action(
            "word_pair",
            "w",
            "words",
            "Compare other words: each with BASE, YOURS with AGENT, BASE with YOURS, BASE with AGENT.",
            footer=9,
        ),
        action("conflict_view", "v", "view", "Change the view: stacked, side by side, the result only.", footer=10),
        action("conflict_zoom", "z", "zoom", "Give this place, or the file, the whole screen, or take it back."),
        action("save_as", "s  S", "save as", "Keep your text as a new memory under another name.", writes=True),
        action("write_result", "ctrl+s", "write", "Write the result, once nothing is open.", writes=True, footer=11),
        action("later", "escape", "later", "Come back later: texts and decisions are kept.", footer=12),
    ),
    *_room(
        "gone",
        action("keep_mine", "k", "keep mine", "Write your text again under its name.", writes=True, footer=1),
        action(
            "accept_deletion",
            "d",
            "let it go",
            "Accept the deletion; your text goes to history.",
            writes=True,
            footer=2,
        ),
        action("keep_as", "s", "save as", "Keep your text under another name.", writes=True, footer=3),
        action("gone_later", "escape", "later", "Come back later: your draft is kept.", footer=4),
    ),
    *_room(
        "deleted",
        action("keep_theirs", "k", "keep theirs", "Leave the memory as they wrote it.", footer=1),
        action(
            "trash_theirs",
            "d",
            "trash it",
            "Move what they wrote to the trash; u brings it back.",
            writes=True,
            footer=2,
        ),
        action("deleted_later", "escape", "leave it", "Leave the memory as they wrote it.", footer=3),
    ),
    *_room(
        "moved",
        action("follow_name", "f", "follow", "Open the memory under its new name, with your draft.", footer=1),
        action("keep_name", "s", "keep old name", "Write your text under the old name too.", writes=True, footer=2),
        action("moved_later", "escape", "later", "Come back later: your draft is kept.", footer=3),
    ),
    *_room(
        "line_ends",
        action("ends_yours", "y  1", "yours", "Write your text with its own line ends.", writes=True, footer=1),
        action("ends_agent", "a  2", "agent", "Take the text on disk with its line ends.", footer=2),
        action("ends_later", "escape", "leave", "Leave both as they are.", footer=3),
    ),
    *_room(
        "unsaved",
        action("try_again", "r", "try again", "Save again.", writes=True, footer=1),
        action("save_elsewhere", "s", "save as", "Save your text under another name or in another root.", footer=2),
        action("copy_draft", "c", "copy", "Copy your text.", footer=3),
        action("unsaved_later", "escape", "later", "Go back to the text; the draft is kept.", footer=4),
    ),
    *_room("picker", action("pick", "enter", "run", "In help: run this line.")),
)
"""Answers to questions: a conflict, a draft whose memory was deleted or renamed, a save that failed."""

ACTIONS: tuple[Action, ...] = (
    *MAIN,
    *(action for each in entries().values() for action in each.actions),
    *TEXTS,
    *QUESTIONS,
)

BY_ID: Mapping[str, Action] = {action.id: action for action in ACTIONS}

BROWSER_ROOMS = ("everywhere", "views", "list", "memory", "view")

CASE_ROOMS = ("gone", "deleted", "moved", "line_ends", "unsaved")
"""The rooms of questions answered with one key."""

TEXT_ROOMS = ("editor", "entry", "form", "conflict", *CASE_ROOMS)
"""Rooms whose own keys come before those of `everywhere`."""

SIGNS: tuple[tuple[str, str], ...] = (
    ("P", "pinned: given to agents at their start; 4 shows what is not given, and why"),
    ("A", "changed by others since you last looked: stay a second with its text shown, open it, or press w or x"),
    ("!", "conflict: your draft and the text on disk both changed; in what an agent loads: its text says more"),
    ("~", "draft: text of yours that is not saved yet"),
    ("W", "withheld: you keep it, or an entry of it, from agents; 9 shows and changes that"),
    ("S", "a secret in its text; 7 takes it out"),
    ("h", "hidden text, or an order to agents; 7 shows it"),
    ("o", "says what is no longer so; 7 shows it"),
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
"""Signs and their meanings: those of a row in display order, then those of titles and texts."""
