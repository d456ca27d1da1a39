"""The JSON of entries has the promised names."""

from memtui.engine.model import Address, Snapshot
from memtui.features.entries.model import parse, usage
from memtui.features.entries.verbs import entries_json, entry_json

FILE = parse(b"# t u\nalpha\n\n\xff\n\n", "goose")
SNAPSHOT = Snapshot(Address("notes", "a.txt"), FILE.data, "0" * 64, 1)


def test_a_list_says_what_the_file_is() -> None:
    found = entries_json(SNAPSHOT, FILE, usage(FILE, 50))
    assert {key: value for key, value in found.items() if key != "items"} == {
        "truncated": False,
        "address": "notes/a.txt",
        "sha256": "0" * 64,
        "format": "goose",
        "characters": 16,
        "limit": 50,
        "notes": [],
    }
    items = found["items"]
    assert isinstance(items, list)
    assert [item["name"] for item in items] == [entry.name for entry in FILE.entries]


def test_an_entry_has_its_text_or_its_bytes() -> None:
    first = entry_json(SNAPSHOT, FILE.entries[0], FILE.text(FILE.entries[0]))
    assert (first["text"], first["tags"], first["line"], first["bytes"]) == ("# t u\nalpha", ["t", "u"], 1, 11)
    second = entry_json(SNAPSHOT, FILE.entries[1], FILE.text(FILE.entries[1]))
    assert (second["text"], second["base64"], second["number"], second["title"]) == (None, "/w==", 2, "\ufffd")
