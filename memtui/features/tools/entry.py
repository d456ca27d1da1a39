"""The entry in the table of features: the doors by which agents call memtui."""

from memtui.features.attribution.entry import CHAT
from memtui.features.feature import Feature, Tool
from memtui.wire.params import ACCESS
from memtui.wire.verb import Param, Verb

_VERBS = (
    Verb(
        "tool",
        "agents",
        "Answer calls of the memory tool: a JSON object a line in, one a line out",
        (
            ACCESS,
            Param("--client", "the client that calls, as the [access] table and history name it", metavar="NAME"),
            Param("--profile", "how it answers; sdk is Anthropic's SDK, word for word", choices=("memtui", "sdk")),
            Param("--base", "sdk: the folder that memories/ is in; nothing else is served", "dir", "DIR"),
        ),
        (
            ("memtui tool --client reviewer", "for a host that starts one process"),
            ('echo \'{"command": "view", "path": "/memories"}\' | memtui tool --access ro', "one call"),
            ("memtui tool --profile sdk --base ./memory", "the SDK's local files, from any language"),
        ),
        "The commands are view, create, str_replace, insert, delete and rename; docs/memory-tool.md says what each "
        "answers. Every call is answered on one line, also one that fails or that is no JSON object.",
        "one object a call: ok, and output or error",
        does="memtui.features.tools.verbs:tool",
        rank=30,
    ),
    Verb(
        "mcp",
        "agents",
        "Serve memories to an MCP client on standard input and output",
        (
            ACCESS,
            Param("--no-context", "leave the index and the hot set to the client's hook; give only guidance", "flag"),
            Param("--short-context", "give a short index, for a client whose hook does not always run", "flag"),
            Param("--session", "the agent's session this door belongs to: changes are of its turns", metavar="ID"),
            *CHAT,
        ),
        (
            ("memtui mcp", "what a client's configuration starts"),
            ("memtui mcp --access ro", "for a client that may read only"),
            ("memtui mcp --no-context", "for one whose session-start hook runs memtui context"),
            ("memtui mcp --channel team --chat c1 --session s1", "for a gateway: with the memory of that chat"),
        ),
        "Offers the tools memory, memory_search and memory_recall, and memories as resources; the client's name stands "
        "in history as mcp:NAME. With a chat, whose channel [gateways] of config.toml names, it has /memories/channel "
        "too and is told at the start, once a session, what is remembered there. Needs memtui[mcp].",
        "messages of the protocol, one a line",
        does="memtui.features.tools.verbs:mcp",
        rank=40,
    ),
)

FEATURE = Feature(
    verbs=_VERBS,
    tools=(Tool("memory", "Memory", "memtui.features.tools.verbs:offer", "memtui.memory_tool.scoped:answer"),),
)
