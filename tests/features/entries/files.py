"""Files of entries for tests: real ones as each agent writes them, and strange ones."""

GOOSE = b"# python style\nUse ruff.\n\nNo tags here.\n\n# api\nStreams,\nnot strings.\n\n"
HERMES = "Ann uses zsh.\n§\nTests run with pytest -q.\nTwo lines.\n§\nPrefers § signs.".encode()
CODEX = (
    b"# Task Group: shop / checkout\nscope: the shop\n\n## Task 1: taxes\n\n- `# not a heading` in code\n\n"
    b"```\n# not a heading\n```\n\n# Task Group: shop / search\nscope: search\n\n## User preferences\n\n- short\n"
)
PLAIN = b"---\ndescription: Shop\n---\n\nFirst block.\n\n```sh\nmake\n\nmake test\n```\n\nLast block.\n"

NOTES = b"## 2026-11-20T10:00:00.000Z error #db\n\nThe pool dies.\n\n## 2026-11-21T10:00:00.000Z decision\n\nThree.\n"
REMEMBERED = b"# Team\n\n## Remembered\n\n- Deploys go\n  through staging.\n* Tea.\n\n## Others\n\n- none\n"
DIVIDED = ("goose", "hermes", "codex", "plain", "notes")
"""Formats in which nearly all of a file is entries."""
REAL = {"goose": GOOSE, "hermes": HERMES, "codex": CODEX, "plain": PLAIN, "notes": NOTES, "remembered": REMEMBERED}
"""A file of each format."""

ENTRIES = {"goose": 3, "hermes": 3, "codex": 2, "plain": 3, "notes": 2, "remembered": 2}
"""How many entries each of them has."""

NEW = {
    "goose": b"# new\nOne more.",
    "hermes": b"One more.",
    "codex": b"# Task Group: new\nx",
    "plain": b"One more.",
    "notes": b"## 2026-11-23T10:00:00.000Z note\n\nOne more.",
    "remembered": b"- One more.",
}
"""A text that is one entry in each format."""
