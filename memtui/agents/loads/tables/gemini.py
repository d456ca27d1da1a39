"""What Gemini CLI loads when a session starts: GEMINI.md from its own folder and the checkout down, and its own index.

Sources: the repository google-gemini/gemini-cli, docs/reference/configuration.md (`context.*`, `security.folderTrust`)
and `packages/core/src/utils/memoryDiscovery.ts`: a folder the user does not trust brings no instructions and no
settings. `experimental.autoMemory` is about what it writes, and changes nothing here.
"""

import os

from memtui.agents.folders import short_path
from memtui.agents.layouts.gemini import NAME
from memtui.agents.loads.importing import Imports
from memtui.agents.loads.loading import CHAIN, FOLDER, HOME, NAMED, ON_DEMAND, PROJECT, Options, Source, Table
from memtui.agents.loads.settings import File, file_names, last, problems, read_json, texts
from memtui.agents.reading import is_within
from memtui.config.surroundings import Surroundings

IMPORTS = Imports(depth=5, markdown=False, approval=False, home=False)
"""Its own rule: what leads out of the project is refused, not asked about."""
NAMES: tuple[str, ...] = (NAME,)
_FURTHER = "further folder"


def _options(surroundings: Surroundings, homes: tuple[str, ...]) -> Options:
    """Read what instruction files are called, where else it looks for them, and whether it trusts the folder."""
    home = homes[0] if homes else ""
    system = [os.path.join(surroundings.system_dir, name) for name in ("gemini-cli", "GeminiCli")]
    own = tuple(
        read_json(path)
        for path in (*(os.path.join(folder, "system-defaults.json") for folder in system), *_in(home, "settings.json"))
    )
    managed = tuple(read_json(os.path.join(folder, "settings.json")) for folder in system)
    trusted = read_json(os.path.join(home, "trustedFolders.json")) if home else File("", {})
    untrusted = _distrusted(surroundings, trusted, (*own, *managed))
    brought = os.path.join(surroundings.project, ".gemini", "settings.json")
    project = () if untrusted else (read_json(brought, surroundings.checkout or surroundings.project),)
    files = (*own, *project, *managed)
    names = file_names(last(files, "context", "fileName")[0]) or file_names(last(files, "contextFileName")[0]) or NAMES
    off = [(label, untrusted) for label in ("instructions", _FURTHER, "folder instructions") if untrusted]
    switch = last(files, "context", "loadMemoryFromIncludeDirectories")
    folders, where = last((*own, *managed), "context", "includeDirectories")  # a repository adds no place
    if switch[0] is not True and not untrusted:
        at = short_path(switch[1] or where, surroundings.home)
        why = f"Not loaded: not switched on in {at} (context.loadMemoryFromIncludeDirectories)."
        off.append((_FURTHER, why))
    alone = last(files, "context", "memoryBoundaryMarkers")[0] == []
    return Options(
        names=(
            *((label, names) for label in ("user instructions", "instructions", _FURTHER)),
            ("memory index", ("MEMORY.md", *names)),
        ),
        off=tuple(off),
        places=(("instructions", FOLDER),) if alone else (),
        folders=tuple(surroundings.folder(text) for text in texts(folders) if text and "\0" not in text),
        problems=problems((*files, trusted)),
    )


def _in(home: str, name: str) -> tuple[str, ...]:
    return (os.path.join(home, name),) if home else ()


def _distrusted(surroundings: Surroundings, trusted: File, files: tuple[File, ...]) -> str:
    """Say why instructions of the project are not loaded: the longest path of the list that holds it decides."""
    if last(files, "security", "folderTrust", "enabled")[0] is False:
        return ""
    longest, decision = "", ""
    for path, level in trusted.values.items():
        meant = os.path.dirname(path) if level == "TRUST_PARENT" else path
        if isinstance(level, str) and len(path) > len(longest) and is_within(surroundings.project, (meant,)):
            longest, decision = path, level
    if decision != "DO_NOT_TRUST":
        return ""
    return f"Not loaded: its folder is not trusted in {short_path(trusted.path, surroundings.home)}."


TABLE = Table(
    "gemini",
    "Gemini CLI",
    (
        Source("user instructions", HOME, NAMES, imports=IMPORTS),
        Source("instructions", CHAIN, NAMES, imports=IMPORTS),
        Source(_FURTHER, NAMED, NAMES, imports=IMPORTS),
        Source("memory index", "gemini:project", ("MEMORY.md", *NAMES), first=True),
        Source(
            "memories",
            "gemini:project",
            ("**/*.md",),
            mark=ON_DEMAND,
            why="The agent reads it when the index makes it look.",
        ),
        Source(
            "folder instructions",
            PROJECT,
            ("*/GEMINI.md", "*/*/GEMINI.md"),
            mark=ON_DEMAND,
            why="It is loaded when the agent touches a file in its folder.",
        ),
    ),
    variables=("GEMINI_CLI_HOME",),
    inside=".gemini",
    at_home=(".gemini",),
    in_project=("GEMINI.md", ".gemini"),
    options=_options,
    note="Its own system prompt, extensions and MCP servers come on top.",
    also=("gemini-cli",),
)
