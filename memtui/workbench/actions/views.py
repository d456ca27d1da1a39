"""The actions of the other views, and of lists that lie on top."""

from memtui.ui.action import Action
from memtui.workbench.actions.action import made

ACTIONS: tuple[Action, ...] = (
    # Changes since you looked
    made("seen_all", "X", "all seen", "Say that you have seen all of them; u takes it back.", "inbox", writes=True),
    made(
        "take_back_hunk",
        "d h",
        "undo hunk",
        "Take back this one hunk, if the memory still is as shown; u brings it back.",
        "inbox",
        writes=True,
    ),
    made(
        "take_back",
        "d c",
        "undo change",
        "Take back the whole change, or all marked ones, or all of the group; u brings them back.",
        "inbox",
        writes=True,
    ),
    made("inline_words", "w", "words", "Compare word by word, or line by line.", "inbox"),
    made("show_in_tree", "o", "in tree", "Go to the memory in the tree.", "inbox"),
    # Search
    made("search_open", "enter", "open", "Open the memory at the hit; an old version opens in the history.", "search"),
    made("search_texts", "f6  ctrl+r", "texts", "Search in texts too, or in names and descriptions only.", "search"),
    made("search_versions", "f7  ctrl+o", "old", "Search in old versions and deleted memories too, or not.", "search"),
    made("search_projects", "f8  ctrl+l", "projects", "Search in every project, or in this one only.", "search"),
    made("search_type", "/", "words", "Go back to the line of words.", "search"),
    made("search_next", "n", "next place", "Go to the next place in the text beside the list.", "search", moves=True),
    made("search_previous", "N", "previous place", "Go to the place before it.", "search", moves=True),
    # Hot set
    made("hot_jump", "enter", "in tree", "Go to the memory in the tree; from what is no memory, to the text.", "hot"),
    made("hot_client", "c", "client", "See it with the eyes of the next client of the [access] table.", "hot"),
    made("hot_door", "b", "MCP/hook", "As the MCP server gives it, or as a start-up hook, which takes less.", "hot"),
    # Start cost
    made(
        "cost_go",
        "enter",
        "open",
        "Open the agent; go to the memory in the tree; from another file, to its text.",
        "cost",
    ),
    made("cost_agent", "c", "next agent", "Show the next agent.", "cost"),
    made("cost_cut", "n", "cut line", "Go to the place of the text where loading ends.", "cost"),
    # History and trash
    made(
        "restore", "r", "restore", "Put this text back under its name, at once; u takes it back.", "past", writes=True
    ),
    made("read_text", "enter", "text", "Go to the text beside the list; it never restores.", "past"),
    made("compare_with", "c", "against", "Compare with the version before, or with the file as it is now.", "past"),
    made("whole_text", "v", "whole", "Show the whole text, or what changed.", "past"),
    made("next_aside", "n", "set aside", "Go to the next text that was kept aside: draft, refused, late.", "past"),
    made("previous_aside", "N", "set aside before", "Go to the text before that was kept aside.", "past"),
    made(
        "redact",
        "X",
        "redact",
        "Clear the text of an old version for good: asks for a typed word and a reason.",
        "past",
        writes=True,
    ),
    # Activity
    made("step_open", "enter", "go", "Go to the memory (its history when it is gone), or open the row.", "activity"),
    made("step_diff", "w", "diff", "Give the difference of this step the whole screen, or take it back.", "activity"),
    made(
        "undo_step",
        "d s",
        "undo step",
        "Take this step back and nothing else, where its memories still are as it left them; u brings it back.",
        "activity",
        writes=True,
    ),
    made("only_actor", "a", "this writer", "Show only what this writer did; again shows everybody.", "activity"),
    # Health of indexes
    made("health_open", "enter", "to memory", "Go to the memory in the tree, or to the index.", "health"),
    made(
        "fix_finding",
        "d f",
        "fix",
        "Fix this finding, if the index still is as shown; u takes it back.",
        "health",
        writes=True,
    ),
    made(
        "fix_kind",
        "D k",
        "fix kind",
        "Fix all of this kind in this root: `D` says what, `k` does it; u takes it back.",
        "health",
        writes=True,
    ),
    made(
        "fix_root",
        "D r",
        "fix all",
        "Fix all of this root that loses no words: `D` says what, `r` does it; u takes it back.",
        "health",
        writes=True,
    ),
    # Entries
    made("entry_edit", "enter  e", "edit", "Edit this entry: only its bytes change.", "entries"),
    made("entry_new", "n", "new", "Write a new entry behind the last one.", "entries", writes=True),
    made("entry_remove", "d t", "remove", "Take this entry out of the file; u brings it back.", "entries", writes=True),
    # Lists on top
    made("pick", "enter", "choose", "Choose this row.", "picker"),
)
"""Order is the order of help, palette and docs."""
