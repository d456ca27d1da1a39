"""Verbs as data, from which the command line parses, helps, completes and documents."""

from typing import NamedTuple


class Param(NamedTuple):
    """A parameter of a verb: an option when its name starts with `--`, else a positional."""

    name: str
    help: str
    kind: str = "text"
    """`address`, `place` (an address, a folder or a root), `root`, `version` (an address with `@SHA`), `sha`, `expect`
    (a whole sha or `absent`), `file`, `dir`, `number` (from 1), `count` (from 0), `time`, `query`, `text`, or `flag`
    (an option without value)."""
    metavar: str = ""
    """Name of the value in help; empty: the name in capitals."""
    many: bool = False
    """A positional that takes all that follow, or a repeatable option."""
    required: bool = False
    choices: tuple[str, ...] = ()
    """Accepted values; for a `query` only suggestions."""

    @property
    def option(self) -> bool:
        """Whether it is an option."""
        return self.name.startswith("--")

    @property
    def key(self) -> str:
        """Name in the parsed values: `--all-projects` is `all_projects`."""
        return self.name.lstrip("-").replace("-", "_")

    @property
    def value_name(self) -> str:
        """Name of its value in help."""
        if self.choices and not (self.option or self.kind == "query"):
            return "|".join(self.choices)
        return self.metavar or self.key.upper()

    @property
    def explanation(self) -> str:
        """Its help, with its choices where its name does not show them."""
        if self.choices and (self.option or self.kind == "query"):
            return f"{self.help}: {', '.join(self.choices)}"
        return self.help

    @property
    def usage(self) -> str:
        """Its part of a usage line."""
        if self.kind == "flag":
            text = self.name
        elif self.option:
            text = f"{self.name} {self.value_name}"
        else:
            text = self.value_name
        if self.many:
            text += "..."
        return text if self.required else f"[{text}]"


class Verb(NamedTuple):
    """One verb of the command line."""

    name: str
    group: str
    """A key of `GROUPS` in the table of features."""
    summary: str
    """One sentence without a full stop, for help and completion."""
    params: tuple[Param, ...]
    examples: tuple[tuple[str, str], ...]
    """Whole command lines with their explanation."""
    detail: str = ""
    """A paragraph of help."""
    answer: str = ""
    """What `--json` prints."""
    does: str = ""
    """The function that implements it, as `module:function`; empty for `help`."""
    rank: int = 0
    """Sort key within its group of help."""

    @property
    def positionals(self) -> tuple[Param, ...]:
        """The positional parameters, in order."""
        return tuple(param for param in self.params if not param.option)

    @property
    def options(self) -> tuple[Param, ...]:
        """The options."""
        return tuple(param for param in self.params if param.option)

    @property
    def usage(self) -> str:
        """The usage line, without `memtui`."""
        return " ".join((self.name, *(param.usage for param in self.positionals), *(o.usage for o in self.options)))


Value = str | int | bool | list[str]


class Arguments(NamedTuple):
    """The parsed values of a call."""

    values: dict[str, Value]

    def flag(self, key: str) -> bool:
        """Return whether a flag was given."""
        return self.values.get(key) is True

    def text(self, key: str) -> str | None:
        """Return a single value, or None."""
        value = self.values.get(key)
        return value if isinstance(value, str) else None

    def need(self, key: str) -> str:
        """Return a required single value."""
        value = self.values[key]
        if not isinstance(value, str):
            raise TypeError(f"{key} is not a single text")
        return value

    def number(self, key: str, default: int) -> int:
        """Return a number, or the default."""
        value = self.values.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) else default

    def texts(self, key: str) -> list[str]:
        """Return every value of a repeatable parameter."""
        value = self.values.get(key)
        return value if isinstance(value, list) else []
