"""Feature entry: teams."""

from memtui.features.feature import Feature
from memtui.wire.verb import Param, Verb

FEATURE = Feature(
    begins="memtui.features.team.postgres:begin",
    status="memtui.features.team.verbs:status",
    findings_of="memtui.features.team.verbs:findings",
    verbs=(
        Verb(
            "team",
            "follow",
            "Share what must be one for a team by its PostgreSQL",
            (
                Param(
                    "action",
                    "how it is, make it, take part, end that, the newest records of all journals, what members are "
                    "asked about, agree to that, refuse it",
                    choices=("status", "init", "join", "leave", "log", "requests", "approve", "deny"),
                ),
                Param("id", "with approve and deny: the request"),
                Param("--dry-run", "with join: what would leave this machine; with init: the SQL", "flag"),
            ),
            (
                ("memtui team", "who takes part, and whether the server answers"),
                ("memtui team init --dry-run", "the SQL that makes it, for whoever owns the database"),
                ("memtui team join --dry-run", "what would leave this machine"),
                ("memtui team log", "what was done on all machines, and who caused it"),
                ("memtui team requests", "proposals of others that you are asked about"),
                ("memtui team approve 7", "show what it changes, and agree at the terminal"),
            ),
            "`[team] url` in your settings names the server. It holds schedules of the team (`memtui schedule "
            "--team`), so that one machine runs each due time, and of those who joined budgets and journals. "
            "Memories stay files here, and no save waits for it. Who you are is what the server says of your login. "
            "Nothing leaves this machine before `memtui team join`.",
            "one object: login, store, joined, away (since, code, why), members (a list: login, store, joined, left); "
            "log: a list of records: login, store, n, at, kind, body; requests: a list of requests: id, by, store, "
            "title, at, until, voters, said, state, note; approve and deny: one object: request, answer; init: made, "
            "or sql; join: joined, login, store, records; leave: joined",
            does="memtui.features.team.verbs:team",
            rank=68,
        ),
    ),
)
