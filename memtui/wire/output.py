"""The only writer to the terminal: data to stdout, narration to stderr.

Text of memories, names and errors leaves with control characters made visible or escaped as JSON, and with secrets
masked; only `raw` writes bytes as they are.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, TextIO

from memtui.errors import MemtuiError, StorageError
from memtui.safe_text import cell_width, end_of, one_line, visible
from memtui.wire.outcomes import Json
from memtui.wire.times import rfc3339

_STYLES = {
    "head": "1",
    "dim": "2",
    "added": "32",
    "removed": "31",
    "hunk": "36",
    "warn": "33",
    "bad": "31;1",
    "good": "32",
}
TERMINAL = "/dev/tty"
_DIFF = {"+": "added", "-": "removed", "@": "hunk"}

Cell = str | int | None


class Column(NamedTuple):
    """One column of a table."""

    title: str
    kind: str = "text"
    """`text`; `number`; `count` (hides zero); `size` (bytes); `age` (milliseconds since the epoch); `sha`."""
    flexible: bool = False
    """May be cut to fit the terminal."""
    optional: bool = False
    """May be left out on a narrow terminal."""
    wraps: bool = False
    """Continues on the next line instead of being cut, as the last column shown."""
    names: bool = False
    """Holds addresses, which are cut in the middle."""


def attended() -> bool:
    """Return whether this process has a controlling terminal."""
    try:
        os.close(os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


class Output:
    """The output of a command."""

    def __init__(
        self,
        *,
        json: bool = False,
        ascii_only: bool = False,
        color: bool = True,
        secrets: bool = False,
        stdout: TextIO,
        stderr: TextIO,
    ) -> None:
        """Bind the streams; `secrets` shows secrets in text, `color` applies where stdout is a terminal."""
        self.json = json
        self.secrets = secrets
        self.answered = False
        self.terminal = stdout.isatty()
        self._stdout = stdout
        self._stderr = stderr
        self.adapt(ascii_only=ascii_only, color=color)

    def adapt(self, *, ascii_only: bool, color: bool) -> None:
        """Apply the settings, once they are known."""
        self.ascii_only = ascii_only
        self._color = color and self.terminal

    @property
    def encoding(self) -> str:
        """The encoding of stdout, in lower case."""
        return (self._stdout.encoding or "unknown").lower()

    @property
    def columns(self) -> int:
        """The terminal's width in cells; 80 when unknown."""
        try:
            return os.get_terminal_size(self._stdout.fileno()).columns or 80
        except (OSError, ValueError):
            return 80

    @property
    def interactive(self) -> bool:
        """Whether input and output are a terminal."""
        return self.terminal and sys.stdin is not None and sys.stdin.isatty()

    def document(self, answer: Json, *, exact: bool = False) -> None:
        """Print one JSON document, secrets masked and counted in `masked` unless `exact`."""
        import json

        self.answered = True
        answer = answer if exact else without_secrets(answer)
        self._write(self._stdout, json.dumps(answer, indent=2 if self.terminal else None) + "\n")

    def json_line(self, answer: Json, *, exact: bool = False) -> None:
        """Print one JSON document on one line and flush; see `document`."""
        import json

        answer = answer if exact else without_secrets(answer)
        self._write(self._stdout, json.dumps(answer) + "\n")
        self.flush()

    def fact(self, answer: Json, text: str, *, exact: bool = False) -> None:
        """Print one answer: a document with `--json`, else a line; `exact` leaves secrets in."""
        if self.json:
            self.document(answer, exact=exact)
        elif exact:
            self._write(self._stdout, visible(text, ascii_tokens=self.ascii_only, secrets=True) + "\n")
        else:
            self.line(text)

    def line(self, text: str, style: str = "") -> None:
        """Print one line; line breaks inside it are shown as signs."""
        self._write(self._stdout, self._styled(self._safe(text), style) + "\n")

    def diff(self, lines: Sequence[str], *, exact: bool = False) -> None:
        """Print a unified diff; an `exact` one keeps secrets where it is piped."""
        exact = self.secrets or (exact and not self.terminal)
        if not exact:
            from memtui import mask

            lines = mask.shown("\n".join(lines)).split("\n") if lines else lines
        for number, line in enumerate(lines):
            style = "head" if number < 2 else _DIFF.get(line[:1], "")
            safe = visible(line, ascii_tokens=self.ascii_only, secrets=exact)
            self._write(self._stdout, self._styled(safe, style) + "\n")

    def entry(self, mark: str, style: str, *paragraphs: str) -> None:
        """Print wrapped paragraphs beside a coloured word."""
        first = self._styled(self._safe(mark), style)
        blank = " " * cell_width(self._safe(mark))
        for text in filter(None, paragraphs):
            for line in wrapped(self._safe(text), self.columns - len(blank) - 2):
                self._write(self._stdout, f"{first}  {line}\n")
                first = blank

    def line_of(self, *fields: str) -> None:
        """Print tab-separated fields for another program, without empty ones at the end."""
        self._write(self._stdout, "\t".join(map(self._safe, fields)).rstrip("\t") + "\n")

    def text(self, text: str) -> None:
        """Print text of several lines."""
        plain = self.ascii_only
        safe = visible(text, keep_newlines=True, keep_tabs=True, ascii_tokens=plain, secrets=self.secrets)
        self._write(self._stdout, safe)

    def raw(self, data: bytes) -> None:
        """Print bytes as they are."""
        try:
            self._stdout.flush()
            self._stdout.buffer.write(data)
            self._stdout.buffer.flush()
        except OSError as error:
            raise self._lost(error) from None

    def flush(self) -> None:
        """Flush stdout; raises BrokenPipeError when its reader went away, StorageError when it cannot be written."""
        try:
            self._stdout.flush()
        except OSError as error:
            raise self._lost(error) from None

    def say(self, text: str, *, indent: str = "") -> None:
        """Tell the user something beside the answer, wrapped on a terminal."""
        safe = self._safe(text)
        lines = wrapped(safe, self.columns - len(indent)) if self._stderr.isatty() else [safe]
        self._write(self._stderr, "".join(f"{indent}{line}\n" for line in lines))
        self._stderr.flush()

    @contextmanager
    def progress(self, found: Callable[[], tuple[int, int] | None], every: float = 1.0) -> Iterator[None]:
        """On a terminal, tell every so many seconds how many memories of a large change in the block are done."""
        if not self._stderr.isatty():
            yield
            return
        import threading

        ended = threading.Event()

        def tell() -> None:
            said = False
            while not ended.wait(every):
                if (count := found()) is not None:
                    self._status(f"{count[0]:,} of {count[1]:,} memories")
                    said = True
            if said:
                self._status("")

        thread = threading.Thread(target=tell, name="memtui-progress", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def ask(self, question: str) -> str | None:
        """Ask on stderr; return the line typed on stdin, or None at its end."""
        self._write(self._stderr, visible(question, keep_newlines=True, ascii_tokens=self.ascii_only))
        self._stderr.flush()
        return sys.stdin.readline() or None

    def ask_person(self, question: str) -> str | None:
        """Ask on the controlling terminal, whatever the standard streams are; return None without one."""
        self._stderr.flush()
        try:
            handle = os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY)
        except OSError:
            return None
        with open(handle, "r+b", buffering=0) as terminal:
            terminal.write(visible(question, ascii_tokens=self.ascii_only).encode(self.encoding, "replace"))
            line = terminal.readline()
        return line.decode("utf-8", "replace") if line else None

    def error(self, error: MemtuiError) -> None:
        """Print an error: what happened, what is unharmed, what to do next."""
        self.say(f"memtui: {error.message} [{error.code}]")
        for part in (error.unharmed, error.hint):
            if part:
                self.say(part, indent="  ")

    def _safe(self, text: str) -> str:
        return visible(text, ascii_tokens=self.ascii_only, secrets=self.secrets)

    def _styled(self, safe: str, style: str) -> str:
        if not (style and safe and self._color):
            return safe
        return f"\x1b[{_STYLES[style]}m{safe}\x1b[0m"

    def table(self, columns: Sequence[Column], rows: Iterable[Sequence[Cell]]) -> None:
        """Print rows: aligned and cut to the width on a terminal, tab-separated and whole where piped."""
        rows = self._masked(rows)
        if not self.terminal:
            for row in rows:
                plain = (_plain(column, cell) for column, cell in zip(columns, row, strict=True))
                safe = (visible(text, ascii_tokens=self.ascii_only, secrets=True) for text in plain)
                self._write(self._stdout, "\t".join(safe) + "\n")
            return
        from memtui.engine import now_ms

        now = now_ms()
        shown = [
            [
                visible(_shown(column, cell, now), ascii_tokens=self.ascii_only, secrets=True)
                for column, cell in zip(columns, row, strict=True)
            ]
            for row in rows
        ]
        if not shown:
            return
        widths = self._widths(columns, shown)
        last = max((index for index, width in enumerate(widths) if width), default=0)
        titles = self._aligned(columns, [column.title for column in columns], widths)
        self._write(self._stdout, self._styled(titles, "head") + "\n")
        for line in shown:
            rest: list[str] = []
            if columns[last].wraps and widths[last]:
                line[last], *rest = wrapped(line[last], widths[last]) or [""]
            self._write(self._stdout, self._aligned(columns, line, widths) + "\n")
            for more in rest:
                below = [more if index == last else "" for index in range(len(line))]
                self._write(self._stdout, self._aligned(columns, below, widths) + "\n")

    def _masked(self, rows: Iterable[Sequence[Cell]]) -> list[Sequence[Cell]]:
        """Mask secrets in all cells in one pass, which is faster than cell by cell."""
        found = list(rows)
        texts = {cell for row in found for cell in row if isinstance(cell, str) and len(cell) > 7 and not _is_sha(cell)}
        if self.secrets or not texts:
            return found
        from memtui.mask import with_secrets

        masked: dict[Cell, Cell] = {text: one.text for text, one in with_secrets(list(texts)).items()}
        return [[masked.get(cell, cell) for cell in row] for row in found] if masked else found

    def _aligned(self, columns: Sequence[Column], line: Sequence[str], widths: Sequence[int]) -> str:
        parts = []
        for column, text, cells in zip(columns, line, widths, strict=True):
            if cells:
                cut = one_line(text, cells, ascii_tokens=self.ascii_only, secrets=True)
                if column.names and cell_width(cut) == cells < cell_width(text):
                    end = end_of(text[len(text.rpartition("/")[0]) :], cells * 3 // 4)
                    cut = one_line(text, cells - cell_width(end), ascii_tokens=self.ascii_only, secrets=True) + end
                filling = " " * (cells - cell_width(cut))
                parts.append(filling + cut if column.kind in ("number", "count", "size", "age") else cut + filling)
        return "  ".join(parts).rstrip()

    def _widths(self, columns: Sequence[Column], shown: list[list[str]]) -> list[int]:
        """Return the width of each column; 0 leaves it out."""
        widths = []
        for index, column in enumerate(columns):
            widest = max(cell_width(row[index]) for row in shown)
            widths.append(max(widest, len(column.title)) if widest else 0)
        wanted = list(widths)
        names = [index for index, column in enumerate(columns) if column.flexible and column.names]
        others = [index for index, column in enumerate(columns) if column.flexible and not column.names]
        optional = [index for index, column in enumerate(columns) if column.optional and widths[index]]

        def over() -> int:
            return sum(width + 2 for width in widths if width) - 2 - self.columns

        def shrink(some: list[int], least: int) -> None:
            for index in some:
                widths[index] -= max(0, min(over(), widths[index] - least))

        shrink(others, 24)
        while optional and over() > 0:
            widths[optional.pop()] = 0
        shrink(names, 40)  # what somebody may want to copy stays whole for long
        shrink(others, 10)
        shrink(names, 10)
        for index in (*names, *others):
            widths[index] += max(0, min(-over(), wanted[index] - widths[index]))
        return widths

    def _write(self, stream: TextIO, text: str) -> None:
        try:
            stream.write(text)
        except UnicodeEncodeError:
            stream.write(text.encode(stream.encoding, "backslashreplace").decode(stream.encoding))
        except OSError as error:
            raise self._lost(error) from None

    def _lost(self, error: OSError) -> OSError | StorageError:
        """Turn a failed write into a StorageError; a broken pipe stays what it is."""
        self._hang_up()
        if isinstance(error, BrokenPipeError):
            return error
        return StorageError(f"The output cannot be written: {error.strerror}.", unharmed="", hint="Free some space.")

    def _status(self, text: str) -> None:
        """Replace the status line on stderr."""
        self._write(self._stderr, f"\r{self._safe(text)}\x1b[K")
        self._stderr.flush()

    def _hang_up(self) -> None:
        """Point stdout at the null device, so that Python's last flush is quiet too."""
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, self._stdout.fileno())
        os.close(null)


