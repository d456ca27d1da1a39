"""GitHub Copilot in VS Code: memories in the editor's storage for the user, a workspace and its sessions; instructions.

The editor names a workspace's folder by a hash and says beside it which workspace that is. What GitHub keeps for
Copilot on its own machines is not on disk and not shown. A project's hooks would also run in GitHub's cloud, where
there is no memtui, so a project gets the server alone. Its memory tool cannot be switched off since VS Code 1.121:
microsoft/vscode, pull requests 315879 and 318131.
"""

import os
import sys
from collections.abc import Iterator
from typing import NamedTuple

from memtui.agents import agent, layout
from memtui.agents.settings import quoted_settings, read_text
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Policy, Root

ID = "copilot"
OWN = agent.AgentHome(("COPILOT_HOME",), (".copilot",))
POLICY = Policy(ignore=layout.BOOKKEEPING, whole=("*",))
"""Of the user's memories, the first 200 lines of all files together are loaded; of the others, the names."""
PERSONAL = Policy(ignore=(*layout.BOOKKEEPING, "*.prompt.md", "*.chatmode.md", "*.agent.md", "*.toolsets.jsonc"))
INSTRUCTIONS = Policy(ignore=layout.BOOKKEEPING, whole=("copilot-instructions.md", "*/copilot-instructions.md"))
"""`applyTo` in front matter says for which files an instruction is loaded."""
WRITES = "Copilot writes these files while it works."
SESSIONS = "Copilot writes these files while it works, a folder for each session; VS Code removes them after 14 days."
READS = "Copilot reads these files, and writes them when asked to."
LABEL = "Copilot memory"

DESKTOP = (("Code", ""), ("Code - Insiders", "insiders-"), ("VSCodium", "vscodium-"), ("Code - OSS", "oss-"))
SERVER = ((".vscode-server", "server-"), (".vscode-server-insiders", "server-insiders-"))
MEMORIES = os.path.join("memory-tool", "memories")


class Edition(NamedTuple):
    """One installation of the editor."""

    user: str
    prefix: str
    """Put before instances, so that ids stay unique."""


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Yield the user's memories and instructions, the current project's, then, if asked, all other workspaces'."""
    alias: tuple[str, ...] = (f"{ID}:project",)
    for edition in editions(surroundings):
        yield from _personal(edition)
        for root in _workspaces(surroundings, edition, all_projects=all_projects):
            if alias and root.scope == "project" and root.label == LABEL:
                yield root._replace(aliases=alias)
                alias = ()
            else:
                yield root
    copilot = OWN.folder(surroundings)
    if copilot is not None:
        mine = _instructions("global:cli", copilot)._replace(label="Copilot CLI instructions")
        for root in layout.existing(layout.only(mine, "copilot-instructions.md", "instructions/")):
            yield from layout.linked(surroundings, root, ("copilot-instructions.md", "instructions"))
    mine = _instructions("project:instructions", surroundings.project)
    yield from layout.in_project(
        surroundings, layout.only(mine, ".github/copilot-instructions.md", ".github/instructions/")
    )


def editions(surroundings: Surroundings) -> Iterator[Edition]:
    """Yield every installation of the editor, whether Copilot ever ran in it or not."""
    portable, home, config = surroundings.variable("VSCODE_PORTABLE"), surroundings.home, surroundings.config_home()
    if portable:
        yield Edition(os.path.join(surroundings.folder(portable), "user-data", "User"), "portable-")
    bases = [base for base in (config, home and os.path.join(home, "Library", "Application Support")) if base]
    for base in bases:
        for name, prefix in DESKTOP:
            if os.path.isdir(os.path.join(base, name, "User")):
                yield Edition(os.path.join(base, name, "User"), prefix)
    for name, prefix in SERVER if home else ():
        user = os.path.join(home or "", name, "data", "User")
        if os.path.isdir(user):
            yield Edition(user, prefix)


def _personal(edition: Edition) -> Iterator[Root]:
    prefix = edition.prefix
    instance = f":{prefix.rstrip('-')}" if prefix else ""
    label = f", {instance[1:]}" if instance else ""
    # A folder of settings may be on a disk that tells case apart or not; the editor writes it in lower case.
    path = os.path.join(edition.user, "globalStorage", "github.copilot-chat", MEMORIES)
    memory = layout.new_root(f"{ID}:global{instance}", path, LABEL + label, POLICY, note=WRITES)
    prompts = _instructions(f"global:{prefix}instructions", os.path.join(edition.user, "prompts"))
    yield from layout.existing(memory, prompts._replace(policy=PERSONAL))


def _instructions(name: str, path: str) -> Root:
    label = "Copilot instructions"
    return layout.new_root(f"{ID}:{name}", path, label, INSTRUCTIONS, note=READS, kind="instructions")


