"""The page about keys, made from the table of actions, so that it cannot say anything else than the workbench does."""

from collections.abc import Iterable

from memtui.ui.action import Action, in_room
from memtui.workbench.actions import ACTIONS, ROOMS, SIGNS


def keys_page(actions: Iterable[Action] = ACTIONS) -> str:
    """Return `docs/keys.md`."""
    actions = tuple(actions)
    lines = [
        "# Keys",
        "",
        "Made from the action table of the workbench; a test compares them. In the workbench `?` shows them for the",
        "pane you are in, and `:` finds every command by name. Keys are changed by id in the `[keys]` table of the",
        'configuration: `pin = "P"`, or several: `pin = "P, f6"`; two keys in a row are written with a space (`d t`).',
        "",
        "Escape goes one step back and never quits. A single key never destroys anything, and text pasted into a list",
        "is ignored. With `--read-only` the keys marked *writes* are off and say so.",
    ]
    for room, title in ROOMS.items():
        here = in_room(room, actions=actions)
        if not here:
            continue
        lines += ["", f"## {title}", "", "| key | does | id |", "| --- | --- | --- |"]
        for action in here:
            keys = " or ".join(f"`{key}`" for key in action.keys).replace("|", "\\|")
            lines.append(f"| {keys} | {action.help}{' *writes*' if action.writes else ''} | `{action.id}` |")
    lines += ["", "## Signs", "", "| sign | means |", "| --- | --- |"]
    lines += [f"| `{sign}` | {meaning} |" for sign, meaning in SIGNS]
    return "\n".join(lines) + "\n"
