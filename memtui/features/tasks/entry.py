"""Entry in the table of features: background tasks."""

from memtui.features.feature import Feature
from memtui.ui.action import View, action
from memtui.wire.params import LIMIT
from memtui.wire.verb import Param, Verb

_VERBS = (
    Verb(
        "tasks",
        "look",
        "List what memtui does in the background; show, cancel or retry one",
        (
            Param("action", "what to do with one", choices=("show", "cancel", "retry")),
            Param("id", "its number, its id, or the beginning of that", metavar="ID"),
            LIMIT,
            Param("--later", "with retry: leave it to an open workbench or daemon", "flag"),
        ),
        (
            ("memtui tasks", "those of this project, the newest first"),
            ("memtui tasks show 12", "what was asked, what a worker was sent and replied, and what came of it"),
            ("memtui tasks retry 12", "what failed or was cancelled, now"),
        ),
        "A task that waits is cancelled at once; one that runs ends before it writes anything, or is done. What failed"
        " can be retried for 7 days. An agent cancels and retries only what it asked for itself."
        " --all-projects lists the tasks of all projects.",
        "a list of tasks: id, number, workspace, kind, state, stopping, client, trigger, request, created, updated,"
        " not_before, attempt, progress, planned, txn, undone, result, error; with an action one of them, for show with"
        " runs",
        does="memtui.features.tasks.verbs:tasks",
        rank=72,
    ),
    Verb(
        "status",
        "look",
        "Show how background work is: what waits, what was done last, what is switched on",
        (Param("--short", "only what waits, in one line for a prompt or a status line", "flag"),),
        (
            ("memtui status", "part by part"),
            ("memtui status --short", "such as T2 dreaming; nothing where nothing waits"),
        ),
        "",
        "one object for each part; with --short one object: waiting, by part",
        does="memtui.features.tasks.verbs:status",
        rank=74,
    ),
)

_ACTIONS = (
    action("task_cancel", "x", "cancel", "Cancel the task; one that runs is asked about first.", "tasks", writes=True),
    action("task_retry", "r", "retry", "Try again what failed or was cancelled.", "tasks", writes=True),
    action("dream", "D", "dream", "Look for what can be tidied up; says who looks first.", "tasks", writes=True),
    action("task_diff", "w", "difference", "Show how what the task wrote differs from what was there.", "tasks"),
)

FEATURE = Feature(
    title="Tasks",
    view=View(
        "tasks",
        "0",
        "Tasks",
        "Show what memtui does in the background and by schedule, and begin a dream.",
        "memtui.features.tasks.view:TasksView",
        (
            *("read_text", "dream", "task_cancel", "task_retry", "task_diff", "next_hunk", "previous_hunk"),
            *("filter", "reload"),
        ),
        ("read_text", "task_cancel", "task_retry", "task_diff", "dream", "filter"),
    ),
    actions=_ACTIONS,
    verbs=_VERBS,
    status="memtui.features.tasks.verbs:block",
    short="memtui.features.tasks.verbs:short",
)
