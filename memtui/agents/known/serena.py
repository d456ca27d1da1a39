"""Serena: a project's memories in `.serena/memories`, folders in folders, and the user's in `~/.serena`.

A memory's name is its path without `.md`, and other memories refer to it as `mem:name`. There is no index: the agent is
given the list of names, so a good name is what leads it to the text. Source of its settings: the repository
oraios/serena, docs/02-usage/045_memories.md and `MemoriesManager`: the lists of both files add up, and name memories
(`global/…` for the user's) by regular expressions that must match the whole of a name.
"""

import os
from collections.abc import Iterator

from memtui.agents import agent
from memtui.agents.layout import BOOKKEEPING, existing, is_too_wide, new_root, not_loaded, on_the_way, short_path
from memtui.agents.reader import is_within
from memtui.agents.settings import File, problems, read_text, shell_patterns, yaml_list, yaml_setting
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Policy, Root

ID = "serena"
OWN = agent.AgentHome(("SERENA_HOME",), (".serena",))
CONFIG = "serena_config.yml"
POLICY = Policy(ignore=BOOKKEEPING, whole=("*",), suffix=".md")
"""Plain text: front matter is part of what the agent reads."""
WRITES = "Serena's tools write these files; when Serena renames one, it rewrites `mem:` references to it in the others."
LABEL = "Serena memory"
OFF = " Its memory tools are switched off {where}, so it neither loads nor writes them."
READ_ONLY = " Its tools may not write those that {where} names (read_only_memory_patterns)."
ODD = " memtui does not understand {regex} there, so all of them are protected."
LOCAL = ("project.yml", "project.local.yml")
"""Its settings files of a project, in the folder `.serena`."""

_NAMES = ("user memories", "project memories")


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Yield the user's memories, then the current project's, wherever the user's settings put those."""
    home = OWN.folder(surroundings)
    own = (read_text(os.path.join(home, CONFIG)),) if home is not None else ()
    text = own[0].text if own else ""
    where = f"in {short_path(own[0].path, surroundings.home)}" if own and switched_off(text) else ""
    writes = WRITES + (OFF.format(where=where) if where else "")
    if home is not None:
        path = os.path.join(home, "memories", "global")
        root = new_root(f"{ID}:global", path, LABEL, POLICY, note=writes, switched_off=where)
        kept = yaml_setting(text, "edit_global_memories")
        if kept is not None and kept.lower() == "false":
            root = root._replace(policy=POLICY._replace(protected=("*",)))
        project = _of_project(surroundings, os.path.join(surroundings.project, ".serena"))
        yield from existing(_protect(surroundings, root, (*own, *project)))
    inside = os.path.join(surroundings.project, ".serena", "memories")
    mine = new_root(f"{ID}:project", inside, LABEL, POLICY, note=writes, switched_off=where)
    moved = _moved(surroundings, text)
    if moved is not None and moved != inside:
        said = f"{mine.note} Your settings (project_serena_folder_location) put them here."
        found_there = [*existing(mine._replace(path=moved, project=surroundings.project, note=said))]
        found_there = [_protect(surroundings, root, own) for root in found_there]
        yield from found_there
        if found_there:
            mine = mine._replace(id=f"{ID}:project:checkout", label=f"{LABEL}, in the checkout")
    for root in on_the_way(surroundings, mine, os.path.join(".serena", "memories")):
        yield _protect(surroundings, root, own)


def switched_off(text: str) -> bool:
    """Whether a settings file switches all memory tools off: by a mode, or by the setting of some releases."""
    tools = yaml_setting(text, "enable_memory_tools")
    modes = (mode for key in ("base_modes", "default_modes", "added_modes") for mode in yaml_list(text, key))
    return (tools is not None and tools.lower() == "false") or "no-memories" in modes


def _of_project(surroundings: Surroundings, folder: str) -> tuple[File, ...]:
    """Read a project's settings; where a checkout may have brought them, no link may lead out of it."""
    bound = surroundings.checkout or surroundings.project
    inside = bound if is_within(folder, (bound,)) else None
    return tuple(read_text(os.path.join(folder, name), inside) for name in LOCAL)


def _protect(surroundings: Surroundings, root: Root, files: tuple[File, ...]) -> Root:
    """Protect the files that settings name, all of them if a pattern is not understood: that only takes rights away."""
    prefix = "global/" if root.scope == "global" else ""
    if not prefix:
        files = (*files, *_of_project(surroundings, os.path.dirname(root.path)))
    found, note = list(root.policy.protected), root.note
    for file in files:
        regexes = yaml_list(file.text, "read_only_memory_patterns")
        if regexes:
            note += READ_ONLY.format(where=short_path(file.path, surroundings.home))
        for regex in regexes:
            patterns = shell_patterns(regex)
            note += ODD.format(regex=regex) if patterns is None else ""
            found += ["*"] if patterns is None else _protected(patterns, prefix)
    return root._replace(policy=root.policy._replace(protected=tuple(dict.fromkeys(found))), note=note)


def _protected(patterns: tuple[str, ...], prefix: str) -> list[str]:
    found = []
    for pattern in patterns:
        if pattern.startswith("*"):
            found.append(pattern)
        elif pattern.startswith(prefix) and (prefix or not pattern.startswith("global/")):
            found.append(pattern[len(prefix) :])
    return [one if one.endswith("*") else f"{one}.md" for one in found]


def _moved(surroundings: Surroundings, settings: str) -> str | None:
    text = yaml_setting(settings, "project_serena_folder_location")
    if text is None:
        return None
    project = surroundings.project
    text = text.replace("$projectDir", project).replace("$projectFolderName", os.path.basename(project))
    folder = surroundings.folder(text)
    return None if is_too_wide(surroundings, folder) else os.path.join(folder, "memories")


def _serena(surroundings: Surroundings, homes: tuple[str, ...]) -> agent.LoadOptions:
    own = tuple(read_text(os.path.join(home, CONFIG)) for home in homes)
    files = (*own, *_of_project(surroundings, os.path.join(surroundings.project, ".serena")))
    excluded: list[agent.Excluded] = []
    odd: list[tuple[str, str]] = []
    for file in files:
        where = short_path(file.path, surroundings.home)
        for regex in yaml_list(file.text, "ignored_memory_patterns"):
            patterns = shell_patterns(regex)
            if patterns is None:
                odd.append((file.path, f"Of ignored_memory_patterns memtui does not understand {regex}"))
            why = f"Not loaded: ignored_memory_patterns in {where} leaves it out: {regex}"
            excluded += [agent.Excluded(pattern, why, agent.BY_NAME, file.path) for pattern in patterns or ()]
    off = next((file for file in files if switched_off(file.text)), None)
    why = not_loaded(surroundings, off.path) if off is not None else ""
    return agent.LoadOptions(
        off=tuple((label, why) for label in _NAMES if why), excluded=tuple(excluded), problems=(*problems(files), *odd)
    )


LOADS = agent.Loads(
    (
        *(
            agent.LoadSource(
                label,
                place,
                (name,),
                mark=agent.NAMES_ONLY,
                why="The agent is given the name, and reads it on demand.",
                named_below=below,
            )
            for label, place, name, below in (
                ("user memories", agent.HOME, "memories/global/**/*.md", "memories/"),
                ("project memories", "serena:project", "**/*.md", ""),
                ("project memories", agent.CHAIN, ".serena/memories/**/*.md", ".serena/memories/"),
            )
        ),
    ),
    in_project=(".serena",),
    options=_serena,
    note="Its tools come on top.",
)
AGENT = agent.KnownAgent(ID, "Serena", roots, policy=POLICY, home=OWN, loads=LOADS)
