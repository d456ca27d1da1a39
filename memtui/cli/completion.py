"""Completion scripts for bash, zsh and fish, made by shtab from the verb table; addresses come from `memtui` itself.

Addresses hold colons, which bash takes for word breaks: its script joins the words again before shtab's part sees them.
"""

from argparse import ArgumentParser
from typing import Any

import shtab

from memtui.features.table import verbs
from memtui.wire import outcomes
from memtui.wire.call import Call
from memtui.wire.params import GLOBALS
from memtui.wire.verb import Param

_ADDRESSES = "memtui ls --names 2>/dev/null; memtui roots --names 2>/dev/null"
_ROOTS = "memtui roots --names 2>/dev/null"


def completion(call: Call) -> int:
    """Print a completion script."""
    shell = call.args.need("shell")
    text = script(shell)
    if call.out.json:
        call.out.document({"shell": shell, "script": text})
    else:
        call.out.raw(text.encode())
    return outcomes.DONE


def script(shell: str) -> str:
    """Return the completion script for a shell: `bash`, `zsh` or `fish`."""
    return shtab.complete(_parser(), shell, root_prefix="memtui", preamble=_PREAMBLES.get(shell, "")) + _ENDS.get(
        shell, "\n"
    )


def _parser() -> ArgumentParser:
    """Build the verbs and their parameters as shtab takes them; no command line is parsed with it."""
    parser = ArgumentParser("memtui", add_help=False)
    for param in GLOBALS:
        _add(parser, param)
    subparsers = parser.add_subparsers()
    for verb in verbs():
        inner = subparsers.add_parser(verb.name, help=_plain(verb.summary), add_help=False)
        named = {param.name for param in verb.options}
        for param in (*verb.params, *(param for param in GLOBALS if param.name not in named)):
            _add(inner, param)
    return parser


def _add(parser: ArgumentParser, param: Param) -> None:
    if param.kind == "flag":
        parser.add_argument(param.name, action="store_true", help=_plain(param.help))
        return
    choices = [verb.name for verb in verbs()] if param.name == "verb" else list(param.choices)
    settings: dict[str, Any] = {"choices": choices or None, "help": _plain(param.help)}
    if param.option:
        settings["action"] = "append" if param.many else "store"
    else:
        settings["nargs"] = "*" if param.many else "?"
    added: Any = parser.add_argument(param.name, **settings)
    if param.kind in _SOURCES:
        added.complete = _SOURCES[param.kind]


def _plain(text: str) -> str:
    return text.replace("%", "%%")


_ADDRESS = {
    "bash": "_memtui_addresses",
    "zsh": "_memtui_addresses",
    "fish": f"({_ADDRESSES}; __fish_complete_path (commandline -ct))",
}
_SOURCES: dict[str, Any] = {
    "address": _ADDRESS,
    "version": _ADDRESS,
    "place": _ADDRESS,
    "root": {"bash": "_memtui_roots", "zsh": "_memtui_roots", "fish": f"({_ROOTS})"},
    "file": shtab.FILE,
    "dir": shtab.DIRECTORY,
}
"""Completions by kind of value."""

_PREAMBLES = {
    "bash": f"""\
_memtui_matching() {{
  local word
  while IFS= read -r word; do [[ $word == "$1"* ]] && printf '%s\\n' "$word"; done
}}
_memtui_addresses() {{ {{ {_ADDRESSES}; }} | _memtui_matching "$1"; }}
_memtui_roots() {{ {_ROOTS} | _memtui_matching "$1"; }}
""",
    "zsh": f"""\
_memtui_addresses() {{
  local -a found
  found=("${{(@f)$({_ADDRESSES})}}")
  compadd -a found
  _files
}}
_memtui_roots() {{
  local -a found
  found=("${{(@f)$({_ROOTS})}}")
  compadd -a found
}}
""",
}
_ENDS = {
    "bash": """
_memtui() {
  local line="${COMP_LINE:0:COMP_POINT}" at current head quoted=%q
  local -a COMP_WORDS
  read -ra COMP_WORDS <<<"$line"
  [[ $line == *[[:space:]] ]] && COMP_WORDS+=("")
  local COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  current="${COMP_WORDS[COMP_CWORD]}"
  _shtab_memtui
  head="${current%"${current##*[:=]}"}"
  [[ $COMP_WORDBREAKS == *:* ]] || head=''
  [[ $(compopt 2>/dev/null) == *"-o filenames"* ]] && quoted=%s  # bash quotes those itself
  for at in "${!COMPREPLY[@]}"; do printf -v "COMPREPLY[$at]" "$quoted" "${COMPREPLY[at]#"$head"}"; done
}
complete -o default -F _memtui memtui
"""
}
