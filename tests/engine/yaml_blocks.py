"""Blocks of front matter to try: written by hand, and drawn at random from what YAML gives a meaning."""

from hypothesis import strategies as st

from memtui.engine.frontmatter.edit import set_fields
from memtui.engine.model import FieldEdit


def block(text: str, body: str = "# Body\n") -> bytes:
    """A file with this text between its fences."""
    return f"---\n{text}---\n{body}".encode()


def set_field(data: bytes, field: str, value: str) -> bytes:
    """Set one field of the top level to a text."""
    return set_fields(data, (FieldEdit((field,), value),))


pieces = st.sampled_from(
    ["a", "b c", "1", "é", "😀", " ", ":", ": ", "#", " #", '"', "'", "\\", "-", "- ", "[", "]", "{", "}", ",", "&",
     "*", "!", "|", ">", "%", "@", "`", "?", "<<", "~", ".", "---", "=", "\t", "\r", "\u2028", "\x85", "\xa0", "\x1b",
     ";", "/", "$", "''", '\\"'],
)  # fmt: skip
values = st.one_of(
    st.lists(pieces, max_size=6).map("".join),
    st.sampled_from(
        ["x y", '"q"', "'s'", "[a, b]", '["a", \'b\']', "[]", "x # c", '"a" # c', "-1", "http://x", '"a\\"b"',
         "'it''s'", "2024-01-01", "~", "", "# c", "x, y", "a: b", "x:", "| ", "*a", "&a b", "!t x", "{a: b}", "<<"],
    ),
    st.text(max_size=8),
)  # fmt: skip
keys = st.sampled_from(["a", "b", "name", "c-d", "_e", "null", "<<", '"q"', "1", "f g", ""])
lines = st.one_of(
    st.builds(
        "{}{}{}{}".format,
        st.sampled_from(["", "", "", "  ", " "]),
        keys,
        st.sampled_from([": ", ": ", ":", ":  "]),
        values,
    ),
    st.builds("{}- {}".format, st.sampled_from(["", "  "]), values),
    values,
    st.sampled_from(["", " ", "# c", "  # c", "a:", "metadata:"]),
)
blocks = st.builds(
    lambda parts, newline: newline.join((*parts, "")),
    st.lists(lines, max_size=6),
    st.sampled_from(["\n", "\n", "\r\n"]),
)
