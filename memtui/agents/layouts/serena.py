"""Serena: a project's memories in `.serena/memories`, folders in folders, and the user's in `~/.serena`.

A memory's name is its path without `.md`, and other memories refer to it as `mem:name`. There is no index: the agent is
given the list of names, so a good name is what leads it to the text.
"""

import os
from collections.abc import Iterator

from memtui.agents.places import BOOKKEEPING, home_of, is_too_wide, on_the_way, settings_text, there, yaml_setting
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Policy, Root

AGENT = "serena"
POLICY = Policy(ignore=BOOKKEEPING, whole=("*",), suffix=".md")
"""Plain text: front matter is part of what the agent reads."""
WRITES = "Serena's tools write these files; when Serena renames one, it rewrites `mem:` references to it in the others."
LABEL = "Serena memory"


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Find the user's memories, then the current project's, wherever the user's settings put those."""
    home = home_of(surroundings, "SERENA_HOME", ".serena")
    if home is not None:
        path = os.path.join(home, "memories", "global")
        yield from there(Root(f"{AGENT}:global", path, AGENT, "global", LABEL, POLICY, note=WRITES))
    inside = os.path.join(surroundings.project, ".serena", "memories")
    mine = Root(f"{AGENT}:project", inside, AGENT, "project", LABEL, POLICY, note=WRITES)
    moved = _moved(surroundings, home) if home is not None else None
    if moved is not None and moved != inside:
        said = f"{WRITES} Your settings (project_serena_folder_location) put them here."
        found = [*there(mine._replace(path=moved, project=surroundings.project, note=said))]
        yield from found
        if found:
            mine = mine._replace(id=f"{AGENT}:project:checkout", label=f"{LABEL}, in the checkout")
    yield from on_the_way(surroundings, mine, os.path.join(".serena", "memories"))


def _moved(surroundings: Surroundings, home: str) -> str | None:
    """Read where the user's own settings put projects' memories."""
    text = yaml_setting(settings_text(os.path.join(home, "serena_config.yml")), "project_serena_folder_location")
    if text is None:
        return None
    project = surroundings.project
    text = text.replace("$projectDir", project).replace("$projectFolderName", os.path.basename(project))
    folder = surroundings.folder(text)
    return None if is_too_wide(surroundings, folder) else os.path.join(folder, "memories")
