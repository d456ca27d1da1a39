"""What a module or a command really loads, seen from a fresh interpreter.

A static tool cannot see an import that happens inside a function, so these run the code.
"""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache

EACH_MODULE = """
import json, os, sys
for name in sys.argv[1:]:
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        before = set(sys.modules)
        try:
            __import__(name)
            said = "\\n".join(sorted(set(sys.modules) - before))
        except BaseException as error:
            said = f"failed: {type(error).__name__}: {error}"
        os.close(reader)
        with open(writer, "w") as pipe:
            pipe.write(said)
        os._exit(0)
    os.close(writer)
    with open(reader) as pipe:
        print(json.dumps([name, pipe.read().split("\\n")]))
    os.waitpid(child, 0)
"""

ONE_COMMAND = """
import atexit, sys
report = sys.argv.pop(1)
before = set(sys.modules)
def tell():
    loaded = sorted(set(sys.modules) - before)
    with open(report, "w") as file:
        file.write("\\n".join(loaded))
atexit.register(tell)
from memtui.__main__ import main
sys.exit(main())
"""


@cache
def loaded_by_import(*modules: str) -> Mapping[str, frozenset[str]]:
    """Import each module in an interpreter that has imported nothing else, and say what that loaded.

    Each import runs in a child of one bare interpreter, so sixty of them cost as much as two or three programs.
    """
    command = [sys.executable, "-c", EACH_MODULE, *modules]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=100)
    answers = dict(json.loads(line) for line in done.stdout.splitlines())
    assert answers.keys() == set(modules), done.stderr
    return {name: frozenset(found) for name, found in answers.items()}


def loaded_by_command(arguments: Sequence[str], report: str) -> tuple[subprocess.CompletedProcess[str], frozenset[str]]:
    """Run one memtui command as a whole process and say which modules it loaded.

    Args:
        arguments: what follows `memtui`.
        report: a path the answer may be written to.
    """
    command = [sys.executable, "-c", ONE_COMMAND, report, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    with open(report) as file:
        return done, frozenset(file.read().split("\n"))
