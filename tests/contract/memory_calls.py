"""Calls of the memory tool and what each must answer, whichever front they come through.

`{d}` is a folder of the case's own, such as `/memories/global/case07`, so that one world serves all cases. A front is a
name and a way to open it on a world; `FRONTS` in `test_memory_tool.py` lists them.
"""

from typing import NamedTuple

from memtui.memory_tool.call import Result

Call = dict[str, object]


class Case(NamedTuple):
    """One call, after some others."""

    name: str
    call: Call
    ok: bool
    text: str
    before: tuple[Call, ...] = ()
    verbs: bool = True
    """Whether the verbs of the command line do the same."""


def view(path: str, **fields: object) -> Call:
    """A call."""
    return {"command": "view", "path": path, **fields}


def create(path: str, text: str = "one\ntwo\n", **fields: object) -> Call:
    """A call."""
    return {"command": "create", "path": path, "file_text": text, **fields}


def str_replace(path: str, old: str, new: str | None = None) -> Call:
    """A call."""
    return {"command": "str_replace", "path": path, "old_str": old, "new_str": new}


def insert(path: str, line: int, text: str) -> Call:
    """A call."""
    return {"command": "insert", "path": path, "insert_line": line, "insert_text": text}


def delete(path: str) -> Call:
    """A call."""
    return {"command": "delete", "path": path}


def rename(old: str, new: str) -> Call:
    """A call."""
    return {"command": "rename", "old_path": old, "new_path": new}


A, B = "{d}/a.md", "{d}/b.md"
MADE = (create(A),)
TREE = (create(A), create("{d}/sub/b.md"), create("{d}/sub/deep/c.md"))


def done(name: str, call: Call, text: str, *before: Call, verbs: bool = True) -> Case:
    """A call that succeeds."""
    return Case(name, call, ok=True, text=text, before=before, verbs=verbs)


def refused(name: str, call: Call, text: str, *before: Call, verbs: bool = True) -> Case:
    """A call that fails."""
    return Case(name, call, ok=False, text=text, before=before, verbs=verbs)


def invalid(path: str, reason: str) -> Case:
    """A path that no command takes."""
    return refused(f"path-{path!r}", view(path), f"Invalid memory path '{path}': {reason}", verbs=False)


ONCE = "Provide a longer, unique old_str."
REPLACE = "To overwrite a file, delete it first, then create it."

