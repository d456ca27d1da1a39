"""Engine values as JSON: the field names are a contract."""

import base64
import hashlib
import json

from memtui.engine.model import (
    Address,
    AuditRecord,
    Change,
    Changes,
    Conflict,
    Done,
    Finding,
    Health,
    Hit,
    Memory,
    Notice,
    Outcome,
    Problem,
    Root,
    RootStatus,
    Saved,
    Snapshot,
    TrashEntry,
    Unchanged,
    Version,
)
from memtui.errors import RefusedError
from memtui.wire import values

A = Address("memtui:global", "style/a.md")
B = Address("memtui:global", "b.md")
TIME = 1_767_225_600_000
ISO = "2026-01-01T00:00:00.000Z"
SHA = "0" * 64
ROW = Memory(A, "global", "memtui", 12, TIME, SHA, "What it says", pinned=True, uses=3, heat=1.23456, unseen=True)


def test_a_memory_row_has_the_promised_fields() -> None:
    promised = (
        "address, scope, agent, root, path, bytes, modified_at, sha256, description, pinned, uses, last_used_at, "
        "last_written_at, unseen, actor, version, problems"
    )
    row = values.memory(ROW._replace(problems=(Problem("E_TEXT", "Not UTF-8."),), last_used_at=TIME))
    assert set(promised.split(", ")) <= row.keys()
    assert (row["address"], row["root"], row["path"]) == ("memtui:global/style/a.md", "memtui:global", "style/a.md")
    assert (row["modified_at"], row["last_used_at"], row["last_written_at"]) == (ISO, ISO, None)
    assert row["problems"] == [{"code": "E_TEXT", "text": "Not UTF-8."}]


def test_a_version_has_the_promised_fields() -> None:
    assert values.version(Version(SHA, 5, "cli", TIME, "modified", redacted=True, note="why")) == {
        "sha256": SHA,
        "bytes": 5,
        "actor": "cli",
        "at": ISO,
        "operation": "modified",
        "redacted": True,
        "note": "why",
    }


def test_a_change_has_the_promised_fields() -> None:
    assert values.change(Change(A, "renamed", "outside", SHA, None, TIME, B)) == {
        "address": str(A),
        "kind": "renamed",
        "actor": "outside",
        "before": SHA,
        "after": None,
        "at": ISO,
        "old_address": str(B),
    }


def test_a_root_has_the_promised_fields() -> None:
    status = RootStatus(
        Root("memtui:global", "/x", label="here"),
        exists=True,
        writable=False,
        accepted=True,
        files=2,
        bytes=30,
        truncated=False,
        problems=(),
    )
    promised = "id, agent, scope, label, path, files, bytes, writable, problems"
    assert set(promised.split(", ")) <= values.root(status).keys()


def test_a_batch_holds_everything_one_quiet_period_brought() -> None:
    notice = Notice("late-write", "Late.", A, SHA, None, SHA, TIME)
    batch = Changes((), frozenset((A, B)), frozenset(("r",)), (notice,), Health("polling", "no inotify"))
    answer = values.changes(batch)
    assert list(answer) == ["changes", "touched", "roots", "notices", "health"]
    assert answer["touched"] == [str(B), str(A)]
    assert answer["health"] == {"state": "polling", "reason": "no inotify"}
    assert values.changes(Changes())["health"] is None
    assert json.loads(json.dumps(answer))["notices"][0]["theirs"] == SHA


def test_content_that_is_no_text_comes_as_base64() -> None:
    data = b"\xff\x00"
    snapshot = Snapshot(A, data, hashlib.sha256(data).hexdigest(), TIME)
    answer = values.content(snapshot)
    assert answer["text"] is None
    assert base64.b64decode(str(answer["base64"])) == data
    assert values.content(snapshot._replace(bytes="ä".encode()))["text"] == "ä"


def test_the_three_ends_of_a_guarded_save() -> None:
    assert values.result(Saved(A, SHA, None, "t"))["result"] == "saved"
    assert values.result(Unchanged(A, SHA)) == {"result": "unchanged", "address": str(A), "sha256": SHA}
    conflict = values.result(Conflict(A, None, SHA, SHA, "t"))
    assert (conflict["result"], conflict["current_sha256"], conflict["yours_sha256"]) == ("conflict", None, SHA)


def test_an_operation_names_each_memory_and_why_it_failed() -> None:
    refused = Outcome(B, None, RefusedError("No.", code="E_PROTECTED"))
    answer = values.done(Done("t", "rename", (Outcome(A, Saved(B, SHA, None, "t"), None, B), refused), "move 2"))
    good, bad = json.loads(json.dumps(answer))["items"]
    assert (good["address"], good["new_address"], good["ok"]) == (str(A), str(B), True)
    assert (bad["ok"], bad["error"]["code"]) == (False, "E_PROTECTED")


def test_hostile_names_survive_as_json() -> None:
    name = "\udcff\x1b[2J\u202e.md"
    text = json.dumps(values.memory(ROW._replace(address=Address("notes", name))))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert json.loads(text)["path"] == name


def test_the_rest_of_the_rows() -> None:
    assert values.audit(AuditRecord(1, "t", A, None, "cli", "create", None, SHA, TIME, "done"))["state"] == "done"
    assert values.trash(TrashEntry(A, SHA, 4, "cli", TIME, "t"))["at"] == ISO
    hit = Hit(ROW, "body", 4, "…it…", 7, ((1, 3),), 2)
    assert values.hit(hit)["match"] == {
        "field": "body",
        "line": 4,
        "snippet": "…it…",
        "column": 7,
        "marks": [[1, 3]],
        "places": 2,
    }
    assert "found_in" not in values.hit(hit)
    old = Version("0" * 64, 5, "cli", 0, "modified")
    assert values.hit(hit._replace(version=old))["found_in"] == values.version(old)
    assert values.finding(Finding("note", "clock", "Fine."))["advice"] == ""
    assert values.listing([{"a": 1}], truncated=True) == {"items": [{"a": 1}], "truncated": True}
