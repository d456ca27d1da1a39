"""The demonstration's worker: it answers as a model would, from a few rules, and says that it is none.

`python -I memtui/demo/worker.py SECONDS` reads a prompt on standard input, takes so long for a task, and prints a
reply. It is apart because it is run by its path, as a user's command is, and so imports nothing of memtui.
"""

import json
import os
import re
import sys
import time
from collections.abc import Iterator

MARK = "The demo's worker, a few rules and no model, suggests: "
"""How the reason of all its suggestions begins."""
SECONDS = 3
_PARTS = 4
"""Prompts of a dream in the demonstration, one for each root."""
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]")
_SHARED = 3
"""Long words that a memory and a request share when they are about the same."""


def reply(asked: dict[str, list[dict[str, str]] | list[str] | str]) -> Iterator[dict[str, object]]:
    """Suggest changes for the object of a prompt."""
    memories = [one for one in asked["memories"] if isinstance(one, dict)]
    if request := asked.get("request"):
        yield _remembered(str(request), [one for one in memories if "text" in one])
    elif "turns" in asked:
        yield from _heard([one for one in asked["turns"] if isinstance(one, dict)])
    else:
        yield from _tidied(memories, " ".join(map(str, asked.get("notes", ()))))


def _remembered(request: str, memories: list[dict[str, str]]) -> dict[str, object]:
    words = set(re.findall(r"\w{5,}", request.lower()))
    shared = [(len(words & set(re.findall(r"\w{5,}", one["text"].lower()))), one) for one in memories]
    most, about = max(shared, key=lambda one: one[0], default=(0, {}))
    if most >= _SHARED:
        text = f"{about['text']}\n\n{request}"
        return _operation("replace", [about["id"]], text=text, reason="the same is spoken of there.")
    name = "-".join(re.findall("[a-z0-9]+", request.lower())[:5])
    return _operation("add", [], name=name or "noted", text=request, reason="no memory speaks of it.")


def _heard(turns: list[dict[str, str]]) -> Iterator[dict[str, object]]:
    for turn in turns:
        for said in _SENTENCE.findall(turn["text"]) if turn["from"] == "user" else ():
            fact, because, why = said.strip().partition(", because ")
            if because:
                quoted = [{"turn": turn["id"], "quote": fact}]
                name = "-".join(re.findall("[a-z0-9]+", fact.lower())[:5])
                reason = "you gave a reason, so it is worth keeping."
                yield _operation(
                    *("add", []), type="project", name=name, text=f"{fact}.", why=why, reason=reason, evidence=quoted
                )


def _tidied(memories: list[dict[str, str]], notes: str) -> Iterator[dict[str, object]]:
    """Suggest one of two similar memories, too short, as a hasty model would; and missing descriptions."""
    if " in common" in notes and all("text" in one for one in memories[:2]):
        short = _SENTENCE.findall(memories[0]["text"])[:1]
        targets = [one["id"] for one in memories[:2]]
        yield _operation("merge", targets, text="".join(short), reason="both say the same, and this is the gist.")
    for one in memories if "no description" not in notes else ():
        first = re.match(r"[\w ,'\u2019-]{12,}", one.get("text", ""))
        if not one["description"] and first:
            yield _operation("describe", [one["id"]], description=first[0].strip(), reason="nothing described it.")


def _operation(op: str, targets: list[str], *, reason: str, **said: object) -> dict[str, object]:
    empty = dict.fromkeys(("type", "scope", "name", "description", "text", "why", "how_to_apply"), "")
    return {"op": op, "targets": targets, **empty, "evidence": [], "confidence": 0.5, "reason": MARK + reason} | said


if __name__ == "__main__":
    given = sys.stdin.read()
    work = json.loads(given[given.index("\n{") :])
    time.sleep(float(sys.argv[1]) / (1 if "request" in work or "turns" in work else _PARTS))
    answer = {"summary": "The demo's worker answered.", "operations": list(reply(work))}
    os.write(1, json.dumps(answer).encode())
