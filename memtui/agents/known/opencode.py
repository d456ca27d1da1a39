"""OpenCode: AGENTS.md, and no memories of its own; the user's file is a root of `agents_md`.

In the project the AGENTS.md of all folders up to the checkout are loaded, and CLAUDE.md only where there is none. The
`instructions` of its settings name more files; one that lies outside of the project is counted and not read, because a
repository may have named it. Sources: opencode.ai/docs, page rules; the program, run by `python -m tests.agents`, and
read for what administrators set (`managedConfigDir`).
"""

import os
from collections.abc import Iterator

from memtui.agents import agent
from memtui.agents.layout import ancestors, start_folder
from memtui.agents.reader import is_within
from memtui.agents.settings import UNSET, File, is_path, json_value, problems, read_json, texts
from memtui.config.surroundings import Surroundings

ID = "opencode"
OWN = agent.AgentHome(("OPENCODE_CONFIG_DIR",), in_config=("opencode",))
NAMES = ("AGENTS.md", "CLAUDE.md", "CONTEXT.md")
"""Only files of the first name that any folder of the project has are loaded."""
SETTINGS = ("opencode.json", "opencode.jsonc")
_MINE = agent.LoadSource("user instructions", agent.HOME, NAMES[:1])
_YES, _TRUE = ("true", "yes", "on", "1", "y"), ("true", "1")
"""Values of its variables: those about Claude Code, then the one about the project, in any case."""


def _project(surroundings: Surroundings, *names: str) -> agent.LoadSource:
    """Make a source of every folder from the one at hand up to the checkout, or without one, to the top."""
    place = agent.CHAIN if surroundings.checkout else agent.ANCESTORS
    return agent.LoadSource("project instructions", place, names, upwards=True)


def _options(surroundings: Surroundings, homes: tuple[str, ...]) -> agent.LoadOptions:
    start, checkout = start_folder(surroundings), surroundings.checkout
    above = () if start == checkout else tuple(ancestors(start, checkout))
    alone = (surroundings.variable("OPENCODE_DISABLE_PROJECT_CONFIG") or "").lower() in _TRUE
    prompt = surroundings.variable("OPENCODE_DISABLE_CLAUDE_CODE_PROMPT")
    is_plain = prompt in _YES or surroundings.variable("OPENCODE_DISABLE_CLAUDE_CODE") in _YES
    folders = () if alone else (*above, start)
    names = tuple(name for name in NAMES if not (is_plain and name == "CLAUDE.md"))
    there = (name for name in names if any(os.path.lexists(os.path.join(folder, name)) for folder in folders))
    mine = [_MINE]
    if not is_plain and not any(os.path.lexists(os.path.join(home, NAMES[0])) for home in homes):
        mine = [_MINE._replace(place=agent.NAMED, names=NAMES[1:2])]  # Claude Code's, where it has none of its own
    files = tuple(_settings(surroundings, folders))
    project = () if alone else (_project(surroundings, next(there, NAMES[0])),)
    return agent.LoadOptions(
        sources=(*mine, *project, *_named(surroundings, files, alone=alone)),
        folders=(os.path.join(surroundings.home, ".claude"),) if surroundings.home else (),
        problems=problems(files),
    )


def _settings(surroundings: Surroundings, folders: tuple[str, ...]) -> Iterator[File]:
    """Read its settings: of the user's one file; the one a variable names; those of the project from the outermost
    folder on, then those in `.opencode` from the innermost on; those in two more folders of the user's; the
    variable's own text; the administrators'."""
    config, home = surroundings.config_home(), surroundings.home
    own = os.path.join(config, ID) if config else ""
    found = [read_json(os.path.join(own, name)) for name in ("config.json", *SETTINGS)] if own else []
    says = [file for file in found if "instructions" in file.values]  # the last one's take the place of the others'
    yield from (*(file for file in found if file.problem), *says[-1:])
    named = surroundings.variable("OPENCODE_CONFIG")
    yield from (read_json(surroundings.folder(path)) for path in (named,) if path)
    project = surroundings.checkout or surroundings.project
    for inside, places in (("", folders), (".opencode", folders[::-1])):
        for folder in places:
            bound = project if is_within(folder, (project,)) else folder
            yield from (read_json(os.path.join(folder, inside, name), bound) for name in SETTINGS)
    moved = surroundings.variable("OPENCODE_CONFIG_DIR")
    more = ((os.path.join(home, ".opencode"),) if home else ()) + ((surroundings.folder(moved),) if moved else ())
    yield from (read_json(os.path.join(folder, name)) for folder in more for name in SETTINGS)
    text = surroundings.variable("OPENCODE_CONFIG_CONTENT")
    value = json_value(text.encode("utf-8", "replace")) if text else None
    if isinstance(value, dict):
        yield File("OPENCODE_CONFIG_CONTENT", value)
    elif text:
        yield File("OPENCODE_CONFIG_CONTENT", {}, problem=f"It is no JSON object. {UNSET}")
    yield from (read_json(os.path.join(surroundings.system_dir, ID, name)) for name in SETTINGS)


def _named(surroundings: Surroundings, files: tuple[File, ...], *, alone: bool) -> Iterator[agent.LoadSource]:
    """Give a source for each of the `instructions`: no addresses of the net, no patterns outside of the project."""
    for file in files:
        for text in texts(file.values.get("instructions")):
            if "://" in text or not is_path(text):
                continue
            if not text.startswith(("~/", "/")):
                name = os.path.normpath(text)
                found = _MINE._replace(names=(name,)) if alone else _project(surroundings, name)
                yield found._replace(label="named instructions")
                continue
            path = os.path.normpath(surroundings.folder(text))
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
