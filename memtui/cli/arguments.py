"""Parse a command line by the verb table alone.

Written by hand because importing argparse costs a one-shot command as much as its work, and because global options are
accepted before and after the verb.
"""

from collections.abc import Sequence
from typing import NamedTuple

from memtui.errors import UsageError
from memtui.features.table import NAMES, find, verbs
from memtui.wire.params import GLOBALS
from memtui.wire.verb import Arguments, Param, Value, Verb

_SHORT = {"-h": "--help", "-V": "--version"}
_HEX = frozenset("0123456789abcdef")


class Parsed(NamedTuple):
    """A parsed command line."""

    verb: Verb | None
    """None: no verb was given."""
    arguments: Arguments
    options: Arguments
    """The global options."""


def peek_json(words: Sequence[str]) -> bool:
    """Whether JSON is asked for, before anything else is parsed, so that a usage error can be JSON too."""
    return "--json" in (words[: words.index("--")] if "--" in words else words)


def parse(words: Sequence[str]) -> Parsed:
    """Parse what follows the program's name; anything unknown, missing or malformed is a `UsageError`."""
    verb: Verb | None = None
    places: list[str] = []
    values: dict[str, Value] = {}
    options: dict[str, Value] = {}
    rest = list(words)
    rest.reverse()
    while rest:
        word = rest.pop()
        if word == "--":
            while rest:
                places.append(rest.pop())
        elif word.startswith("-") and word != "-":
            name, equals, inline = word.partition("=")
            param, target = _option(_SHORT.get(name, name), verb, values, options)
            _take(param, target, name, inline if equals else None, rest)
        elif verb is None:
            verb = find(word) or unknown_verb(word)
        else:
            places.append(word)
    if verb is None and places:
        verb = find(places[0]) or unknown_verb(places[0])
        del places[0]
    if verb is not None and "help" not in options:
        _place(verb, places, values)
        _complete(verb, values)
    return Parsed(verb, Arguments(values), Arguments(options))


def _option(
    name: str, verb: Verb | None, values: dict[str, Value], options: dict[str, Value]
) -> tuple[Param, dict[str, Value]]:
    if verb is not None:
        for param in verb.params:
            if param.name == name:
                return param, values
    for param in GLOBALS:
        if param.name == name:
            return param, options
    known = [param.name for param in (*(verb.options if verb else ()), *GLOBALS)]
    if verb is None:
        owners = [each.name for each in verbs() if any(param.name == name for param in each.options)]
        if owners:
            raise UsageError(f"{name} is an option of {_either(owners)}.", hint=f"Write memtui {owners[0]} {name}.")
    where = f"memtui {verb.name}" if verb else "memtui"
    raise UsageError(f"{where} has no option {name}.", hint=_meant(name, known) or f"{where} --help lists them.")


def _take(param: Param, target: dict[str, Value], name: str, inline: str | None, rest: list[str]) -> None:
    if param.kind == "flag":
        if inline is not None:
            raise UsageError(f"{name} takes no value.")
        target[param.key] = True
        return
    if inline is None:
        if not rest or (rest[-1].startswith("-") and rest[-1] != "-"):
            raise UsageError(f"{name} needs a value: {param.value_name}.")
        inline = rest.pop()
    if param.many:
        earlier = target.get(param.key)
        target[param.key] = [*(earlier if isinstance(earlier, list) else ()), inline]
    elif param.key in target:
        raise UsageError(f"{name} is given twice.")
    else:
        target[param.key] = _checked(param, inline)


def _checked(param: Param, text: str) -> str | int:
    if param.choices and param.kind != "query" and text not in param.choices:
        takes = param.name if param.option else param.metavar or param.key.upper()
        raise UsageError(f"{takes} takes {_either(param.choices)}, not {text!r}.", hint=_meant(text, param.choices))
    if param.kind in ("number", "count"):
        least = 0 if param.kind == "count" else 1
        if not (text.isascii() and text.isdigit() and least <= int(text[:10]) < 1_000_000_000):
            raise UsageError(f"{text!r} is not a number from {least} up.", hint="Write a number such as 10.")
        return int(text)
    if param.kind in ("sha", "expect"):
        return _sha(text, whole=param.kind == "expect")
    return text


def _sha(text: str, *, whole: bool) -> str:
    lowered = text.lower()
    if (whole and lowered == "absent") or (
        (len(lowered) == 64 or (not whole and 6 <= len(lowered) < 64)) and _HEX.issuperset(lowered)
    ):
        return lowered
    raise UsageError(
        f"{text!r} is not a version.",
        hint="Give all 64 digits that `memtui view --json` shows, or `absent`."
        if whole
        else "A version is the sha-256 that `memtui history` shows, or at least its first 6 digits.",
    )


def _place(verb: Verb, places: list[str], values: dict[str, Value]) -> None:
    remaining = list(places)
    for number, param in enumerate(verb.positionals):
        if param.many:
            behind = len(verb.positionals) - number - 1  # what follows takes the last words, one each
            taken = remaining[: max(len(remaining) - behind, 0)] or remaining[:1]
            if taken:
                values[param.key] = taken
                del remaining[: len(taken)]
        elif remaining:
            values[param.key] = _checked(param, remaining.pop(0))
    if remaining:
        raise UsageError(f"memtui {verb.name} takes no {remaining[0]!r}.", hint=f"Usage: memtui {verb.usage}")


def _complete(verb: Verb, values: dict[str, Value]) -> None:
    for param in verb.params:
        if param.required and param.key not in values:
            missing = param.name if param.option else param.value_name
            raise UsageError(f"memtui {verb.name} needs {missing}.", hint=f"Usage: memtui {verb.usage}")


def unknown_verb(word: str) -> Verb:
    """Raise a `UsageError` for a word that is no verb, suggesting the nearest ones."""
    meant = _meant(word, NAMES)
    if not meant and "/" in word:
        meant = f"To read a memory, write memtui view {word}."
    raise UsageError(f"memtui has no verb {word!r}.", hint=meant or "memtui --help lists the verbs.")


def _meant(word: str, known: Sequence[str]) -> str:
    """Suggest the known words that it may be a slip for."""
    from memtui.matching import slips

    close = slips(word, known)
    return f"Did you mean {_either(close)}?" if close else ""


def _either(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
