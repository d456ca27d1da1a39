"""The entry in the table of features: what others changed since you looked."""

from memtui.features.feature import Feature
from memtui.ui.action import View, action
from memtui.wire.params import ADDRESSES, AGENT, SCOPE
from memtui.wire.verb import Param, Verb

_VERBS = (
    Verb(
        "changes",
        "follow",
        "List what others changed since you looked",
        (SCOPE, AGENT),
        (("memtui changes", "newest first, also what happened while memtui was closed"),),
        "",
        "a list of changes: address, kind (created, modified, deleted, renamed), actor, before, after, at, "
        "old_address, writers (everybody who wrote since then, the first one first; actor is the last)",
        does="memtui.features.changes.verbs:changes",
        rank=10,
    ),
    Verb(
        "seen",
        "follow",
        "Mark changed memories as seen",
        (ADDRESSES._replace(required=False), Param("--all", "everything", "flag")),
        (("memtui seen memtui:project/decisions.md", "one"), ("memtui seen --all", "everything")),
        "Only a person does this: it asks at the terminal for a typed yes.",
        "one object: seen, the number of memories whose mark changed",
        does="memtui.features.changes.verbs:seen",
        rank=20,
    ),
    Verb(
        "watch",
        "follow",
        "Print each batch of changes as it happens, until interrupted",
        (Param("--count", "stop after so many batches with changes", "number", "N"),),
        (
            ("memtui watch", "readable lines in a terminal, JSON lines when piped"),
            ("memtui watch --json | jq -r '.changes[].address'", "one JSON object a line"),
        ),
        "First comes what changed while nobody watched, if anything, then a line with `health`: from there on nothing "
        "is missed. Each line is written out at once.",
        "one object a line: changes, touched, roots, notices, health",
        does="memtui.features.changes.verbs:watch",
        rank=40,
    ),
)

FEATURE = Feature(
    title="Review",
    view=View(
        "changes",
        "3",
        "Review",
        "Show what waits for you: what is proposed, and what others changed since you looked.",
        "memtui.features.changes.view:ChangesView",
        (
            *("accept", "reject", "put_off", "carry_out", "next_undecided", "previous_undecided", "seen", "seen_all"),
            *("take_back_hunk", "take_back", "open", "edit", "edit_outside", "versions", "blame", "next_hunk"),
            *("previous_hunk", "inline_words", "show_in_tree", "resolve", "mark", "range", "range_down", "range_up"),
            *("mark_all", "filter", "left", "right", "expand_all", "next_folder", "previous_folder", "reload"),
        ),
        (
            *("accept", "reject", "put_off", "next_undecided", "next_hunk", "carry_out", "seen", "open"),
            *("take_back_hunk", "take_back", "previous_undecided", "mark", "seen_all", "versions", "filter"),
        ),
        short="Rev",
    ),
    actions=(
        action(
            "accept",
            "a",
            "accept",
            "Accept the proposal, in the text its hunk; leave a change as it is. Again: take that away.",
            "changes",
            writes=True,
        ),
        action(
            "reject",
            "r",
            "reject",
            "Reject the proposal, in the text its hunk; have a change taken back. Again: take that away.",
            "changes",
            writes=True,
        ),
        action("put_off", "s", "later", "Put the proposal off, or open it again.", "changes", writes=True),
        action(
            "carry_out",
            "ctrl+s",
            "apply",
            "Carry out all that is decided, once you agree to the counts; u takes it back in one step.",
            "changes",
            writes=True,
        ),
        action("next_undecided", "n", "next row", "Go to the next row that waits for a decision.", "changes"),
        action("previous_undecided", "N", "row before", "Go to the one before that waits for a decision.", "changes"),
        action(
            "seen_all", "X", "all seen", "Say that you have seen all of them; u takes it back.", "changes", writes=True
        ),
        action(
            "take_back_hunk",
            "d h",
            "undo hunk",
            "Take back this one hunk, if the memory still is as shown; u brings it back.",
            "changes",
            writes=True,
        ),
        action(
            "take_back",
            "d c",
            "undo change",
            "Take back the whole change, or all marked ones, or all of the group; u brings them back.",
            "changes",
            writes=True,
        ),
        action("inline_words", "w", "words", "Compare word by word, or line by line.", "changes"),
        action("show_in_tree", "o", "in tree", "Go to the memory in the tree.", "changes"),
    ),
    verbs=_VERBS,
)
