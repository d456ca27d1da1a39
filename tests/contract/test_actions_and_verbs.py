"""Whatever the workbench can do, a plain command can: for scripts, and for those who cannot use a screen."""

import pytest

from memtui.features.table import verbs
from memtui.workbench.actions import ACTIONS

VERBS = verbs()

TWINS = {
    "accept_deletion": "rm", "accept_root": "roots --accept", "copy_to": "view, create", "describe": "edit, save",
    "describe_memory": "edit, save", "edit_outside": "edit", "editor_outside": "edit", "editor_rename": "mv",
    "ends_yours": "save", "form_save": "edit, save", "keep_as": "create", "keep_mine": "create", "keep_name": "create",
    "new": "create", "dream": "dream", "remember": "remember",
    "archive": "mv", "pin": "pin, unpin", "redact": "redact", "redo": "redo", "rename": "mv", "restore": "restore",
    "repoint": "repoint", "save": "save", "save_as": "create", "seen": "seen", "seen_all": "seen --all",
    "take_back": "restore",
    "take_back_hunk": "diff, save", "trash": "rm", "trash_theirs": "rm", "try_again": "save", "undo": "undo",
    "undo_step": "restore", "write_result": "edit, save",
    "changes": "diff, changes", "search_all": "search", "versions": "history", "view_activity": "log",
    "view_changes": "changes", "view_hot": "context", "view_memories": "ls", "view_search": "search",
    "view_trash": "trash", "trash_view": "trash", "info": "ls, roots", "messages": "doctor",
    "view_health": "health", "fix_finding": "health --fix, edit", "fix_kind": "health --fix, edit",
    "fix_root": "health --fix", "view_cost": "cost",
    "export": "export", "export_history": "export", "import": "import",
    "entries": "entries", "entry_edit": "entries", "entry_file": "edit", "entry_new": "entries",
    "entry_remove": "entries", "entry_save": "entries",
    "accept": "accept", "carry_out": "accept", "reject": "reject", "put_off": "reject --later",
    "install_hook": "install", "lift_line": "health --fix, health --line",
    "mute_finding": "check --mute", "mute_memory": "check --mute", "mute_kind": "check --mute",
    "view_observed": "obs", "obs_edit": "obs", "obs_private": "obs --as", "obs_suppressed": "obs --as",
    "obs_normal": "obs --as", "obs_delete": "obs", "obs_restore": "obs", "obs_redact": "obs", "obs_rebuild": "obs",
    "obs_promote": "obs, create",
    "view_tasks": "tasks", "task_cancel": "tasks", "task_retry": "tasks",
}  # fmt: skip
"""Actions that write or show something, and the commands for it."""

COMMANDS = {verb.name: {param.name for param in verb.options} for verb in VERBS}


def test_point_33_every_action_that_writes_or_shows_has_a_command() -> None:
    wanted = {action.id for action in ACTIONS if action.writes or action.id.startswith("view_")}
    assert not wanted - TWINS.keys()
    assert not TWINS.keys() - {action.id for action in ACTIONS}


@pytest.mark.parametrize("action", sorted(TWINS))
def test_the_command_exists(action: str) -> None:
    for command in TWINS[action].split(", "):
        verb, _, option = command.partition(" ")
        assert verb in COMMANDS
        assert not option or option in COMMANDS[verb]
