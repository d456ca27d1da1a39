"""The entry in the table of features: memtui itself: its settings, keys, state and help."""

from memtui.features.feature import Feature
from memtui.wire.verb import Param, Verb

_VERBS = (
    Verb(
        "doctor",
        "setup",
        "Find and explain what is wrong, and which guarantees hold here",
        (
            Param("--salvage", "mend a damaged ledger now, or bring back what one that was moved aside has", "flag"),
            Param("file", "with --salvage: the ledger that was moved aside; default: the newest", "file", "FILE"),
        ),
        (
            ("memtui doctor", "roots, ledger, watcher limits, terminal, editor, clipboard"),
            ("memtui doctor --salvage", "first save what can be saved of a damaged ledger"),
        ),
        "Exit status 7 when a finding is an error, else 0.",
        "a list of findings: level (ok, note, warning, error), topic, text, advice",
        does="memtui.features.setup.doctor:doctor",
        rank=10,
    ),
    Verb(
        "config",
        "setup",
        "Show every setting, its value and where the value came from",
        (Param("action", "`check` validates the file, `path` prints where it is", choices=("check", "path")),),
        (("memtui config", "all settings"), ("memtui config check", "exit 2 when something in the file is wrong")),
        "",
        "a list of settings: name, value, source, default, help",
        does="memtui.features.setup.verbs:config",
        rank=20,
    ),
    Verb(
        "keys",
        "setup",
        "List the keys of the workbench",
        (Param("--test", "show what your terminal sends for each key you press; esc twice ends", "flag"),),
        (("memtui keys", "by room"), ("memtui keys --test", "why a key does nothing: press it and look")),
        "Keys that the settings change are shown as they are then; what cannot be used is told with its line.",
        "a list of actions: id, keys, label, help, room",
        does="memtui.features.setup.verbs:keys",
        rank=30,
    ),
    Verb(
        "completion",
        "setup",
        "Print a completion script for your shell",
        (Param("shell", "which shell", choices=("bash", "zsh", "fish"), required=True),),
        (
            ("memtui completion bash > ~/.local/share/bash-completion/completions/memtui", "bash"),
            ("memtui completion zsh > ~/.zfunc/_memtui", "zsh, with ~/.zfunc in fpath"),
            ("memtui completion fish > ~/.config/fish/completions/memtui.fish", "fish"),
        ),
        "",
        "one object: shell, script",
        does="memtui.cli.completion:completion",
        rank=40,
    ),
    Verb(
        "demo",
        "setup",
        "Open the workbench on sample memories, with an agent at work",
        (Param("--newcomer", "the home of the guide: half a year of three agents, and nobody looked yet", "flag"),),
        (
            ("memtui demo", "in a throw-away folder; nothing of yours is read or written"),
            ("memtui demo --newcomer", "to follow the guide's two minutes"),
        ),
        "",
        "nothing: it is a workbench",
        does="memtui.features.setup.demo:demo",
        rank=50,
    ),
    Verb(
        "web",
        "setup",
        "Serve the workbench to a browser on this machine",
        (
            Param("--port", "where to listen on 127.0.0.1; default: any free port", "number", "N"),
            Param("--write", "allow changes; without it every visitor only reads", "flag"),
            Param("--open", "open the address in your browser", "flag"),
            Param("--demo", "the sample memories of `memtui demo`", "flag"),
        ),
        (
            ("memtui web", "prints an address with the token of this run"),
            ("memtui web --demo --write --open", "try it on samples"),
            ("memtui web --port 8017", "for a tunnel: ssh -L 8017:127.0.0.1:8017 host"),
        ),
        "Listens on the loopback address only, wants the token, and refuses other pages. Needs memtui[web].",
        "one object: address, write",
        does="memtui.features.setup.verbs:web",
        rank=60,
    ),
    Verb(
        "help",
        "setup",
        "Explain memtui or one verb",
        (Param("verb", "the verb", metavar="VERB"),),
        (("memtui help diff", "as `memtui diff --help`"),),
        rank=70,
    ),
)

FEATURE = Feature(verbs=_VERBS)