CASES = [
    done("create", create(A), f"Created {A}"),
    done("create-deep", create("{d}/x/y/z.md"), "Created {d}/x/y/z.md"),
    done("create-empty", create(A, ""), f"Created {A}"),
    done("create-trimmed", create(f"  {A}/ "), f"Created {A}", verbs=False),
    done("create-alias", {"command": "create", "file_path": A, "content": "x"}, f"Created {A}", verbs=False),
    refused("create-taken", create(A, "other"), f"A file already exists at {A}. {REPLACE}", *MADE),
    refused("create-same", create(A), f"A file already exists at {A}. {REPLACE}", *MADE, verbs=False),
    refused("create-on-folder", create("{d}/sub"), "A directory already exists at {d}/sub. " + REPLACE, *TREE),
    refused(
        "create-below-file",
        create(f"{A}/b.md"),
        f"Cannot create {A}/b.md: part of its path is a file, not a directory",
        *MADE,
    ),
    refused(
        "create-too-big",
        create(A, "x" * 102_401),
        "Memory files are limited to 102400 bytes (got 102401); split the content into smaller files",
    ),
    done("create-just-fits", create(A, "é" * 51_200), f"Created {A}"),
    refused(
        "create-clash",
        create("{d}/A.md"),
        "A name that differs from {d}/A.md only by upper and lower case or in its Unicode form exists already;"
        " use that name or another",
        *MADE,
    ),
    refused(
        "create-device",
        create("{d}/con.md"),
        "Invalid memory path '{d}/con.md': Windows reserves this name for a device",
    ),
    refused("create-needs", {"command": "create", "path": A}, "create requires 'path' and 'file_text'", verbs=False),
    refused(
        "create-scope",
        create("/memories/global"),
        "'/memories/global' is a directory; this command requires a file path under /memories/<scope>/",
        verbs=False,
    ),
    done("view", view(A), "1\tone\n2\ttwo\n3\t", *MADE),
    done("view-empty", view(A), "", create(A, "")),
    done("view-window", view(A, offset=2, limit=1), "2\ttwo", *MADE, verbs=False),
    done("view-range", view(A, view_range=[2, -1]), "2\ttwo\n3\t", *MADE, verbs=False),
    done("view-crlf", view(A), "1\tone\r\n2\ttwo", create(A, "one\r\ntwo")),
    done("view-folder", view("{d}"), "Directory: {d}\n- a.md\n- sub/\n  - b.md\n  - deep/", *TREE, verbs=False),
    done("view-folder-slash", view("{d}/sub/"), "Directory: {d}/sub\n- b.md\n- deep/\n  - c.md", *TREE, verbs=False),
    refused("view-gone", view(A), f"No memory file or directory at {A}"),
    refused("view-needs", {"command": "view", "path": None}, "view requires 'path'", verbs=False),
    refused("view-beyond", view(A, offset=4), "offset 4 is beyond the end of the file (3 lines)", *MADE, verbs=False),
    refused("view-negative", view(A, offset=-1), "offset must be positive (got -1)", *MADE, verbs=False),
    done("str_replace", str_replace(A, "two", "2"), f"Edited {A}", *MADE),
    done("str_replace-delete", str_replace(A, "two\n"), f"Edited {A}", *MADE),
    done("str_replace-literal", str_replace(A, "two", "$& \\1 $1"), f"Edited {A}", *MADE),
    refused("str_replace-empty", str_replace(A, ""), "old_str must not be empty", *MADE),
    refused(
        "str_replace-none",
        str_replace(A, "three"),
        f"No replacement was performed: old_str was not found in {A}",
        *MADE,
    ),
    refused(
        "str_replace-many",
        str_replace(A, "o"),
        f"No replacement was performed: old_str matches 2 locations (lines 1, 2) in {A}. {ONCE}",
        *MADE,
    ),
    refused(
        "str_replace-overlap",
        str_replace(A, "aa"),
        f"No replacement was performed: old_str matches 2 locations (lines 1) in {A}. {ONCE}",
        create(A, "aaa"),
    ),
    refused("str_replace-gone", str_replace(A, "x"), f"No memory file at {A}"),
    refused("str_replace-folder", str_replace("{d}/sub", "x"), "{d}/sub is a directory, not a file", *TREE),
    refused(
        "str_replace-too-big",
        str_replace(A, "two", "x" * 102_400),
        "Memory files are limited to 102400 bytes (got 102405); split the content into smaller files",
        *MADE,
    ),
    done("insert", insert(A, 1, "mid"), f"Inserted 1 line(s) into {A} after line 1", *MADE),
    done("insert-top", insert(A, 0, "a\nb\n"), f"Inserted 2 line(s) into {A} after line 0", *MADE),
    done("insert-nothing", insert(A, 1, ""), f"Inserted 0 line(s) into {A} after line 1", *MADE),
    refused(
        "insert-beyond",
        insert(A, 4, "x"),
        "insert_line must be between 0 and 3 (0 inserts at the top; N inserts after line N)",
        *MADE,
    ),
    refused("insert-gone", insert(A, 0, "x"), f"No memory file at {A}"),
    refused(
        "insert-needs",
        {"command": "insert", "path": A, "insert_text": "x"},
        "insert requires 'path', 'insert_line' and 'insert_text'",
    ),
    done("delete", delete(A), f"Deleted {A}", *MADE),
    done("delete-folder", delete("{d}/sub"), "Deleted {d}/sub", *TREE),
    refused("delete-gone", delete(A), f"No memory file or directory at {A}"),
    refused(
        "delete-root",
        delete("/memories"),
        "'/memories' is a directory; this command requires a file path under /memories/<scope>/",
        verbs=False,
    ),
    done("rename", rename(A, "{d}/x/b.md"), f"Renamed {A} to {{d}}/x/b.md", *MADE),
    done("rename-folder", rename("{d}/sub", "{d}/new"), "Renamed {d}/sub to {d}/new", *TREE),
    done("rename-path", {"command": "rename", "path": A, "new_path": B}, f"Renamed {A} to {B}", *MADE, verbs=False),
    refused("rename-gone", rename(A, B), f"No memory file or directory at {A}"),
    refused("rename-taken", rename(A, B), f"Destination {B} already exists", create(A), create(B, "x")),
    refused("rename-folders", rename("{d}/sub", "{d}/x"), "Destination {d}/x already exists", *TREE, create("{d}/x/y")),
    refused("rename-itself", rename(A, A), f"Destination {A} already exists", *MADE),
    refused(
        "rename-inside",
        rename("{d}/sub", "{d}/sub/x"),
        "Cannot rename {d}/sub to {d}/sub/x: a directory cannot be moved inside itself",
        *TREE,
    ),
    refused(
        "rename-across",
        rename(A, "/memories/workspace/x.md"),
        "Cannot rename across memory scopes (global -> workspace); create the file in the target scope instead",
        *MADE,
        verbs=False,
    ),
    refused(
        "command",
        {"command": "frobnicate"},
        "Invalid arguments: 'command' must be one of view, create, str_replace, insert, delete, rename",
        verbs=False,
    ),
    invalid("/etc/passwd", "paths must start with /memories/ (e.g. /memories/global/notes.md)"),
    invalid("/memoriesX/a.md", "expected /memories/<scope>/..."),
    refused(
        "scope",
        view("/memories/team/a.md"),
        "Invalid memory scope 'team': expected one of global, project, workspace",
        verbs=False,
    ),
    invalid("/memories/global//a.md", "empty or '.' path segments are not allowed"),
    invalid("/memories/global/../../etc/passwd", "path traversal ('..') is not allowed"),
    invalid("/memories/global/~/.ssh/id", "'~' is not allowed in memory paths"),
    invalid("/memories/global/a\\b", "backslashes are not allowed (use '/')"),
    invalid("/memories/global/%2e%2e%2fx", "URL-encoded traversal sequences are not allowed"),
    invalid("/memories/global/a\x07b", "control characters are not allowed"),
    invalid("/memories/global/<a>", "'<', '>' and '\"' are not allowed in memory paths"),
    invalid("/memories/global/.env", "names that begin with '.' are hidden, and hidden files are not memories"),
]


def placed(call: Call, folder: str) -> Call:
    """A call in the folder of a case."""
    return {k: v.replace("{d}", folder) if isinstance(v, str) else v for k, v in call.items()}


def expected(case: Case, folder: str) -> Result:
    """The answer in the folder of a case."""
    return Result(case.ok, case.text.replace("{d}", folder))
