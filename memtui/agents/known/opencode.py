"""OpenCode: AGENTS.md, and no memories of its own; the user's file is a root of `agents_md`.

In the project the AGENTS.md of all folders up to the checkout are loaded, and CLAUDE.md only where there is none. The
`instructions` of its settings name more files; one that lies outside of the project is counted and not read, because a
repository may have named it. Sources: opencode.ai/docs, page rules; the program, run by `python -m tests.agents`.
"""

import os
from collections.abc import Iterator

from memtui.agents import agent
from memtui.agents.layout import ancestors, start_folder
from memtui.agents.reader import is_within
from memtui.agents.settings import File, is_path, problems, read_json, texts
from memtui.config.surroundings import Surroundings

ID = "opencode"
OWN = agent.AgentHome(in_config=("opencode",))
NAMES = ("AGENTS.md", "CLAUDE.md", "CONTEXT.md")
"""Of a project only files of the first name are loaded that any of its folders has."""
SETTINGS = ("opencode.json", "opencode.jsonc")
_MINE = agent.LoadSource("user instructions", agent.HOME, NAMES[:1])


def _project(surroundings: Surroundings, *names: str) -> agent.LoadSource:
    """Files of every folder from the one at hand up to the checkout; without one, up to the top."""
    place = agent.CHAIN if surroundings.checkout else agent.ANCESTORS
    return agent.LoadSource("project instructions", place, names, upwards=True)


def _options(surroundings: Surroundings, homes: tuple[str, ...]) -> agent.LoadOptions:
    """Find which of its names the project has, and what its settings name."""
    start, checkout = start_folder(surroundings), surroundings.checkout
    above = () if start == checkout else tuple(ancestors(start, checkout))
    folders = (*above, start)
    there = (name for name in NAMES if any(os.path.lexists(os.path.join(folder, name)) for folder in folders))
    mine = [_MINE]
    if not any(os.path.lexists(os.path.join(home, NAMES[0])) for home in homes):
        mine = [_MINE._replace(place=agent.NAMED, names=NAMES[1:2])]  # Claude Code's, where it has none of its own
    files = tuple(_settings(surroundings, homes, folders))
    return agent.LoadOptions(
        sources=(*mine, _project(surroundings, next(there, NAMES[0])), *_named(surroundings, files)),
        folders=(os.path.join(surroundings.home, ".claude"),) if surroundings.home else (),
        problems=problems(files),
    )


def _settings(surroundings: Surroundings, homes: tuple[str, ...], folders: tuple[str, ...]) -> Iterator[File]:
    """Read its settings: the user's, those of the project from the outermost folder on, those in `.opencode`."""
    yield from (read_json(os.path.join(home, name)) for home in homes for name in SETTINGS)
    bound = surroundings.checkout or surroundings.project
    for inside in ("", ".opencode"):
        for folder in folders if surroundings.checkout else folders[-1:]:
            yield from (read_json(os.path.join(folder, inside, name), bound) for name in SETTINGS)


def _named(surroundings: Surroundings, files: tuple[File, ...]) -> Iterator[agent.LoadSource]:
    """Give a source for each of the `instructions`: no addresses of the net, no patterns outside of the project."""
    for file in files:
        for text in texts(file.values.get("instructions")):
            if "://" in text or not is_path(text):
                continue
            if not text.startswith(("~/", "/")):
                yield _project(surroundings, os.path.normpath(text))._replace(label="named instructions")
                continue
            path = surroundings.folder(text)
            if "*" not in path or is_within(path, (surroundings.project,)):
                name = os.path.relpath(path, surroundings.project)
                yield agent.LoadSource("named instructions", agent.PROJECT, (name,))


LOADS = agent.Loads(
    (_MINE, agent.LoadSource("project instructions", agent.CHAIN, NAMES[:1], upwards=True)),
    in_project=(".opencode", *SETTINGS),
    options=_options,
    note=agent.ON_TOP,
    checked="1.18.33, 23 November 2026",
)
AGENT = agent.KnownAgent(ID, "OpenCode", home=OWN, loads=LOADS)
