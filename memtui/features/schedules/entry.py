"""Feature entry: schedules."""

from memtui.features.feature import Feature
from memtui.wire.verb import Param, Verb

FEATURE = Feature(
    works={"scheduled": "memtui.features.schedules.work:scheduled"},
    begins="memtui.features.schedules.due:begin",
    status="memtui.features.schedules.state:status",
    stands="memtui.features.schedules.verbs:standing",
    short="memtui.features.schedules.state:short",
    findings_of="memtui.features.schedules.verbs:findings",
    chat={"schedule": "memtui.features.schedules.verbs:answer"},
    verbs=(
        Verb(
            "schedule",
            "follow",
            "Run a look, a dream or a job of yours at its time",
            (
                Param(
                    "action",
                    "make one, list them, run one now, remove, pause or resume one",
                    choices=("add", "ls", "run", "rm", "pause", "resume"),
                ),
                Param("words", "its name; for add also the time, and the verb or `job NAME` with a text", many=True),
                Param("--to", "where what it says is sent, a name below [delivery]", metavar="DELIVERY"),
                Param("--zone", "its time zone, such as Europe/Berlin; that of the machine otherwise", metavar="ZONE"),
                Param("--label", "what people call it", metavar="TEXT"),
                Param("--team", "of the team: on its server, each due time run by one machine", "flag"),
                Param("--due", "with run: all that is due now, for a crontab", "flag"),
                Param("--all", "with pause and resume: every schedule", "flag"),
            ),
            (
                ('memtui schedule add tidy "0 9 * * 1" dream', "propose how to tidy up, each Monday at nine"),
                ('memtui schedule add look @daily "check --severity E"', "a verb with options, in quotes"),
                ("memtui schedule", "what runs when, and how its last run ended"),
                ("memtui schedule run --due", "what is due, where neither a workbench nor a daemon is open"),
                ("memtui schedule pause --all", "nothing runs any more"),
            ),
            "A time is minute, hour, day, month and weekday as in a crontab, @hourly, @daily, @weekly, @monthly, or "
            "@once TIME. What is due runs once, by whoever is open in that project: a workbench, `memtui serve`, or a "
            "crontab with `memtui schedule run --due`. After a sleep the newest time that went by runs, and the list "
            "says how many others did not. What fails is tried again after 1, 5 and 15 minutes; after five times in a "
            "row that failed it is paused. `job NAME` runs the program of `[jobs.NAME]` in your settings, and gives it "
            "the text on standard input. What an agent or a chat makes waits until you resume it at a terminal, which "
            "shows all it is told and is recorded. An agent resumes nothing, nor does it run or remove what is yours.",
            "a list of schedules: name, time, zone, runs, to, label, by, workspace, made, next, paused, failures, last "
            "(due, state), missed; add: one of them; run: a task; run --due: one object: ended; rm: one object",
            does="memtui.features.schedules.verbs:schedule",
            rank=60,
        ),
    ),
)
