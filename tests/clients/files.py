"""Configurations of agents as people really have them: comments, odd indentation, any line end, half empty."""

import json

from hypothesis import strategies as st

NEWLINES = st.sampled_from(["\n", "\r\n"])
NAMES = st.sampled_from(
    ["a", "model", "mcpServers", "servers", "hooks", "SessionStart", "PreToolUse", "naïve", "with space", 'quo"te', ""]
)
ATOMS = st.sampled_from(
    [None, True, False, 0, -1, 1.5, 10**20, "", "text", "// no comment", "/* nor this */", "🙂 \\u"]
)
VALUES = st.recursive(
    ATOMS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8
)
COMMENTS = ("", "", "", " ", "\t", "/* c */", " /* , } */ ", "\n", "\n\n", "  ", '// x, { "\n', "\n    // own line\n")


@st.composite
def trivia(draw: st.DrawFn) -> str:
    """Blanks and comments."""
    return "".join(draw(st.lists(st.sampled_from(COMMENTS), max_size=2)))


@st.composite
def rendered(draw: st.DrawFn, value: object) -> str:
    """A value, written down in one of many ways."""
    if isinstance(value, dict):
        items = [
            draw(rendered(name)) + draw(trivia()) + ":" + draw(trivia()) + draw(rendered(each))
            for name, each in value.items()
        ]
        signs = "{}"
    elif isinstance(value, list):
        items = [draw(rendered(each)) for each in value]
        signs = "[]"
    else:
        return json.dumps(value, ensure_ascii=draw(st.booleans()))
    inner = ",".join(draw(trivia()) + item + draw(trivia()) for item in items)
    comma = "," if bool(items) and draw(st.booleans()) else ""
    return signs[0] + inner + comma + draw(trivia()) + signs[1]


@st.composite
def pretty(draw: st.DrawFn, value: object) -> str:
    """A value as a formatter writes it."""
    return json.dumps(value, indent=draw(st.sampled_from([None, 1, 2, 4, "\t"])), ensure_ascii=False)


@st.composite
def json_texts(draw: st.DrawFn) -> str:
    """A whole file whose document is an object; or an empty one."""
    if draw(st.integers(0, 9)) == 0:
        body = draw(trivia())
    else:
        value = draw(st.dictionaries(NAMES, VALUES, max_size=4))
        how = draw(st.sampled_from([rendered, pretty]))
        body = draw(trivia()) + draw(how(value)) + draw(trivia())
    body += draw(st.sampled_from(["", "\n"]))
    body = body.replace("\n", draw(NEWLINES))
    return draw(st.sampled_from(["", "\ufeff"])) + body


TOML_LINES = st.sampled_from(
    [
        "",
        "# a comment",
        "[a]",
        "[a.b] # why not",
        "  [ c . d ]",
        '[mcp_servers."other one"]',
        "[mcp_servers.other]",
        "[[hooks.SessionStart]]",
        'x1 = "[mcp_servers.memtui]"',
        "x2 = [\n  [1],\n]",
        'x3 = """\n[mcp_servers.memtui]\n"""',
        "x4 = { y = 1 }",
        "x5 = 1979-05-27",
        "x6.y = true",
    ]
)


@st.composite
def toml_texts(draw: st.DrawFn) -> str:
    """A whole file; not always sound, because lines are put together blindly."""
    body = "\n".join(draw(st.lists(TOML_LINES, max_size=6, unique=True))) + draw(st.sampled_from(["", "\n"]))
    return draw(st.sampled_from(["", "\ufeff"])) + body.replace("\n", draw(NEWLINES))
