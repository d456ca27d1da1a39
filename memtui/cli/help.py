"""Help as text, and `docs/commands.md`, both written from the verb table; `python -m memtui.cli.help` prints the
page."""

from collections.abc import Iterable

from memtui.cli.arguments import unknown_verb
from memtui.features.table import GROUPS, find, verbs
from memtui.wire.outcomes import DONE, MEANING
from memtui.wire.output import Output, standard, wrapped
from memtui.wire.params import GLOBALS
from memtui.wire.verb import Param, Verb

_WIDTH = 100


def answer(verb: Verb | None, named: str | None, out: Output) -> int:
    """Print help for a verb, else the overview; `UsageError` when the named verb does not exist."""
    if named is not None:
        verb = find(named) or unknown_verb(named)
    text = overview() if verb is None or (verb.name == "help" and named is None) else verb_help(verb)
    if out.json:
        out.document({"help": text})
    else:
        out.text(text)
    return DONE


def overview() -> str:
    """Return the help of `memtui --help`."""
    lines = [
        "memtui: the keyboard workbench for every agent memory on this machine",
        "",
        "usage: memtui [options] [verb] [arguments]",
        "",
        "Without a verb it opens the workbench. `memtui VERB --help` explains one verb.",
    ]
    for group, title in GROUPS.items():
        lines += ["", title]
        lines += _two_columns((verb.name, verb.summary) for verb in verbs() if verb.group == group)
    lines += ["", "Options, before or after the verb"]
    lines += _two_columns((_option(param), param.explanation) for param in GLOBALS)
    lines += ["", "Examples"]
    lines += _examples(
        (
            ("memtui", "the workbench on everything found"),
            ("memtui demo", "the workbench on samples, with an agent that keeps writing"),
            ("memtui ls --unseen", "what agents changed since you looked"),
            ("memtui edit memtui:global/preferences.md", "in your editor; nobody's text is lost"),
        )
    )
    lines += ["", "Exit status"]
    lines += _two_columns((str(number), text) for number, text in MEANING.items())
    return "\n".join(lines) + "\n"


def verb_help(verb: Verb) -> str:
    """Return the help of `memtui VERB --help`."""
    lines = [*_usage(verb), "", f"{verb.summary}."]
    if verb.detail:
        lines += wrapped(verb.detail, _WIDTH)
    if verb.positionals:
        lines += ["", "Arguments", *_two_columns((param.value_name, param.explanation) for param in verb.positionals)]
    if verb.options:
        lines += ["", "Options", *_two_columns((_option(param), param.explanation) for param in verb.options)]
    lines += ["", "Examples", *_examples(verb.examples)]
    if verb.answer:
        lines += [
            "",
            "With --json",
            *(f"  {line}" for line in wrapped(verb.answer[0].upper() + verb.answer[1:], _WIDTH)),
        ]
    lines += ["", "`memtui --help` lists the options every verb takes."]
    return "\n".join(lines) + "\n"


def commands_page() -> str:
    """Return `docs/commands.md`."""
    lines = [
        "# Commands",
        "",
        "This page is written from the table of verbs (`python -m memtui.cli.help > docs/commands.md`).",
        "",
        "Bare `memtui` opens the workbench. All other verbs are plain commands: stdout is data, stderr is narration.",
        "With `--json` a command prints exactly one JSON document, also when it fails:",
        '`{"error": {"code", "message", "hint", "unharmed", …}}`. Lists are `{"items": [...], "truncated": bool}`.',
        "Times are RFC 3339 in UTC, hashes lower-case hex SHA-256 of the raw bytes, sizes bytes.",
        "",
        "Piped without `--json`, tables are tab separated, whole, and without a header. Control characters are shown",
        "as signs everywhere, except in what `view` pipes, which is the file's bytes.",
        "",
        "## Options every verb takes",
        "",
        "| option | does |",
        "| --- | --- |",
        *(f"| `{_cell(_option(param))}` | {_cell(param.explanation)} |" for param in GLOBALS),
        "",
        "## Exit status",
        "",
        "| status | means |",
        "| --- | --- |",
        *(f"| {number} | {text} |" for number, text in MEANING.items()),
    ]
    for group, title in GROUPS.items():
        lines += ["", f"## {title}"]
        for verb in verbs():
            if verb.group == group:
                lines += _section(verb)
    return "\n".join(lines) + "\n"


def _usage(verb: Verb) -> list[str]:
    first, *more = wrapped(verb.usage.replace(" ", "\0").replace("\0[", " [").replace("\0--", " --"), _WIDTH - 14)
    lines = [f"usage: memtui {first}", *(f"{'':14}{line}" for line in more)]
    return [line.replace("\0", " ") for line in lines]


def _section(verb: Verb) -> list[str]:
    lines = ["", f"### `memtui {verb.name}`", "", f"{verb.summary}. {verb.detail}".rstrip()]
    lines += ["", "```text", f"memtui {verb.usage}", "```"]
    if verb.params:
        lines += ["", "| argument | means |", "| --- | --- |"]
        lines += [
            f"| `{_cell(_option(p) if p.option else p.value_name)}` | {_cell(p.explanation)} |" for p in verb.params
        ]
    lines += ["", "```sh"]
    lines += [f"{line}  # {text}" for line, text in verb.examples]
    lines.append("```")
    if verb.answer:
        lines += ["", f"`--json` prints {verb.answer}."]
    return lines


def _examples(examples: Iterable[tuple[str, str]]) -> list[str]:
    return [text for line, meaning in examples for text in (f"  # {meaning}", f"  {line}")]


def _option(param: Param) -> str:
    return param.name if param.kind == "flag" else f"{param.name} {param.value_name}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _two_columns(rows: Iterable[tuple[str, str]]) -> list[str]:
    pairs = list(rows)
    left = min(max((len(first) for first, _ in pairs), default=0), 34)
    lines = []
    for first, second in pairs:
        texts = wrapped(second, _WIDTH - left - 4) or [""]
        if len(first) > left:
            lines.append(f"  {first}")
            lines += [f"  {'':{left}}  {line}".rstrip() for line in texts if line]
            continue
        lines.append(f"  {first:{left}}  {texts[0]}".rstrip())
        lines += [f"  {'':{left}}  {line}" for line in texts[1:]]
    return lines


if __name__ == "__main__":
    standard(json=False).raw(commands_page().encode())
