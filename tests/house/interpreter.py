"""What a module or a command really loads, seen from a fresh interpreter.

A static tool cannot see an import that happens inside a function, so these run the code.
"""

import subprocess
import sys
from collections.abc import Sequence

SCREEN = frozenset({"textual", "rich"})

EACH_MODULE = """
import sys
screen = set(sys.argv.pop(1).split())
for name in sys.argv[1:]:
    __import__(name)
    if screen & sys.modules.keys():
        print(name)
        break
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


def loads_a_screen(*modules: str) -> str:
    """Import the modules one after the other in a new interpreter; name the first that loads a screen, if any does."""
    command = [sys.executable, "-c", EACH_MODULE, " ".join(SCREEN), *modules]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=100).stdout.strip()


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
