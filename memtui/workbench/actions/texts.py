"""The actions where text is typed: the editor, one entry of a memory, the form of the front matter."""

from memtui.ui.action import Action
from memtui.workbench.actions.action import made

ACTIONS: tuple[Action, ...] = (
    # Editor
    made("save", "ctrl+s", "save", "Save, guarded: never over somebody else's text.", "editor", writes=True, footer=1),
    made("leave", "escape", "tree", "Go back to the tree; the draft is kept.", "editor", footer=2),
    made("editor_outside", "f4", "$EDITOR", "Go on in $EDITOR, guarded.", "editor", writes=True, footer=3),
    made("compare", "f8", "compare", "Show both texts when somebody else saved.", "editor", footer=4),
    made("text_undo", "ctrl+z", "undo", "Undo typing.", "editor", footer=5),
    made("text_redo", "ctrl+y", "redo", "Redo typing.", "editor"),
    made("find_text", "ctrl+f", "find", "Find in this text; a capital letter makes it exact.", "editor", footer=6),
    made("find_next", "f3  ctrl+g", "find next", "Go to the next place that was looked for.", "editor"),
    made("find_previous", "shift+f3  f15", "find previous", "Go to the place before it.", "editor"),
    made("editor_rename", "f2", "rename", "Rename or move this memory; the draft goes with it.", "editor", writes=True),
    made(
        "describe", "f9", "describe", "Show the front matter as a form: description, type, tags.", "editor", writes=True
    ),
    # One entry
    made("entry_save", "ctrl+s", "save", "Save the entry: no other byte changes.", "entry", writes=True, footer=1),
    made(
        "entry_leave", "escape", "leave", "Leave; what is typed needs a second escape to be dropped.", "entry", footer=2
    ),
    made(
        "entry_file", "f9", "whole file", "Go on in the whole file, with what is typed as its draft.", "entry", footer=3
    ),
    made("entry_undo", "ctrl+z", "undo", "Undo typing.", "entry", footer=4),
    made("entry_redo", "ctrl+y", "redo", "Redo typing.", "entry"),
    # Front matter form
    made(
        "form_save", "ctrl+s", "save", "Save the fields, guarded: no other byte changes.", "form", writes=True, footer=1
    ),
    made(
        "form_leave", "escape", "leave", "Leave; what is typed needs a second escape to be dropped.", "form", footer=2
    ),
    made("form_next", "tab  down  enter", "next", "Go to the next field.", "form", footer=3),
    made("form_previous", "shift+tab  up", "previous", "Go to the previous field.", "form"),
    made("form_type", "f6  ctrl+r", "next type", "Write the next type that is known for this agent.", "form", footer=4),
    made("form_text", "f9", "as text", "Go on in the text, with what is typed in it.", "form", footer=5),
    made("form_down", "pagedown", "down", "Scroll what changes down.", "form"),
    made("form_up", "pageup", "up", "Scroll what changes up.", "form"),
)
"""Order is the order of help, palette and docs."""
