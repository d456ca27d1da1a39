"""What the server says on standard error: that something went wrong and where, and never what a memory says.

Libraries log what they were given, and clients keep a server's standard error in files.
"""

import logging

from memtui.safe_text import one_line

_CELLS = 200


class PlainFormatter(logging.Formatter):
    """A record's fixed words only: its arguments and its exception's text may hold anything."""

    def format(self, record: logging.LogRecord) -> str:
        """Give one line."""
        kind = record.exc_info[0] if record.exc_info else None
        fault = f" ({kind.__name__})" if kind is not None else ""
        words = record.getMessage() if record.name.startswith("memtui.") else str(record.msg)
        return f"memtui mcp: {record.levelname.lower()}: {record.name}: {one_line(words, _CELLS)}{fault}"


def speak_plainly() -> None:
    """Have warnings and errors of every library said in this form."""
    handler = logging.StreamHandler()
    handler.setFormatter(PlainFormatter())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
