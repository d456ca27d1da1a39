"""Entry in the table of features: proposals and their review."""

from memtui.features.feature import Feature, Tool
from memtui.wire.verb import Param, Verb

_IDS = Param(
    "ids",
    "numbers of proposals, or ADDRESS@SHA of changes, as `memtui review` lists them",
    metavar="ID",
    required=True,
    many=True,
)

FEATURE = Feature(
    status="memtui.features.proposals.apply:status",
    short="memtui.features.proposals.apply:short",
    tools=(
        Tool(
            "memory_propose",
            "Propose a change of a memory",
            "memtui.features.proposals.tool:offer",
            "memtui.features.proposals.tool:call",
            clients="proposals.clients",
        ),
    ),
    verbs=(
        Verb(
            "review",
            "follow",
            "Show what waits for you: proposals, and what others changed",
            (Param("id", "show this one whole, with what it would do", metavar="ID"),),
            (
                ("memtui review", "proposals first, then changes, the oldest first"),
                ("memtui review 12", "why it is proposed, what shows it, and the difference it makes"),
            ),
            "A proposal changes nothing until you accept it. What is marked blocked or stale can only be rejected: it "
            "would touch what is pinned or protected, bring what must not come in, or its place was changed since. "
            "Where text would be lost, that is said.",
            "a list: id, group (proposed or changed), state, kind, addresses, by, at, why, note, confidence, evidence "
            "(kind, name, sha, place, quote), taint (what the session that wrote a change took in from outside before "
            "it did); with an ID one of them, and its diff",
            does="memtui.features.proposals.verbs:review",
            rank=25,
        ),
        Verb(
            "accept",
            "follow",
            "Accept proposals and changes",
            (_IDS,),
            (
                ("memtui accept 12 14", "both are done, as one step that `memtui undo` takes back"),
                ("memtui accept memtui:project/a.md@5f2c91ab", "you have reviewed this version"),
            ),
            "Only a person does this: it asks at the terminal for a typed yes. A proposal about a memory that has "
            "changed since is merged onto what is there; one that cannot be merged is left out and said.",
            "one object: applied (IDs), left_out (id, state, note), reviewed (ADDRESS@SHA), txn",
            does="memtui.features.proposals.verbs:accept",
            rank=26,
        ),
        Verb(
            "reject",
            "follow",
            "Reject proposals, and take changes back",
            (
                _IDS,
                Param("--why", "the reason, which whoever proposes it again is told", "text", "TEXT"),
                Param("--later", "only put proposals off", "flag"),
                Param("--never", "refuse its kind, by the same proposer and about the same folders, for good", "flag"),
            ),
            (
                ("memtui reject 12 --why 'we keep both'", "it stays away until what it is about changes"),
                (
                    "memtui reject memtui:project/a.md@5f2c91ab",
                    "the change is taken back; `memtui undo` brings it back",
                ),
            ),
            "Only a person does this: it asks at the terminal for a typed yes.",
            "one object: rejected (IDs), taken_back (ADDRESS@SHA), left_out (id, state, note), txn",
            does="memtui.features.proposals.verbs:reject",
            rank=27,
        ),
    ),
)
