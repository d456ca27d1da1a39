"""Writes `docs/commands.md` to stdout: `python -m memtui.cli.reference > docs/commands.md`."""

from memtui.cli.help import commands_page
from memtui.wire import output

if __name__ == "__main__":
    output.standard(json=False).raw(commands_page().encode())
