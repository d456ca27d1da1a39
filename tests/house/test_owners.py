"""One file writer, one SQL room, one reader of the environment, one clock, one writer to the standard streams."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

import pytest

from tests.house import rules
from tests.house.source import Source, sources


class Owner(NamedTuple):
    """One thing, who may do it, and who else may, with the reason."""

    rule: str
    uses: Callable[[Source], Iterator[tuple[str, int]]]
    owners: tuple[str, ...]
    allowed: dict[tuple[str, str], str]


OWNERS = {
    "files": Owner(
        "only memtui/engine/disk/fsio.py touches files",
        rules.file_calls,
        # The demo plays a program that knows nothing of memtui, in a throw-away folder.
        ("memtui/engine/disk/fsio.py", "memtui/demo/"),
        {
            ("memtui/config/smallfile.py", "os.open"): "reads settings, never a memory",
            ("memtui/agents/reader.py", "os.open"): "looks at what agents load at their start, which may lie anywhere",
            ("memtui/transcripts/sessions.py", "os.open"): "reads agents' session files, never a memory",
            ("memtui/clients/disk.py", "*"): "the configuration of agents, and what it was, in the state folder",
            ("memtui/features/edit/verbs.py", "*"): "the private copy for $EDITOR, in the state folder",
            ("memtui/wire/output.py", "os.open"): "the null device, for a reader that went away or a closed stream",
            ("memtui/wire/output.py", "open"): "a closed stream, by its number",
            ("memtui/engine/doctor.py", "os.stat"): "looks at the state folder",
            (
                "memtui/engine/watch/hints.py",
                "*",
            ): "which folders can be watched, and a limit of the system; never a memory",
            ("memtui/engine/ledger/database.py", "*"): "the ledger's own file, in the state folder",
            ("memtui/engine/ledger/ledger.py", "*"): "backups of the ledger, in the state folder",
            ("memtui/engine/ledger/erasure.py", "*"): "the same, and damaged copies of it",
            ("memtui/engine/ledger/creation.py", "*"): "the same",
            ("memtui/engine/ledger/salvage.py", "*"): "the same, a copy of one that is damaged",
            ("memtui/engine/ledger/memories.py", "os.path.realpath"): "which folder a root is; opens nothing",
            ("memtui/engine/ledger/memories.py", "os.path.lexists"): "whether a root moved; opens nothing",
            ("memtui/engine/find/index.py", "*"): "the search index's own file, in the state folder",
            (
                "memtui/features/bundles/tarball.py",
                "*",
            ): "the file of a bundle, which the user names; never a memory",
            ("memtui/features/workers/ask.py", "tempfile.TemporaryDirectory"): "what a worker is run in, of ours",
            ("memtui/engine/disk/unsaved.py", "*"): "drafts and the copies of editors, in the state folder",
            ("memtui/mcp_server/handshake.py", "os.open"): "the null device, in place of the standard input",
            ("memtui/ui/terminal.py", "os.read"): "what the terminal answers; opens nothing",
            ("memtui/engine/look/roots.py", "os.path.realpath"): "a typed path to an address; opens nothing",
            ("memtui/engine/look/roots.py", "os.path.lexists"): "a typed path to an address; opens nothing",
        },
    ),
    "sql": Owner(
        "only the ledger, the search index, the store of observations and the team's server speak SQL",
        rules.sql_uses,
        (
            "memtui/engine/ledger/",
            "memtui/engine/find/index.py",
            "memtui/features/observations/store/",
            "memtui/features/team/postgres.py",
        ),
        {},
    ),
    "environment": Owner("only memtui/config reads the environment", rules.environment_reads, ("memtui/config/",), {}),
    "clock": Owner(
        "time is passed in; only now_ms() takes it",
        rules.clock_reads,
        (),
        {("memtui/engine/disk/fsio.py", "time.time_ns"): "now_ms(), what is passed in unless a test says otherwise"},
    ),
    "textual": Owner(
        "only memtui/ui/textual_private.py uses a private part of Textual",
        rules.textual_privates,
        ("memtui/ui/textual_private.py",),
        {},
    ),
    "streams": Owner(
        "only memtui/wire/output.py writes to the terminal",
        rules.stream_uses,
        ("memtui/wire/output.py",),
        {
            ("memtui/ui/process.py", "sys.__stderr__"): "gives the terminal back while the process dies",
            (
                "memtui/ui/terminal.py",
                "sys.__stderr__",
            ): "asks the terminal for its background before it is taken",
        },
    ),
}


@cache
def uses_of(name: str) -> list[tuple[Source, list[tuple[str, int]]]]:
    """What each file of the package does of what has one owner."""
    return [(source, list(OWNERS[name].uses(source))) for source in sources("memtui")]


@pytest.mark.parametrize("name", OWNERS)
def test_each_thing_has_one_owner(name: str) -> None:
    owner = OWNERS[name]
    found = [
        str(offence)
        for source, uses in uses_of(name)
        for offence in rules.offences(owner.rule, iter(uses), source, owner.owners, owner.allowed)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", OWNERS)
def test_no_exception_outlives_its_reason(name: str) -> None:
    owner = OWNERS[name]
    seen = {(source.name, use) for source, uses in uses_of(name) for use, _ in uses}
    assert not rules.stale(seen, owner.allowed)
    assert all(reason.strip() for reason in owner.allowed.values())


BAD = {
    "files": [
        ("memtui/engine/save/files.py", "import os\nos.rename('a', 'b')"),
        ("memtui/engine/save/files.py", "from os import unlink as gone\ngone('a')"),
        ("memtui/engine/save/files.py", "import os as o\no.fsync(3)"),
        ("memtui/engine/look/catalog.py", "import os\nos.scandir('.')"),
        ("memtui/engine/look/catalog.py", "open('a')"),
        ("memtui/agents/known/mux.py", "open('a', 'w')"),
        ("memtui/agents/known/mux.py", "open('a', mode=mode)"),
        ("memtui/wire/x.py", "import shutil\nshutil.rmtree('a')"),
        ("memtui/cli/x.py", "from pathlib import Path\nPath('a').write_text('')"),
        ("memtui/workbench/tree/tree.py", "from pathlib import Path\nPath('a').read_text()"),
        ("memtui/workbench/tree/tree.py", "import os\nos.path.exists('a')"),
    ],
    "sql": [
        ("memtui/engine/find/finder.py", "import apsw"),
        ("memtui/cli/x.py", "from sqlite3 import connect"),
        ("memtui/engine/watch/watch.py", "run('SELECT sha FROM version')"),
        ("memtui/engine/watch/watch.py", "run('''\n  UPDATE pin SET at = 1''')"),
        ("memtui/engine/watch/watch.py", "run(f'DELETE FROM {table}')"),
    ],
    "environment": [
        ("memtui/engine/x.py", "import os\nos.environ['HOME']"),
        ("memtui/agents/x.py", "from os import getenv\ngetenv('HOME')"),
        ("memtui/workbench/x.py", "from pathlib import Path\nPath.home()"),
        ("memtui/cli/x.py", "import os.path\nos.path.expanduser('~')"),
    ],
    "clock": [
        ("memtui/engine/x.py", "import time\ntime.time()"),
        ("memtui/wire/x.py", "from datetime import datetime as d\nd.now()"),
        ("memtui/agents/x.py", "from time import time_ns\nclock = time_ns"),
    ],
    "streams": [
        ("memtui/engine/x.py", "print('x')"),
        ("memtui/cli/main.py", "import sys\nsys.stdout.write('x')"),
        ("memtui/workbench/x.py", "from sys import stderr\nstderr.flush()"),
    ],
    "textual": [
        ("memtui/ui/x.py", "from textual._ansi_theme import MONOKAI"),
        ("memtui/web/x.py", "from textual.keys import _character_to_key as name"),
        ("memtui/ui/x.py", "class Area(TextArea):\n def load(self): self._set_document('', None)"),
        ("memtui/workbench/x.py", "class Area(TextArea):\n def _refresh_size(self): pass"),
        ("memtui/workbench/x.py", "class Area(TextArea):\n def wide(self): return self.wrapped_document._width"),
    ],
}


@pytest.mark.parametrize(("name", "file", "text"), [(name, *bad) for name, cases in BAD.items() for bad in cases])
def test_a_second_owner_is_found(name: str, file: str, text: str) -> None:
    owner, source = OWNERS[name], Source.of(text, file)
    assert list(rules.offences(owner.rule, owner.uses(source), source, owner.owners, owner.allowed))


GOOD = {
    "files": [
        ("memtui/engine/disk/fsio.py", "import os\nos.rename('a', 'b')"),
        ("memtui/engine/save/files.py", "fsio.unlink(handle, 'a')\nengine.rename(a, b)\n'a'.replace('b', 'c')"),
        ("memtui/agents/known/mux.py", "open('a')\nopen('a', 'rb')"),
    ],
    "sql": [
        ("memtui/engine/ledger/memories.py", "import apsw\nrun('SELECT 1')"),
        ("memtui/cli/x.py", "say('Select a memory'); say('UPDATE: begin here'); say('selected')"),
    ],
    "environment": [
        ("memtui/config/places.py", "import os\nos.environ['HOME']"),
        ("memtui/engine/x.py", "environ = 1"),
    ],
    "clock": [("memtui/engine/x.py", "import time\ntime.monotonic()\ntime.sleep(1)\nself.time.time")],
    "streams": [("memtui/wire/output.py", "print('x')"), ("memtui/workbench/x.py", "log.print('x')")],
    "textual": [
        ("memtui/ui/textual_private.py", "from textual._ansi_theme import MONOKAI"),
        (
            "memtui/ui/x.py",
            "class Own(Widget):\n def take(self): self._ready = 1\n def go(self): self._ready",
        ),
        ("memtui/ui/x.py", "from textual import on\nfrom textual.keys import Keys"),
    ],
}


@pytest.mark.parametrize(("name", "file", "text"), [(name, *good) for name, cases in GOOD.items() for good in cases])
def test_the_owner_and_look_alikes_pass(name: str, file: str, text: str) -> None:
    owner, source = OWNERS[name], Source.of(text, file)
    assert not list(rules.offences(owner.rule, owner.uses(source), source, owner.owners, owner.allowed))


def test_a_stale_exception_is_found() -> None:
    assert rules.stale(set(), {("memtui/x.py", "os.open"): "because"}) == [
        "memtui/x.py: os.open is allowed but not used"
    ]
