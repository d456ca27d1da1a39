"""Completion scripts for bash, zsh and fish, written from the verb table; addresses come from `memtui` itself.

Addresses hold colons, which bash takes for word breaks and zsh for separators: each script handles that for its shell.
"""

from memtui.wire.verb import Param, Verb
from memtui.wire.verbs import GLOBALS, VERBS

_ADDRESSES = "memtui ls --names"
_ROOTS = "memtui roots --names"
_ADDRESS_KINDS = ("address", "version", "place")


def script(shell: str) -> str:
    """Return the completion script for a shell: `bash`, `zsh` or `fish`."""
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]()


def _takes(verb: Verb) -> tuple[str, ...]:
    """The kinds of a verb's positionals."""
    return tuple(param.kind for param in verb.positionals)


def _options(verb: Verb) -> tuple[Param, ...]:
    named = {param.name for param in verb.options}
    return verb.options + tuple(param for param in GLOBALS if param.name not in named)


def _bash() -> str:
    cases = []
    for verb in VERBS:
        parts = [f"options='{' '.join(param.name for param in _options(verb))}'"]
        choices = [choice for param in verb.positionals for choice in param.choices]
        if verb.name == "help":
            choices = [each.name for each in VERBS]
        if choices:
            parts.append(f"words='{' '.join(choices)}'")
        if set(_takes(verb)) & set(_ADDRESS_KINDS):
            parts.append("source=ls")
        cases.append(f"    {verb.name}) {'; '.join(parts)} ;;")
    values = []
    for param in {param.name: param for verb in VERBS for param in _options(verb) if param.choices}.values():
        values.append(f"    {param.name}) words='{' '.join(param.choices)}' source='' ;;")
    takers = sorted({param.name for verb in VERBS for param in _options(verb) if param.kind != "flag"})
    return _BASH.format(
        verbs=" ".join(verb.name for verb in VERBS),
        globals=" ".join(param.name for param in GLOBALS),
        takers="|".join(takers),
        values="\n".join(values),
        cases="\n".join(cases),
    )


_BASH = """\
# memtui completion for bash
_memtui() {{
  local line="${{COMP_LINE:0:COMP_POINT}}" cur prev verb='' word words='' options='{globals}' source='' skip='' i
  local -a given
  read -ra given <<<"$line"
  [[ $line == *[[:space:]] ]] && given+=("")
  cur="${{given[${{#given[@]}}-1]}}"
  prev="${{given[${{#given[@]}}-2]}}"
  for ((i = 1; i < ${{#given[@]}} - 1; i++)); do
    word="${{given[i]}}"
    if [[ -n $skip ]]; then skip=''; continue; fi
    case "$word" in
    {takers}) skip=yes ;;
    -*) ;;
    *) verb="$word"; break ;;
    esac
  done
  case "$verb" in
    '') words='{verbs}' ;;
{cases}
  esac
  [[ $cur == -* ]] && words="$options" source=''
  case "$prev" in
{values}
    --address) words='' source=ls ;;
    --accept) words='' source=roots ;;
    {takers}) words='' source='' ;;
  esac
  local head="${{cur%"${{cur##*[:=]}}"}}" found
  [[ $COMP_WORDBREAKS == *:* ]] || head=''
  COMPREPLY=()
  while IFS= read -r word; do
    if [[ -n $word && $word == "$cur"* ]]; then
      printf -v found %q "${{word#"$head"}}"
      COMPREPLY+=("$found")
    fi
  done < <(
    printf '%s\\n' $words
    [[ -n $source ]] && memtui "$source" --names 2>/dev/null
    [[ $source == ls ]] && memtui roots --names 2>/dev/null
  )
}}
complete -o default -F _memtui memtui
"""


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _zsh_option(param: Param) -> str:
    explained = param.help.replace("[", "(").replace("]", ")").replace(":", "\\:")
    star = "*" if param.many else ""
    if param.kind == "flag":
        return _quoted(f"{star}{param.name}[{explained}]")
    action = {"file": "_files", "dir": "_files -/", "root": "_memtui_roots", "address": "_memtui_addresses"}.get(
        param.kind, " "
    )
    if param.choices:
        action = f"({' '.join(param.choices)})"
    return _quoted(f"{star}{param.name}[{explained}]:{param.value_name}:{action}")


