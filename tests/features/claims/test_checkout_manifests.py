"""Manifests are read as data, in time that grows with their size, whatever is in them."""

import pytest

from memtui.features.claims import checkout, text
from tests.growth import growth


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        *(("^18.2.0", 18), ("~=4.2", 4), (">=4.2,<5", 4), ("v1.2.3", 1), ("18.x", 18), ("*", None), ("1 || 2", None)),
        *(("", None), ("latest", None), ("9" * 5_000, None)),
    ],
)
def test_the_major_version(version: str, expected: int | None) -> None:
    assert checkout.major(version) == expected


def test_what_is_offered() -> None:
    made = checkout.parse("Makefile", b"# note: x\n.PHONY: all\nall clean: a b\n\tcc x:y\nX := 1\nY ?= a:b\n")
    assert made.commands == {("make", one) for one in (".PHONY", "all", "clean")}
    assert not made.open
    assert all(checkout.parse("Makefile", one).open for one in (b"include x.mk\n", b"%.o: %.c\n", b"$(X): y\n"))
    just = checkout.parse("justfile", b"x := 'a'\n@build target='a':\n  cc\ntest: build\n")
    assert just.commands == {("just", "build"), ("just", "test")}
    assert checkout.parse("go.mod", b"module a\nrequire (\n\tgithub.com/a/b v1.2.3\n)\n").versions == {
        "github.com/a/b": "1.2.3"
    }
    cargo = b'[dependencies]\nserde = "1"\n[target.x.dev-dependencies]\ntokio = { version = "1.3" }\n'
    assert checkout.parse("Cargo.toml", cargo).versions == {"serde": "1", "tokio": "1.3"}
    assert checkout.parse("requirements.txt", b"# x\nA_b[c]==1.2 ; python\n-r x\n").versions == {"a-b": "==1.2"}
    assert all(
        checkout.parse("package.json", one).open for one in (b"[" * 100_000, b"[]", b"{", b"\xff", b" " * 300_000)
    )


@pytest.mark.parametrize("line", ["a ", "%", "a.", "a[", "a:\n", '"', "“", "`", "a@1 ", "/"])
def test_time_grows_with_size(line: str) -> None:
    def job(size: int) -> None:
        whole = line * (size // len(line))
        broken = whole.replace(line * 100, line * 100 + "\n")
        for name in ("Makefile", "justfile", "go.mod", "requirements.txt", "package.json", "pyproject.toml"):
            checkout.parse(name, whole.encode())
            checkout.parse(name, broken.encode())
        text.claims(whole, "a.md", "/x")
        text.claims(broken, "a.md", "/x")

    assert growth(job, 2_000, 20_000) < 40
