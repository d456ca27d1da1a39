"""Codex: one folder of memories for everything, which it consolidates by itself, and AGENTS.md from the checkout down.

Of the memories some files are only what a consolidation works from, and are made anew by the next one. Sources: the
repository openai/codex (`features/src/lib.rs`, `legacy.rs`; `MemoriesConfig`), developers.openai.com/codex/memories.
"""

import os
from collections.abc import Iterator

from memtui.agents import instructions
from memtui.agents.folders import has_any, is_folder, is_name, short_path
from memtui.agents.places import BOOKKEEPING, home_of, toml_flags
from memtui.config.smallfile import read_small
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Policy, Root

AGENT = "codex"
SWITCHES = ("memories", "memory_tool")
"""The feature, now and as older releases called it; it is off unless it is switched on."""

AUTO = Policy(
    index_file="memory_summary.md",
    front_matter="forbidden",
    entries=(("MEMORY.md", "codex"),),
    generated=("raw_memories.md", "rollout_summaries/", "phase2_workspace_diff.md"),
    ignore=BOOKKEEPING,
    whole=("memory_summary.md", "MEMORY.md", "raw_memories.md", "rollout_summaries/", "phase2_workspace_diff.md"),
)
"""The summary is loaded at every start, and its first line is `v1`; `MEMORY.md` holds blocks and is searched."""
NAMES = ("AGENTS.override.md", "AGENTS.md")
"""The first one of a folder that is there is read, and no other."""

WRITES = (
    "Codex consolidates these files between sessions: it takes up what you change by hand, and makes the generated ones"
    " anew."
)
OFF = " Memories are switched off in {where}, so Codex neither loads nor writes them."
UNWRITTEN = " memories.generate_memories is switched off in {where}, so Codex adds nothing to them."
READS = "Codex reads one of these files in each folder, the first that is there, 32 KiB in all."


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Find Codex's roots: the memories, the user's instructions, and the project's; no project has memories apart."""
    home = home_of(surroundings, "CODEX_HOME", ".codex")
    settings = _settings(home)
    if home is not None:
        memories = os.path.join(home, "memories")
        if is_folder(memories):
            note, where = _note(surroundings, home, settings)
            root = Root(f"{AGENT}:global", memories, AGENT, "global", "Codex memory", AUTO, note=note)
            yield root._replace(switched_off=where)
        if has_any(home, NAMES):
            yield Root(
                f"{AGENT}:global:instructions",
                home,
                AGENT,
                "global",
                "Codex instructions",
                Policy(include=NAMES, ignore=BOOKKEEPING, whole=NAMES),
                note=READS,
                kind="instructions",
            )
    top = surroundings.checkout or surroundings.project
    names = instructions.along(surroundings, top, (*NAMES, *_fallbacks(settings)))
    policy = Policy(include=names, ignore=BOOKKEEPING, whole=names)
    yield from instructions.here(surroundings, AGENT, "Codex instructions", top, policy, READS)


def _settings(home: str | None) -> bytes:
    if home is None:
        return b""
    try:
        return read_small(os.path.join(home, "config.toml")) or b""
    except OSError:
        return b""


def _note(surroundings: Surroundings, home: str, settings: bytes) -> tuple[str, str]:
    """Say who writes the memories, and when nobody does; of a switch that is not written plainly nothing is said.

    Returns:
        The sentences, and where they are switched off; empty when Codex loads them.
    """
    text, where = settings.decode("utf-8", "replace"), short_path(os.path.join(home, "config.toml"), surroundings.home)
    if "[profiles." in text:  # which of them a session uses, it may be told when it starts
        return WRITES, ""
    features = [f"features.{name}" for name in SWITCHES]
    flags = toml_flags(text, *features, "memories.use_memories", "memories.generate_memories")
    if False in map(flags.get, features) or not any(name in text for name in SWITCHES):
        return WRITES + OFF.format(where=where), f"in {where}"
    if flags.get("memories.use_memories") is False:
        said = f"{WRITES} memories.use_memories is switched off in {where}, so Codex does not load them."
        return said, f"in {where}"
    unwritten = flags.get("memories.generate_memories") is False
    return WRITES + (UNWRITTEN.format(where=where) if unwritten else ""), ""


def _fallbacks(settings: bytes) -> tuple[str, ...]:
    """Read the further names from the user's own settings; what leads out of a folder is no name."""
    if b"project_doc_fallback_filenames" not in settings:  # parsing it costs more than most commands' work
        return ()
    from memtui.config import toml

    try:
        names: object = toml.loads(settings.decode()).get("project_doc_fallback_filenames")
    except ValueError:
        return ()
    return tuple(
        dict.fromkeys(
            name
            for name in (names if isinstance(names, list) else ())
            if isinstance(name, str) and is_name(name) and name not in NAMES
        )
    )
