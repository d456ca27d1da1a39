"""One owner for each thing that must not be done in two places: files, SQL, the environment, the standard streams.

Every rule takes one source file and yields offences; what a rule lets pass by name is in its `Allowed` table, with the
reason, and an entry that no source needs any more is an offence itself.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from types import FunctionType

from tests.house.source import Offence, Source, dotted, imported_names

Allowed = Mapping[tuple[str, str], str]
"""(file, call) to the reason why that file may make that call; the call `*` is every one of this rule."""


def _calls(names: str) -> frozenset[str]:
    return frozenset("os." + name for name in names.split())


CHANGES_BY_NAME = _calls(
    "chflags chmod chown lchown link makedirs mkdir mkfifo mknod open remove removedirs rename renames "
    "replace rmdir symlink truncate unlink utime"
)
"""Calls that change a file system, or open the way to it."""

CHANGES_BY_HANDLE = _calls(
    "copy_file_range fchmod fchown fdatasync fdopen fsync ftruncate posix_fallocate pwrite pwritev "
    "sendfile splice write writev"
)

READS = _calls(
    "access fstat fwalk listdir lstat path.exists path.getmtime path.getsize path.isdir path.isfile "
    "path.islink path.lexists path.realpath path.samefile pread preadv read readlink readv scandir stat "
    "walk"
)

HARMLESS = frozenset({"shutil.get_terminal_size", "shutil.which"})

# Methods of `pathlib.Path`, looked for only in files that import it, because ours share some names.
WRITING_METHODS = frozenset({"write_text", "write_bytes", "touch", "symlink_to", "hardlink_to"})
PATH_METHODS = frozenset({"mkdir", "rmdir", "unlink"})
READING_METHODS = frozenset({"read_text", "read_bytes", "iterdir", "rglob"})

ENVIRONMENT = ("os.environ", "os.environb", "os.getenv", "os.getenvb", "os.putenv", "os.unsetenv", "os.path.expanduser")
ENVIRONMENT_TOO = ("os.path.expandvars", "pathlib.Path.home", "Path.home")
STREAMS = ("sys.stdout", "sys.stderr", "sys.__stdout__", "sys.__stderr__")
CLOCKS = (
    "time.time",
    "time.time_ns",
    "datetime.datetime.now",
    "datetime.datetime.utcnow",
    "datetime.date.today",
)
SCREENS = ("ui", "workbench")
"""Rooms that draw: they read no file."""

DATABASES = frozenset({"apsw", "sqlite3", "aiosqlite", "psycopg"})

SQL = re.compile(
    r"^\s*(SELECT\s.+|INSERT\s+(OR\s|INTO\s).*|REPLACE\s+INTO\s.*|UPDATE\s+\w+\s+SET\s.*|DELETE\s+FROM\s.*|PRAGMA\s.*"
    r"|WITH\s+\w+\s+AS\s.*|(CREATE|DROP|ALTER)\s+(UNIQUE\s+|TEMP\s+|VIRTUAL\s+)*(TABLE|INDEX|TRIGGER|VIEW)\s.*"
    r"|BEGIN(\s+(IMMEDIATE|EXCLUSIVE|DEFERRED))?;?\s*|(COMMIT|ROLLBACK|VACUUM);?\s*)",
    re.DOTALL,
)


def file_calls(source: Source) -> Iterator[tuple[str, int]]:
    """Every call by which this file touches the file system itself, with its line."""
    bound = imported_names(source.tree)
    inside = source.room == "engine"
    watched = CHANGES_BY_NAME | (CHANGES_BY_HANDLE if inside else frozenset())
    if inside or source.room in SCREENS:
        watched |= READS
    methods = WRITING_METHODS | PATH_METHODS | (READING_METHODS if inside or source.room in SCREENS else frozenset())
    if not any(name.partition(".")[0] == "pathlib" for name in bound.values()):
        methods = frozenset()
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Call):
            continue
        name = dotted(node.func, bound)
        if name in watched or (name.startswith(("shutil.", "tempfile.")) and name not in HARMLESS):
            yield name, node.lineno
        elif name in ("open", "io.open", "io.FileIO", "codecs.open") or name.endswith("Path.open"):
            if inside or source.room in SCREENS or _may_write(node):
                yield name, node.lineno
        elif isinstance(node.func, ast.Attribute) and node.func.attr in methods:
            owner = dotted(node.func.value, bound)
            if owner.split(".")[-1] not in ("fsio", "os", "path"):
                yield f"*.{node.func.attr}", node.lineno


def _may_write(call: ast.Call) -> bool:
    """Whether an `open` call may write: its mode is not a plain literal without w, a, x or +."""
    modes = [*call.args[1:2], *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
    return any(not isinstance(mode, ast.Constant) or set("wax+") & set(str(mode.value)) for mode in modes)


def sql_uses(source: Source) -> Iterator[tuple[str, int]]:
    """Every SQL statement and every import of a database library, with its line."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL.match(node.value):
            yield "SQL", node.lineno
        elif isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names if alias.name.split(".")[0] in DATABASES)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in DATABASES:
            yield node.module or "", node.lineno


