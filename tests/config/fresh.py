"""What a few lines of Python load in a fresh interpreter, beyond what the interpreter loads by itself."""

import subprocess
import sys


def imported_by(code: str, first: str = "") -> frozenset[str]:
    """Run code in a new process and name the modules it loaded.

    Args:
        code: what is looked at.
        first: code that runs before; what it loads does not count.
    """
    wrapped = f"{first}\nimport sys; before = set(sys.modules)\n{code}\nprint('\\n'.join(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", wrapped], capture_output=True, text=True, check=True, timeout=60)
    return frozenset(done.stdout.split("\n"))