def without_secrets(answer: Json) -> Json:
    """Mask the secrets in every text of a JSON object, and count them in `masked` unless it has that field."""
    from memtui import mask

    texts = dict.fromkeys(_texts(answer))
    found = mask.with_secrets([text for text in texts if len(text) >= mask.SHORTEST and not _is_sha(text)])
    if not found and not any(mask.BEGIN in text for text in texts):
        return answer
    counted = [0]

    def masked(value: object) -> object:
        if isinstance(value, str):
            value = found[value].text if value in found else value
            counted[0] += value.count(mask.BEGIN)
            return value
        if isinstance(value, dict):
            return {masked(key): masked(each) for key, each in value.items()}
        return [masked(each) for each in value] if isinstance(value, list | tuple) else value

    shown: Json = {str(masked(key)): masked(value) for key, value in answer.items()}
    return {"masked": counted[0], **shown}


def _is_sha(text: str) -> bool:
    return len(text) == 64 and text.isascii() and text.isalnum()


def _texts(value: object) -> Iterator[str]:
    """Yield every text in a JSON value, names of fields included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield str(key)
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)


def standard(*, json: bool) -> Output:
    """Return the output on the process's own streams."""
    if sys.stdin is None or sys.stdout is None or sys.stderr is None:
        _fill_closed_streams()
    return Output(json=json, stdout=sys.stdout or _nowhere(1), stderr=sys.stderr or _nowhere(2))


