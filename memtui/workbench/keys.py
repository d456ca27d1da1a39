"""The user's own keys, put into the table of actions; problems are reported with their line and a suggestion.

It imports nothing that draws, so that the command line can check a configuration with it. `docs/keys.md` and Textual's
bindings come from the same table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from memtui.ui.action import COMMON, Action, in_room, keymap, shown_keys
from memtui.workbench.actions import ACTIONS, BROWSER_ROOMS, BY_ID, CASE_ROOMS, ROOMS, SIGNS, TEXT_ROOMS, VIEW, VIEWS

if TYPE_CHECKING:
    from textual.binding import BindingType

NAMED = frozenset(
    (
        *("enter", "escape", "tab", "space", "backspace", "delete", "insert", "home", "end", "pageup", "pagedown"),
        *("up", "down", "left", "right", *(f"f{number}" for number in range(1, 25))),
    )
)

SAME = {"ctrl+i": "tab", "ctrl+m": "enter", "ctrl+h": "backspace", "ctrl+j": "enter", "ctrl+left_square_bracket": "esc"}
"""Keys most terminals cannot tell from another."""

SPELLED = {"esc": "escape", "return": "enter", "comma": ",", "del": "delete", "pgup": "pageup", "pgdn": "pagedown"}

SUGGESTED = 3

NO_LINES: Mapping[str, int] = MappingProxyType({})


def with_overrides(
    overrides: Mapping[str, str | Iterable[str]], *, lines: Mapping[str, int] = NO_LINES
) -> tuple[tuple[Action, ...], tuple[str, ...]]:
    """Replace keys as the settings ask (`lines`: action id to its line in the file); also return one sentence per
    problem."""
    if not overrides:
        return ACTIONS, ()
    table = dict(BY_ID)
    problems = []
    for id_, wanted in overrides.items():
        told, keys = _usable(id_, wanted, table)
        if keys:
            table[id_] = table[id_]._replace(keys=keys)
        problems += [_at(lines.get(id_, 0)) + words for words in told]
    actions = tuple(table.values())
    for key, ids, free in _clashes(actions):
        line = next((lines[id_] for id_ in ids if id_ in lines and id_ in overrides), 0)
        hint = f" Free there: {', '.join(free)}." if free else ""
        problems.append(f"{_at(line)}{key} is used by {' and '.join(ids)}; the first one wins.{hint}")
    return actions, tuple(problems)


def _at(line: int) -> str:
    return f"config.toml, line {line}: " if line else ""


def _usable(
    id_: str, wanted: str | Iterable[str], table: Mapping[str, Action]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Check one setting: return what is wrong with it, and the usable keys."""
    from memtui.matching import slips

    if id_ not in table:
        near = slips(id_, table)
        return (f"No action is called {id_!r}." + (f" Did you mean {near[0]!r}?" if near else ""),), ()
    given = [key.strip() for key in (wanted.split(",") if isinstance(wanted, str) else wanted) if key.strip()]
    told, keys = [], []
    for key in given:
        parts = [SPELLED.get(part, part) for part in key.split()]
        wrong = next((part for part in parts if not _known(part)), "")
        if wrong or len(parts) > 2:
            near = slips(wrong.replace("-", "+").lower(), _every_name())
            hint = f" Did you mean {near[0]!r}?" if wrong and near else ""
            told.append(f"{id_!r}: no key is called {(wrong or key)!r}.{hint}")
        elif any(part in SAME for part in parts):
            part = next(part for part in parts if part in SAME)
            told.append(f"{id_!r}: terminals cannot tell {part} from {SAME[part]}.")
        else:
            keys.append(" ".join(parts))
    if not keys:
        told.append(f"{id_!r} was given no key; it keeps {shown_keys(table[id_])}.")
    return tuple(told), tuple(keys)


def _known(key: str) -> bool:
    *modifiers, base = key.split("+") if len(key) > 1 else [key]
    if not modifiers:
        return len(base) == 1 or base in NAMED
    if len(set(modifiers)) != len(modifiers) or not set(modifiers) <= {"ctrl", "alt", "shift", "super"}:
        return False
    return base in NAMED or key in SAME or (len(base) == 1 and modifiers != ["shift"])


