"""Claims stand where they are said to stand, in any text."""

from hypothesis import given
from hypothesis import strategies as st

from memtui.features.claims import checkout, text
from memtui.features.claims.text import COMMAND, PATH, SYMBOL

_PIECES = (
    *("src/a.py", "`", "``", "```sh\n", "```\n", "\n", "# Example\n", "## Now\n", " ", "./", "@", "**", "/x/", "é"),
    *("npm run e2e", "$ ", "make lint", "react@17", "x==1.2", "Rich 13", "README.md:12", "(", ")", "[", "](", "---\n"),
    *("2026-01-02", ",", ".", "https://a.b/c.py", "Makefile", "a/b/", "..", "~", "<", "\r", "\t", "\x00", "“", "”"),
    *("\udcff", "🇩🇪", "removed", '"', "`api.open_store()`", "`saveAll`"),
)


@given(st.lists(st.sampled_from(_PIECES), max_size=40).map("".join))
def test_a_claim_stands_where_it_says(data: str) -> None:
    for one in text.claims(data, "a.md", "/x"):
        written = data[one.start : one.end]
        assert "\n" not in written
        assert data.count("\n", 0, one.start) == one.line
        if one.kind == PATH:
            assert written == one.name
            assert not written.startswith("/")
            assert ".." not in written.split("/")
        elif one.kind in (COMMAND, SYMBOL):
            assert one.name in written
        else:
            assert written.lower().startswith(one.name)
            assert written.endswith(one.more)


@given(
    st.sampled_from(("package.json", "Makefile", "justfile", "go.mod", "pyproject.toml", "x.txt")),
    st.binary(max_size=200),
)
def test_any_manifest_is_read(name: str, data: bytes) -> None:
    found = checkout.parse(name, data)
    assert all(checkout.major(version) is None or version for version in found.versions.values())