def _zsh_place(param: Param, number: int) -> str:
    action = "_memtui_addresses" if param.kind in _ADDRESS_KINDS else "_default"
    if param.choices:
        action = f"({' '.join(param.choices)})"
    elif param.name == "verb":
        action = "_memtui_verbs"
    where = "*" if param.many else str(number)
    return _quoted(f"{where}:{param.key}:{action}")


def _zsh() -> str:
    described = "\n".join(f"    {_quoted(f'{verb.name}:{verb.summary}')}" for verb in VERBS)
    cases = []
    for verb in VERBS:
        specs = [_zsh_option(param) for param in _options(verb)]
        specs += [_zsh_place(param, number) for number, param in enumerate(verb.positionals, start=1)]
        cases.append(f"    {verb.name}) _arguments {' '.join(specs)} ;;")
    return _ZSH.format(
        described=described, globals=" ".join(_zsh_option(param) for param in GLOBALS), cases="\n".join(cases)
    )


_ZSH = """\
#compdef memtui
# memtui completion for zsh
_memtui_addresses() {{
  local -a found
  found=("${{(@f)$(memtui ls --names 2>/dev/null; memtui roots --names 2>/dev/null)}}")
  compadd -a found
  _files
}}
_memtui_roots() {{
  local -a found
  found=("${{(@f)$(memtui roots --names 2>/dev/null)}}")
  compadd -a found
}}
_memtui_verbs() {{
  local -a verbs
  verbs=(
{described}
  )
  _describe verb verbs
}}
_memtui() {{
  local state line
  _arguments -C {globals} '1: :_memtui_verbs' '*:: :->rest'
  [[ $state == rest ]] || return
  case $words[1] in
{cases}
  esac
}}
if [ "$funcstack[1]" = "_memtui" ]; then
  _memtui "$@"
else
  compdef _memtui memtui
fi
"""


def _fish_option(param: Param, condition: str) -> str:
    line = f"complete -c memtui {condition}-l {param.name.lstrip('-')} -d {_quoted(param.help)}"
    if param.kind == "flag":
        return line
    if param.choices:
        return f"{line} -x -a {_quoted(' '.join(param.choices))}"
    if param.kind in ("file", "dir"):
        return f"{line} -r"
    source = {"root": _ROOTS, "address": _ADDRESSES}.get(param.kind)
    return f"{line} -x" + (f" -a '({source} 2>/dev/null)'" if source else "")


def _fish() -> str:
    names = " ".join(verb.name for verb in VERBS)
    lines = ["# memtui completion for fish", "complete -c memtui -f", f"set -l verbs {names}"]
    lines += [_fish_option(param, "") for param in GLOBALS]
    for verb in VERBS:
        lines.append(
            f'complete -c memtui -n "not __fish_seen_subcommand_from $verbs" -a {verb.name} -d {_quoted(verb.summary)}'
        )
        condition = f'-n "__fish_seen_subcommand_from {verb.name}" '
        lines += [_fish_option(param, condition) for param in verb.options]
        choices = [choice for param in verb.positionals for choice in param.choices]
        if verb.name == "help":
            choices = names.split()
        if choices:
            lines.append(f"complete -c memtui {condition}-a {_quoted(' '.join(choices))}")
        if set(_takes(verb)) & set(_ADDRESS_KINDS):
            lines.append(f"complete -c memtui {condition}-F -a '({_ADDRESSES} 2>/dev/null; {_ROOTS} 2>/dev/null)'")
    return "\n".join(lines) + "\n"
