"""The actions where text is typed: the editor, one entry of a memory, the form of the front matter."""

from memtui.ui.action import Action, action

ACTIONS: tuple[Action, ...] = (
    # Editor
    action(
        "save", "ctrl+s", "save", "Save, guarded: never over somebody else's text.", "editor", writes=True, footer=1
    ),
    action("leave", "escape", "tree", "Go back to the tree; the draft is kept.", "editor", footer=2),
    action("editor_outside", "f4", "$EDITOR", "Go on in $EDITOR, guarded.", "editor", writes=True, footer=3),
    action("compare", "f8", "compare", "Show both texts when somebody else saved.", "editor", footer=4),
    action("text_undo", "ctrl+z", "undo", "Undo typing.", "editor", footer=5),
    action("text_redo", "ctrl+y", "redo", "Redo typing.", "editor"),
    action("find_text", "ctrl+f", "find", "Find in this text; a capital letter makes it exact.", "editor", footer=6),
    action("find_next", "f3  ctrl+g", "find next", "Go to the next place that was looked for.", "editor"),
    action("find_previous", "shift+f3  f15", "find previous", "Go to the place before it.", "editor"),
    action(
        "editor_rename", "f2", "rename", "Rename or move this memory; the draft goes with it.", "editor", writes=True
    ),
    action(
        "describe", "f9", "describe", "Show the front matter as a form: description, type, tags.", "editor", writes=True
    ),
    # One entry
    action("entry_save", "ctrl+s", "save", "Save the entry: no other byte changes.", "entry", writes=True, footer=1),
    action(
        "entry_leave", "escape", "leave", "Leave; what is typed needs a second escape to be dropped.", "entry", footer=2
    ),
    action(
        "entry_file", "f9", "whole file", "Go on in the whole file, with what is typed as its draft.", "entry", footer=3
    ),
    action("entry_undo", "ctrl+z", "undo", "Undo typing.", "entry", footer=4),
    action("entry_redo", "ctrl+y", "redo", "Redo typing.", "entry"),
    # Front matter form
    action(
        "form_save", "ctrl+s", "save", "Save the fields, guarded: no other byte changes.", "form", writes=True, footer=1
    ),
    action(
        "form_leave", "escape", "leave", "Leave; what is typed needs a second escape to be dropped.", "form", footer=2
    ),
    action("form_next", "tab  down  enter", "next", "Go to the next field.", "form", footer=3),
    action("form_previous", "shift+tab  up", "previous", "Go to the previous field.", "form"),
    action(
        "form_type", "f6  ctrl+r", "next type", "Write the next type that is known for this agent.", "form", footer=4
    ),
    action("form_text", "f9", "as text", "Go on in the text, with what is typed in it.", "form", footer=5),
    action("form_down", "pagedown", "down", "Scroll what changes down.", "form"),
    action("form_up", "pageup", "up", "Scroll what changes up.", "form"),
)
"""Order is the order of help, palette and docs."""
