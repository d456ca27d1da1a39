"""Every picture: what it shows, at which sizes, how the program is started, and what the user does first."""

from collections.abc import Callable
from typing import NamedTuple

from screenshots import acts
from screenshots.visit import Visit

SMALL, USUAL, LARGE = (80, 24), (120, 40), (200, 60)
EVERY = (SMALL, USUAL, LARGE)
"""The three sizes, in columns and rows, of the screens people look at most; the others are there at the usual one."""


class Shot(NamedTuple):
    """One screen."""

    title: str
    """What it shows, in words, for those who cannot see it."""
    act: Callable[[Visit], None]
    sizes: tuple[tuple[int, int], ...] = (USUAL,)
    options: tuple[str, ...] = ()
    """What the program is started with."""
    config: str = ""
    """What `config.toml` says."""
    no_color: bool = False
    empty: bool = False
    """On a machine without memories."""
    newcomer: bool = False
    """On a machine of somebody who has never seen memtui, with agents that have worked for half a year."""
    waits: bool = False
    """With a conflict that waits."""


def _theme(name: str, words: str) -> Shot:
    return Shot(f"The workbench in {words}", acts.workbench, config=f'theme = "{name}"\n')


SHOTS = {
    "workbench": Shot("The workbench: a tree of memories, and one that waits", acts.first_look, EVERY)._replace(
        waits=True
    ),
    "filter": Shot("The tree, filtered while a word is typed", acts.filter_),
    "changes": Shot("Everything others changed since you looked, by who and when", acts.changes, EVERY),
    "difference": Shot("One change, word by word, with the whole screen to itself", acts.difference),
    "search": Shot("A search in every memory, with the hits marked", acts.search, EVERY),
    "history": Shot("Every version of a memory, and what one of them changed", acts.history, EVERY),
    "health": Shot("What is wrong with the indexes agents load, and the diff of the fix", acts.health, EVERY),
    "entries": Shot("The entries of a file that holds many, and one of them", acts.entries, EVERY),
    "start-cost": Shot("What one agent loads at its start, in order, and where its index is cut", acts.cost, EVERY),
    "trash": Shot("The trash: what was deleted, by whom, and its text", acts.trash),
    "activity": Shot("Everything that was done, and what one step changed", acts.activity, EVERY),
    "hot-set": Shot("What an agent would be given, and what just fails to fit", acts.hot_set, EVERY),
    "form": Shot("The front matter of a memory as a form, and what changes in the file", acts.form),
    "editor": Shot("The editor with a draft, while an agent saved other lines", acts.editor, EVERY),
    "conflict": Shot("The conflict screen: BASE, YOURS, AGENT and the result", acts.conflict, EVERY),
    "deleted": Shot("The question after an agent deleted a memory with unsaved text", acts.deleted),
    "help": Shot("The help for the tree", acts.help_),
    "palette": Shot("The palette of commands, with their keys", acts.palette),
    "marks": Shot("Marked memories, and what the second key of d t would do", acts.marks),
    "landing": Shot("What marked memories would be called after a move", acts.landing),
    "translate": Shot(
        "A memory on its way to another agent: what is mapped, and what its index loses", acts.translate, EVERY
    ),
    "arriving": Shot("A bundle that is imported: what becomes of each of its memories", acts.arriving),
    "read-only": Shot("The workbench that only reads, and what it answers to a key that writes", acts.refused)._replace(
        options=("--read-only",)
    ),
    "light": _theme("memtui-light", "its light theme"),
    "contrast": _theme("memtui-contrast", "high contrast"),
    "blue-orange": _theme("memtui-blue-orange", "colours for colour-blind eyes")._replace(act=acts.changes),
    "monochrome": Shot("The changes without any colour", acts.changes, no_color=True),
    "ascii": Shot("The workbench in ASCII alone", acts.workbench, options=("--ascii",)),
    "empty": Shot("The first start on a machine without memories", acts.empty, empty=True),
}

SHOTS |= {
    name: shot._replace(newcomer=True)
    for name, shot in {
        "newcomer-agents": Shot("Which agents work in a project, and what each begins with", acts.newcomer_agents),
        "newcomer-cut": Shot("What an agent has never seen of its index", acts.newcomer_cut, EVERY),
        "newcomer-fix": Shot("All fixes of one index, before they are made", acts.newcomer_fix),
        "newcomer-trash": Shot("Twenty-two notes, marked, and what the next key does", acts.newcomer_trash),
        "newcomer-sound": Shot("The index, sound and loaded whole", acts.newcomer_sound),
    }.items()
}

WEB = "web"
"""The one picture that a browser takes."""


def file_names() -> list[str]:
    """Every picture there is, as its file is called."""
    named = [f"{name}-{columns}x{rows}.svg" for name, shot in SHOTS.items() for columns, rows in shot.sizes]
    return [*named, f"{WEB}.png"]
