"""Writes `docs/commands.md` to stdout: `python -m memtui.cli.reference > docs/commands.md`."""

from memtui.cli import output
from memtui.cli.help import commands_page

if __name__ == "__main__":
    output.standard(json=False).script(commands_page())
