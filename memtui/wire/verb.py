"""What a verb is: its parameters, an example of each use, and what it answers.

The command line parses, helps, completes and documents from these values alone, so that none of the four can tell a
different story than the others.
"""

from typing import NamedTuple


class Param(NamedTuple):
    """One parameter of a verb: an option when its name starts with `--`, else a positional."""

    name: str
    help: str
    kind: str = "text"
    """`address`, `place` (an address, a folder or a root), `root`, `version` (an address with `@SHA`), `sha`, `expect`
    (a whole sha or `absent`), `file`, `dir`, `number`, `time`, `query`, `text`, or `flag` (an option without value)."""
    metavar: str = ""
    """How the value is called in help; empty: the name in capitals."""
    many: bool = False
    """A positional that takes all that follow; an option that may be repeated."""
    required: bool = False
    choices: tuple[str, ...] = ()
    """What it takes; of a `query` only what is offered first."""

    @property
    def option(self) -> bool:
        """Whether it is an option."""
        return self.name.startswith("--")

    @property
    def key(self) -> str:
        """Its name in the parsed values: `--all-projects` is `all_projects`."""
        return self.name.lstrip("-").replace("-", "_")

    @property
    def value_name(self) -> str:
        """How its value is called in help."""
        if self.choices and not (self.option or self.kind == "query"):
            return "|".join(self.choices)
        return self.metavar or self.key.upper()

    @property
    def explanation(self) -> str:
        """Its help, with the values it may have where its name does not say them."""
        if self.choices and (self.option or self.kind == "query"):
            return f"{self.help}: {', '.join(self.choices)}"
        return self.help

    @property
    def usage(self) -> str:
        """How it is written in a usage line."""
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
    """One sentence without a full stop; what help lists and shells show."""
    params: tuple[Param, ...]
    examples: tuple[tuple[str, str], ...]
    """Whole command lines, and what each does."""
    detail: str = ""
    """A paragraph of help."""
    answer: str = ""
    """What `--json` prints."""
    does: str = ""
    """What carries it out, as `module:function`; empty for `help`."""
    rank: int = 0
    """Its place in its group of help, the lowest first."""

    @property
    def positionals(self) -> tuple[Param, ...]:
        """The parameters given by place, in order."""
        return tuple(param for param in self.params if not param.option)

    @property
    def options(self) -> tuple[Param, ...]:
        """The parameters given by name."""
        return tuple(param for param in self.params if param.option)

    @property
    def usage(self) -> str:
        """The usage line, without `memtui`."""
        return " ".join((self.name, *(param.usage for param in self.positionals), *(o.usage for o in self.options)))


Value = str | int | bool | list[str]


class Arguments(NamedTuple):
    """The values a verb was called with."""

    values: dict[str, Value]

    def flag(self, key: str) -> bool:
        """Whether a flag was given."""
        return self.values.get(key) is True

    def text(self, key: str) -> str | None:
        """A single value, when it was given."""
        value = self.values.get(key)
        return value if isinstance(value, str) else None

    def need(self, key: str) -> str:
        """A single value that the table calls required."""
        value = self.values[key]
        if not isinstance(value, str):
            raise TypeError(f"{key} is not a single text")
        return value

    def number(self, key: str, default: int) -> int:
        """A number, or the default."""
        value = self.values.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) else default

    def texts(self, key: str) -> list[str]:
        """Every value of a parameter that may be repeated."""
        value = self.values.get(key)
        return value if isinstance(value, list) else []
