"""The verbs by which agents get at memories, and by which users let them."""

from memtui.wire.verb import Param, Verb

ACCESS = Param(
    "--access",
    "what the client may do at most; the settings can only narrow it, and only they know off",
    choices=("rw", "plan", "ro"),
)

AGENTS = (
    Verb(
        "context",
        "agents",
        "Print what an agent is given without asking: the index and the hot set",
        (
            Param("--part", "only this part; default: all", choices=("index", "hot", "all")),
            Param(
                "--format",
                "text as the agent reads it, json with what was chosen and left out, or the answer of a hook",
                choices=("text", "json", "hook"),
            ),
            Param("--client", "the client it is for, as the [access] table names it", metavar="NAME"),
        ),
        (
            ("memtui context", "the very bytes"),
            ("memtui context --part hot --json | jq '.items[].path'", "what is in the hot set"),
            ("memtui context --format hook --client claude-code", "what a session-start hook runs"),
        ),
        "The same memories, pins and uses give the same bytes. Looking at it is no use. With --format hook it is "
        "made to fit into 10,000 characters, which is what Claude Code takes of a hook.",
        "one object: text, sha256, masked, index (bytes, tokens, masked, memories, listed, unlisted, limits), hot "
        "(bytes, tokens, masked, text_bytes, limits), items (address, path, place, pinned, heat, uses, size, bytes, "
        "tokens, truncated, masked), left_out (address, path, reason, pinned, heat, uses, size), unreviewed",
    ),
    Verb(
        "cost",
        "agents",
        "Show what agents load when a session starts, with bytes and tokens",
        (Param("--agent", "the files of this agent, such as claude-code, in the order of loading"),),
        (
            ("memtui cost", "one line for each agent in use here"),
            ("memtui cost --agent claude-code", "its files in the order of loading, and what is cut off"),
            ("memtui cost --agent codex --json | jq .tokens", "one number"),
        ),
        "Marks: cut (the rest falls below a limit), on demand, only when matching files are touched, needs approval "
        "(it leads out of the project and is not read), missing, skipped, names only. Tokens are estimated, unless "
        "memtui[tokens] is installed. Looking at it is no use.",
        "with --agent one object: agent, title, project, files, bytes, tokens, tokens_by, below_limits, marks, note, "
        "items (what, path, address, mark, why, size, bytes, tokens, below_limits, cut_line, depth); without it a list "
        "of the same without note and items",
    ),
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
    ),
    Verb(
        "mcp",
        "agents",
        "Serve memories to an MCP client on standard input and output",
        (
            ACCESS,
            Param("--no-context", "leave the index and the hot set to the client's hook; give only guidance", "flag"),
            Param("--short-context", "give a short index, for a client whose hook does not always run", "flag"),
        ),
        (
            ("memtui mcp", "what a client's configuration starts"),
            ("memtui mcp --access ro", "for a client that may read only"),
            ("memtui mcp --no-context", "for one whose session-start hook runs memtui context"),
        ),
        "Offers the tools memory and memory_search, and memories as resources; the client's name stands in history as "
        "mcp:NAME. Needs memtui[mcp].",
        "messages of the protocol, one a line",
    ),
)
