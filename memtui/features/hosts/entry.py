"""Feature entry: other machines."""

from memtui.features.feature import Feature
from memtui.wire.verb import Param, Verb

FEATURE = Feature(
    findings_of="memtui.features.hosts.verbs:findings",
    verbs=(
        Verb(
            "host",
            "setup",
            "List the other machines that `--on` reaches, or try one",
            (
                Param("action", "list them, or see whether memtui answers on one", choices=("ls", "test")),
                Param("name", "a name below [hosts]"),
            ),
            (
                ("memtui host", "which there are, and how each is reached"),
                ("memtui host test build", "the version of memtui there, and how many roots it has"),
            ),
            "`memtui --on build ls` does any verb there and passes its exit status on; `memtui --on=build` opens the "
            "workbench there, in this terminal. A machine is `[hosts.NAME]` of the settings, reached by your own ssh, "
            "which must be able to log in without asking; memtui has to be installed there. Texts are read here; all "
            "other paths are those of that machine. What you change there is by ssh:USER@MACHINE. The workbench shows "
            "its memories below HOSTS: there they are read, edited and taken back.",
            "a list of machines: name, reached, project; test: one object: name, version, roots",
            does="memtui.features.hosts.verbs:host",
            rank=35,
        ),
    ),
)