def _workspaces(surroundings: Surroundings, edition: Edition, *, all_projects: bool) -> Iterator[Root]:
    mine = {surroundings.project, surroundings.checkout, surroundings.cwd}
    storage = os.path.join(edition.user, "workspaceStorage")
    for name in layout.names_in(storage):
        path = os.path.join(storage, name, "GitHub.copilot-chat", MEMORIES)
        if not os.path.isdir(path):
            continue
        project, title = _project(os.path.join(storage, name))
        here = project in mine if project is not None else title == os.path.basename(surroundings.project)
        if not here and not all_projects:
            continue
        known = layout.short_path(project, surroundings.home) if project is not None else title or name
        label = "" if here else f", {known}"
        unsure = " VS Code says only the workspace's name, so it may be another one." if project is None else ""
        instance = edition.prefix + layout.id_part(name)
        repo = os.path.join(path, "repo")
        yield from layout.existing(
            layout.new_root(
                f"{ID}:project:{instance}", repo, LABEL + label, POLICY, project=project, note=WRITES + unsure
            )
        )
        if any(entry != "repo" for entry in layout.names_in(path)):
            sessions = f"Copilot sessions{label}"
            yield layout.new_root(
                f"{ID}:workspace:{instance}", path, sessions, POLICY, project=project, note=SESSIONS + unsure
            )


def _project(storage: str) -> tuple[str | None, str]:
    """Return the folder a workspace's storage belongs to, where the editor says it, and its name."""
    text = read_text(os.path.join(storage, "workspace.json")).text
    for uri in quoted_settings(text, "folder"):
        if uri.startswith("file:///"):
            return os.path.realpath(_unquoted(uri[7:])), ""
        return None, os.path.basename(_unquoted(uri))
    for uri in (*quoted_settings(text, "workspace"), *quoted_settings(text, "configuration")):
        if uri.startswith("file:///"):
            return os.path.realpath(os.path.dirname(_unquoted(uri[7:]))), ""
    # A server knows the name alone.
    return None, next(iter(quoted_settings(read_text(os.path.join(storage, "meta.json")).text, "name")), "")


def _unquoted(text: str) -> str:
    first, *rest = os.fsencode(text).split(b"%")
    parts = [first]
    for part in rest:
        try:
            parts.append(bytes.fromhex(part[:2].decode("ascii")) + part[2:])
        except ValueError:
            parts.append(b"%" + part)
    return os.fsdecode(b"".join(parts)).replace("\0", "")


def _copilot(found: dict[str, str]) -> agent.RuleVerdict:
    if not found.get("applyTo"):
        return agent.RuleVerdict(agent.ON_DEMAND, "It is loaded when somebody names it.")
    return agent.matching("applyTo", ("**", "**/*", "*"))(found)


def _rules(label: str, place: str, *names: str) -> agent.LoadSource:
    return agent.LoadSource(label, place, names, front_matter=True)


def _folder(place: Surroundings) -> str:
    portable = place.variable("VSCODE_PORTABLE")
    if portable:
        return os.path.join(place.folder(portable), "user-data", "User")
    base = place.config_home()
    if sys.platform == "darwin":
        base = os.path.join(place.home, "Library", "Application Support") if place.home else None
    if base is None:
        raise agent.no_home()
    found = [os.path.join(base, name, "User") for name, _ in DESKTOP]
    return next(filter(os.path.isdir, found), found[0])


def _client_files(place: Surroundings, level: str, start: agent.Start) -> tuple[agent.ClientFile, ...]:
    server = {"type": "stdio"} | start.server
    if level == agent.PROJECT:
        server["cwd"] = "${workspaceFolder}"
        entry = agent.ClientEntry("server", ("servers", "memtui"), server)
        return (agent.ClientFile(os.path.join(place.project, ".vscode", "mcp.json"), "json", (entry,), place.project),)
    # In the user's profile no folder can be named: the server asks VS Code which one is open.
    copilot = OWN.needed(place)
    hook = {"type": "command", "command": start.hook, "timeout": agent.SECONDS}
    return (
        agent.ClientFile(
            os.path.join(_folder(place), "mcp.json"),
            "json",
            (agent.ClientEntry("server", ("servers", "memtui"), server),),
        ),
        agent.ClientFile(
            os.path.join(copilot, "hooks", "memtui.json"),
            "json",
            (agent.ClientEntry("value", ("version",), 1), agent.ClientEntry("hook", ("hooks", "SessionStart"), hook)),
        ),
    )


LOADS = agent.Loads(
    (
        _rules("user rule", agent.HOME, "instructions/**/*.instructions.md")._replace(judge=_copilot),
        agent.LoadSource("project instructions", agent.PROJECT, (".github/copilot-instructions.md", "AGENTS.md")),
        _rules("rule", agent.PROJECT, ".github/instructions/**/*.instructions.md")._replace(judge=_copilot),
        agent.LoadSource("user memories", "copilot:global*", ("*",), budget="lines", by_lines=True),
        agent.on_demand("user memories", "copilot:global*", "*/**/*", why="Folders are not looked into at the start."),
        agent.on_demand(
            "project memories",
            "copilot:project",
            "**/*",
            why="The agent is told that it is there, and reads it when it wants to.",
        ),
    ),
    in_project=(".github/copilot-instructions.md", ".github/instructions"),
    budgets=(("lines", 200),),
    note=agent.ON_TOP,
)
CLIENT = agent.Client(
    "vscode",
    "VS Code",
    _folder,
    _client_files,
    notes=(
        agent.ClientNote("VS Code asks once whether you trust the server."),
        agent.ClientNote("Hooks are a preview in VS Code, and can be switched off by policy.", agent.USER),
    ),
)
AGENT = agent.KnownAgent(
    ID, "Copilot", roots, policy=POLICY, home=OWN, loads=LOADS, client=CLIENT, also=("vscode", "github-copilot")
)
