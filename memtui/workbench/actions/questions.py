"""The actions that answer a question: a conflict, a draft whose memory went or was renamed, a save that failed."""

from memtui.ui.action import Action, action

ACTIONS: tuple[Action, ...] = (
    # Conflict
    action("take_yours", "y  1", "yours", "Take YOURS for this conflict.", "conflict", footer=1),
    action("take_agent", "a  2", "agent", "Take AGENT for this conflict.", "conflict", footer=2),
    action("take_both", "b  3", "both", "Take both, YOURS first.", "conflict", footer=3),
    action("take_both_agent", "B  4", "both, agent first", "Take both, AGENT first.", "conflict"),
    action("take_base", "o  0", "orig", "Take the original, BASE: neither change.", "conflict", footer=4),
    action("edit_result", "e", "edit", "Edit the result of this conflict here.", "conflict", footer=5),
    action("edit_all", "E", "edit all", "Edit the whole result in $EDITOR.", "conflict"),
    action("reopen", "x", "reopen", "Take the decision back, also an automatic one.", "conflict", footer=8),
    action("next_open", "n", "next", "Go to the next open conflict.", "conflict", footer=6),
    action("previous_open", "N", "previous open", "Go to the previous open conflict.", "conflict"),
    action(
        "next_hunk",
        "]",
        "next change",
        "Go to the next change of any kind; in Changes, History and Activity too.",
        "conflict",
    ),
    action(
        "previous_hunk",
        "[",
        "previous change",
        "Go to the previous change of any kind; in Changes, History and Activity too.",
        "conflict",
    ),
    action("conflict_down", "j  down", "down", "Scroll down.", "conflict"),
    action("conflict_up", "k  up", "up", "Scroll up.", "conflict"),
    action("all_yours", "Y !", "all yours", "Take YOURS for every open conflict: `Y` asks, `!` does it.", "conflict"),
    action("all_agent", "A !", "all agent", "Take AGENT for every open conflict: `A` asks, `!` does it.", "conflict"),
    action("undo_decision", "u", "undo", "Undo the last decision.", "conflict", footer=7),
    action("redo_decision", "U", "redo", "Redo it.", "conflict"),
    action(
        "word_pair",
        "w",
        "words",
        "Compare other words: each with BASE, YOURS with AGENT, BASE with YOURS, BASE with AGENT.",
        "conflict",
        footer=9,
    ),
    action(
        "conflict_view", "v", "view", "Change the view: stacked, side by side, the result only.", "conflict", footer=10
    ),
    action(
        "conflict_zoom", "z", "zoom", "Give this place, or the file, the whole screen, or take it back.", "conflict"
    ),
    action("save_as", "s  S", "save as", "Keep your text as a new memory under another name.", "conflict", writes=True),
    action(
        "write_result", "ctrl+s", "write", "Write the result, once nothing is open.", "conflict", writes=True, footer=11
    ),
    action("later", "escape", "later", "Come back later: texts and decisions are kept.", "conflict", footer=12),
    # Deleted by somebody else
    action("keep_mine", "k", "keep mine", "Write your text again under its name.", "gone", writes=True, footer=1),
    action(
        "accept_deletion",
        "d",
        "let it go",
        "Accept the deletion; your text goes to history.",
        "gone",
        writes=True,
        footer=2,
    ),
    action("keep_as", "s", "save as", "Keep your text under another name.", "gone", writes=True, footer=3),
    action("gone_later", "escape", "later", "Come back later: your draft is kept.", "gone", footer=4),
    # Deleted by you, changed by somebody else
    action("keep_theirs", "k", "keep theirs", "Leave the memory as they wrote it.", "deleted", footer=1),
    action(
        "trash_theirs",
        "d",
        "trash it",
        "Move what they wrote to the trash; u brings it back.",
        "deleted",
        writes=True,
        footer=2,
    ),
    action("deleted_later", "escape", "leave it", "Leave the memory as they wrote it.", "deleted", footer=3),
    # Renamed by somebody else
    action(
        "follow_name", "f", "follow", "Follow the memory to its new name; your draft comes along.", "moved", footer=1
    ),
    action(
        "keep_name",
        "s",
        "keep old name",
        "Write your text under the old name too.",
        "moved",
        writes=True,
        footer=2,
    ),
    action("moved_later", "escape", "later", "Come back later: your draft is kept.", "moved", footer=3),
    # Only line ends differ
    action(
        "ends_yours",
        "y  1",
        "yours",
        "Write your text with its own line ends.",
        "line_ends",
        writes=True,
        footer=1,
    ),
    action("ends_agent", "a  2", "agent", "Take the text on disk with its line ends.", "line_ends", footer=2),
    action("ends_later", "escape", "leave", "Leave both as they are.", "line_ends", footer=3),
    # A save that failed
    action("try_again", "r", "try again", "Save again.", "unsaved", writes=True, footer=1),
    action(
        "save_elsewhere", "s", "save as", "Save your text under another name or in another root.", "unsaved", footer=2
    ),
    action("copy_draft", "c", "copy", "Copy your text.", "unsaved", footer=3),
    action("unsaved_later", "escape", "later", "Go back to the text; the draft is kept.", "unsaved", footer=4),
    # Lists on top
    action("pick", "enter", "choose", "Choose this row.", "picker"),
)
"""Order is the order of help, palette and docs."""