def environment_reads(source: Source) -> Iterator[tuple[str, int]]:
    """Every look at the environment or the user's home, with its line."""
    bound = imported_names(source.tree)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute | ast.Name):
            name = dotted(node, bound)
            if name in ENVIRONMENT or name in ENVIRONMENT_TOO:
                yield name, node.lineno


def stream_uses(source: Source) -> Iterator[tuple[str, int]]:
    """Every `print` and every hold of a standard output stream, with its line."""
    bound = imported_names(source.tree)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and dotted(node.func, bound) in ("print", "builtins.print"):
            yield "print", node.lineno
        elif isinstance(node, ast.Attribute | ast.Name) and dotted(node, bound) in STREAMS:
            yield dotted(node, bound), node.lineno


def clock_reads(source: Source) -> Iterator[tuple[str, int]]:
    """Every look at the wall clock below the fronts, with its line; waiting and measuring use the monotonic one."""
    if source.room in ("cli", *SCREENS):
        return
    bound = imported_names(source.tree)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute | ast.Name) and dotted(node, bound) in CLOCKS:
            yield dotted(node, bound), node.lineno


def textual_privates(source: Source) -> Iterator[tuple[str, int]]:
    """Every import, override and use of a private part of Textual, with its line."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = getattr(node, "module", None) or ""
            paths = [f"{module}.{alias.name}".strip(".").split(".") for alias in node.names]
            yield from ((".".join(one), node.lineno) for one in paths if one[0] == "textual" and _private(one))
        elif isinstance(node, ast.ClassDef) and node.bases and source.room in SCREENS:
            yield from _privates_in(node)


def _private(path: list[str]) -> bool:
    return any(part.startswith("_") and not part.startswith("__") for part in path)


def _privates_in(node: ast.ClassDef) -> Iterator[tuple[str, int]]:
    """What a class that stands on another overrides or uses of Textual's, but for fields it gives itself."""
    inside = list(ast.walk(node))
    fields = {
        one.attr
        for one in inside
        if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store) and ast.unparse(one.value) == "self"
    }
    fields |= {
        one.target.id for one in node.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
    }
    for one in inside:
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and one.name in _textual_privates():
            yield one.name, one.lineno
        elif isinstance(one, ast.Attribute) and one.attr in _textual_privates() - fields:
            yield one.attr, one.lineno


@cache
def _textual_privates() -> frozenset[str]:
    """The private methods and properties of what our screens and widgets are made of, and of what they hold."""
    from textual.app import App
    from textual.document._wrapped_document import WrappedDocument
    from textual.screen import ModalScreen
    from textual.scroll_view import ScrollView
    from textual.widgets import Input, TextArea

    kinds = (App, ModalScreen, ScrollView, Input, TextArea)
    found = {name for kind in kinds for name in dir(kind)}
    for kind in (*kinds, WrappedDocument):
        made = [vars(above).get("__init__") for above in kind.__mro__]
        found |= {name for one in made if isinstance(one, FunctionType) for name in one.__code__.co_names}
    return frozenset(name for name in found if name.startswith("_") and not name.startswith("__"))


def offences(
    rule: str, uses: Iterator[tuple[str, int]], source: Source, owners: tuple[str, ...], allowed: Allowed
) -> Iterator[Offence]:
    """Turn uses into offences, unless the file owns the thing or the table lets this one pass."""
    if source.name.startswith(owners):
        return
    for name, line in uses:
        if (source.name, name) not in allowed and (source.name, "*") not in allowed:
            yield Offence(source.name, line, f"{name}: {rule}")


def stale(seen: set[tuple[str, str]], allowed: Allowed) -> list[str]:
    """The entries of a table that no source needs."""
    needed = seen | {(name, "*") for name, _ in seen}
    return [f"{name}: {call} is allowed but not used" for name, call in allowed if (name, call) not in needed]


def long_docstring(source: Source, limit: int) -> Iterator[Offence]:
    """A module says what it owns and which mistake it prevents, in a few lines."""
    text = ast.get_docstring(source.tree)
    if text is None:
        if source.tree.body:
            yield Offence(source.name, 1, "the module has no docstring")
    elif (lines := len([line for line in text.splitlines() if line.strip()])) > limit:
        yield Offence(source.name, 1, f"the module's docstring has {lines} lines, {limit} at most")


def undocumented(source: Source) -> Iterator[Offence]:
    """Public functions, methods and classes say in one sentence what they do."""
    for node in _public(source.tree):
        text = ast.get_docstring(node)
        if not text:
            yield Offence(source.name, node.lineno, f"{node.name} has no docstring")
        elif not text.splitlines()[0].rstrip().endswith((".", ":", "!", "?")):
            yield Offence(source.name, node.lineno, f"the first line of {node.name}'s docstring is not one sentence")


def _public(
    scope: ast.Module | ast.ClassDef,
) -> Iterator[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in scope.body:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) or node.name.startswith("_"):
            continue
        decorators = {ast.unparse(item).rpartition(".")[2] for item in getattr(node, "decorator_list", [])}
        if decorators & {"override", "overload", "setter"}:
            continue
        yield node
        if isinstance(node, ast.ClassDef):
            yield from _public(node)
