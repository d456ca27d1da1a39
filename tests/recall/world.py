"""The memories of the archive in an engine, one root for each folder that an agent keeps them in; and the queries."""

import json
import os
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from memtui.engine import Engine
from memtui.engine.model import SearchQuery
from memtui.engine.policy import Policy, Root
from tests.corpus import ARCHIVE

QUERIES = Path(__file__).parent / "queries.jsonl"
TUNING, HELD_OUT = "tuning", "held-out"
UNRELATED = "unrelated"
AGENT = "agent-8f31ed67-bc7d-40e7-abde-5a8bc4f7e601"
FOLDERS = (
    *("A-H-911--acmp/.claude/memory", "vidarc--recommendarr/.claude/memory", "rjmurillo--ai-agents/.serena/memories"),
    *("ractive--ff-rdp/.claude/agent-memory", "ractive--ff-rdp/kb/.claude/agent-memory"),
    *("orestesgaolin--agent-device-dart/.claude/agent-memory", "marcuscastelo--marucs-diet/.serena/memories"),
    *("iromu--spring-boot-openfeature/.qwen/team-memory", "golaunchmate--memories/system"),
    *(f"golaunchmate--memories/agents/{AGENT}/system", "108yen--task-orchestrator-mcp/.serena/memories"),
    *("108yen--task-orchestrator-mcp/.kiro/steering", "1cvibe--MetadataViewer1C/.serena/memories"),
    *("717986230--openclaw-workspace/memory", "31103--tanshu3/memory-bank", "Meng-Fei--PyFstat/.serena/memories"),
    *("doudouqie66--CommonTools/.codex/memories/rollout_summaries", "LumenBot--LobsterOps/memory"),
    *("alpenblick-gmbh--starter-kit/.claude/memory", "KitTheFox123--workspace/memory"),
    "bitwikiorg--continuity/memory",
)
"""What is searched, all at once: the memories of other projects are in the way, as on a machine with many."""


class LabelledQuery(NamedTuple):
    """One request, and what answers it."""

    query: str
    kind: str
    """`keyword`, `paraphrase`, `task`, `cjk` or `unrelated`."""
    half: str
    relevant: Mapping[str, str]
    """Path in the archive to the beginning of the sha-256; one of them is enough."""


def queries() -> list[LabelledQuery]:
    """Read the queries."""
    return [LabelledQuery(**json.loads(line)) for line in QUERIES.read_text("utf-8").splitlines()]


@contextmanager
def corpus(folder: Path) -> Iterator[Engine]:
    """Unpack the archive and open an engine on it, whose index has every text.

    Raises:
        AssertionError: no archive is named, or a memory that a query names is not the one it was written for.
    """
    assert ARCHIVE is not None, "MEMTUI_CORPUS names no archive of memory files"
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder / "corpus", filter="data")
    for query in queries():
        for path, sha in query.relevant.items():
            assert sha256((folder / "corpus" / path).read_bytes()).hexdigest().startswith(sha), path
    policy = Policy(index_file="**/MEMORY.md")
    roots = [
        Root(f"files:{number}", str(folder / "corpus" / path), policy=policy) for number, path in enumerate(FOLDERS)
    ]
    with Engine.open(roots, state_dir=str(folder / "state")) as engine:
        engine.search.find(SearchQuery("memory"))
        builder = engine.search._builder
        assert builder is not None
        builder.join()
        yield engine


def archive_path(folder: Path, engine: Engine, root: str, path: str) -> str:
    """Name a memory by its path in the archive."""
    return os.path.relpath(os.path.join(engine.roots.find(root).path, path), folder / "corpus")