def _fill_closed_streams() -> None:
    """Open the null device for closed standard streams, so that no other file takes their numbers."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:  # each takes the lowest number that is free
        os.set_inheritable(number, True)  # noqa: FBT003 - it takes no names
    os.close(number)


def _nowhere(number: int) -> TextIO:
    return open(number, "w", encoding="utf-8", closefd=False)


def _plain(column: Column, cell: Cell) -> str:
    if cell is None:
        return ""
    if column.kind == "age" and isinstance(cell, int):
        return rfc3339(cell)
    return str(cell)


def _shown(column: Column, cell: Cell, now: int) -> str:
    if cell is None:
        return ""
    if isinstance(cell, int):
        if column.kind == "age":
            return age(cell, now)
        if column.kind == "size":
            return size(cell)
        return f"{cell:,}" if cell or column.kind != "count" else ""
    return cell[:12] if column.kind == "sha" else cell


def size(count: int) -> str:
    """Write a number of bytes, such as `812 B`, `3.4 KB`, `12 MB`."""
    if count < 1000:
        return f"{count} B"
    amount = float(count)
    for unit in ("KB", "MB", "GB"):
        amount /= 1024
        if amount < 999.5 or unit == "GB":
            return f"{amount:.1f} {unit}" if amount < 9.95 else f"{amount:,.0f} {unit}"
    raise AssertionError("unreachable")


def age(ms: int, now: int) -> str:
    """Write how long ago a time was, such as `12s`, `5m`, `3h`, `2d`, `6w`, `4y`, or `future`."""
    seconds = (now - ms) // 1000
    if seconds < -60:
        return "future"
    for limit, unit, length in (
        (60, "s", 1),
        (3_600, "m", 60),
        (86_400, "h", 3_600),
        (1_209_600, "d", 86_400),
        (63_072_000, "w", 604_800),
    ):
        if seconds < limit:
            return f"{max(seconds, 0) // length}{unit}"
    return f"{seconds // 31_536_000}y"


def count(number: int, one: str, many: str = "") -> str:
    """Write a number with its noun: `1 memory`, `3 memories`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def wrapped(text: str, width: int) -> list[str]:
    """Wrap a safe text between words at a number of cells; longer words stay whole."""
    lines, line, used = [], "", 0
    for word in text.split():
        cells = cell_width(word)
        if line and used + 1 + cells > width:
            lines.append(line)
            line, used = word, cells
        else:
            line, used = (f"{line} {word}", used + 1 + cells) if line else (word, cells)
    return [*lines, line] if line else lines
