"""Every memory has one URI, and no URI names anything but a memory."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.model import Address
from memtui.errors import MemtuiError, RefusedError
from memtui.mcp_server.resources import address_of, uri_of, uri_of_address, virtual_path_of
from tests.mcp_server.talk import Store

NAMES = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=20)
RAW = st.binary(min_size=1, max_size=20).filter(lambda raw: not {0, ord("/")} & set(raw)).map(os.fsdecode)


@given(st.sampled_from(["global", "project", "workspace"]), st.lists(NAMES | RAW, min_size=1, max_size=4))
def test_there_and_back(scope: str, names: list[str]) -> None:
    path = f"/memories/{scope}/{'/'.join(names)}"
    uri = uri_of(path)
    assert uri.isascii()
    assert not set(uri) & set(' ?#<>"{}|\\^`')
    assert os.fsencode(virtual_path_of(uri)) == os.fsencode(path)


def test_what_a_uri_looks_like() -> None:
    assert uri_of("/memories/global/a b/ü%.md") == "memory:///memories/global/a%20b/%C3%BC%25.md"
    assert virtual_path_of("memory:///memories/global/a%2eb.md") == "/memories/global/a.b.md"
    assert virtual_path_of("MEMORY:///memories/global/a.md") == "/memories/global/a.md"


def test_it_is_decoded_once() -> None:
    assert virtual_path_of("memory:///memories/global/%252e%252e/a.md") == "/memories/global/%2e%2e/a.md"


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "file:///etc/passwd",
        "memory://host/memories/global/a.md",
        "memory:/memories/global/a.md",
        "memory:///memories",
        "memory:///memories/global",
        "memory:///memories/global/",
        "memory:///memories/channel/a.md",
        "memory:///memories/GLOBAL/a.md",
        "memory:///memories/global/a.md?x",
        "memory:///memories/global/a.md#x",
        "memory:///memories/global/a%zz.md",
        "memory:///memories/global/a%2.md",
        "memory:///memories/global/a%2Fb.md",
        "memory:///memories/global/..%2f..%2fetc",
        "memory:///memories/global/a b.md",
        "memory:///memories/global/a\n.md",
        "memory:///memories/global/" + "a" * 9_000,
    ],
)
def test_what_is_no_uri_of_a_memory_is_refused(uri: str) -> None:
    with pytest.raises(MemtuiError):
        virtual_path_of(uri)


def test_a_character_that_has_no_utf8_form_is_in_no_uri() -> None:
    with pytest.raises(MemtuiError):
        virtual_path_of("memory:///memories/global/\ud800.md")


@pytest.mark.parametrize("path", [".hid/y.md", "bad\udcff.md", "new\nline.md", "end.md ", "a\\b.md"])
def test_what_the_tool_refuses_has_no_uri_and_is_no_address(path: str, store: Store) -> None:
    store.write("global/a.md", "text")
    assert uri_of_address(Address("memtui:global", path)) is None
    with store.engine() as engine, pytest.raises(RefusedError) as caught:
        address_of(engine, uri_of(f"/memories/global/{path}"))
    assert caught.value.code == "E_NAME"
    assert caught.value.message.isprintable()


def test_only_what_an_agent_can_name_has_a_uri() -> None:
    assert uri_of_address(Address("memtui:global", "a b.md")) == "memory:///memories/global/a%20b.md"
    for root in ("notes", "claude-code:global", "memtui:channel", "memtui:project:checkout"):
        assert uri_of_address(Address(root, "a.md")) is None