def _every_name() -> list[str]:
    return [*NAMED, *SPELLED, *(f"ctrl+{letter}" for letter in "abcdefghijklmnopqrstuvwxyz")]


def _clashes(actions: tuple[Action, ...]) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Find keys that two actions of one screen share, or that hide a sequence: key, actions, free keys."""
    screens = [*list_panes(actions).values(), in_room("picker", actions=actions)]
    screens += [in_room(room, actions=actions) for room in TEXT_ROOMS]
    found: dict[tuple[str, tuple[str, ...]], tuple[str, ...]] = {}
    for here in screens:
        prefixes = {key.split(" ")[0]: action.id for action in here for key in action.keys if " " in key}
        users: dict[str, list[str]] = {}
        for action in here:
            for key in action.keys:
                users.setdefault(key, []).append(action.id)
                if key in prefixes:
                    users[key].append(prefixes[key])
        free = tuple(key for key in "BCEFGIJLNOPQSTVWXYZabcefhijlmnoqrtuvwxyz" if key not in users | prefixes)
        for key, ids in users.items():
            if len(ids) > 1:
                found.setdefault((key, tuple(ids)), free[:SUGGESTED])
    return [(key, ids, free) for (key, ids), free in found.items()]


def list_panes(actions: Iterable[Action]) -> dict[str, tuple[Action, ...]]:
    """Return the actions available in the main screen and in each view, by pane name."""
    actions = tuple(actions)
    by_id = {action.id: action for action in actions}
    common = (*COMMON, *(view.action for view in VIEWS))
    panes = {}
    for view in VIEW.values():
        ids = dict.fromkeys((*view.actions, *common))
        own = tuple(by_id[id_] for id_ in ids if id_ in by_id)
        panes[view.name] = own if view.screen else in_room(*BROWSER_ROOMS, actions=actions)
    return panes


def _letters(actions: tuple[Action, ...]) -> list[str]:
    panes = list_panes(actions)
    panes["Conflict"] = in_room("conflict", actions=actions)
    panes["Other questions about a draft"] = in_room(*CASE_ROOMS, actions=actions)
    meanings: dict[str, dict[str, list[str]]] = {}
    for pane, here in panes.items():
        for action in here:
            for key in action.keys:
                if all(len(part) == 1 for part in key.split()) and not key.isdigit():
                    words = f"**{action.label}**" if action.writes else action.label
                    told = meanings.setdefault(key, {}).setdefault(pane, [])
                    told += [] if words in told else [words]
    lines = ["", "## What a letter does in each pane", ""]
    lines += ["Bold: it writes. A digit goes to a view everywhere but in a question.", ""]
    lines += ["| | " + " | ".join(panes) + " |", "| --- |" + " --- |" * len(panes)]
    for key in sorted(meanings, key=lambda key: (not key[0].isalpha(), key.casefold(), key)):
        cells = (" or ".join(meanings[key].get(pane, ())) for pane in panes)
        lines.append(f"| `{key}` | ".replace("`|`", "`\\|`") + " | ".join(cells) + " |")
    return lines


def keys_page(actions: Iterable[Action] = ACTIONS) -> str:
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
    lines += _letters(actions)
    lines += ["", "## Signs", "", "| sign | means |", "| --- | --- |"]
    lines += [f"| `{sign}` | {meaning} |" for sign, meaning in SIGNS]
    return "\n".join(lines) + "\n"


def room_bindings(room: str) -> list[BindingType]:
    """Return one binding for each key of a room of the action table; each calls `action_act` with its id."""
    from textual.binding import Binding

    keys = keymap([room], ACTIONS)
    return [
        Binding(key, f"act('{action.id}')", action.label, show=False, id=action.id, tooltip=action.help)
        for action in in_room(room, actions=ACTIONS)
        for key in action.keys
        if " " not in key and keys[key] is action
    ]
