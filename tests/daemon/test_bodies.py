"""Whatever is sent is either refused, or has exactly the fields that a task may have."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request

from memtui.daemon.bodies import (
    CODES,
    MODES,
    SCOPES,
    RequestError,
    client_of,
    forget_fields,
    remember_fields,
    request_error,
)
from memtui.errors import CODES as KNOWN
from memtui.errors import MemtuiError

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.sampled_from([*MODES, *SCOPES]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
)
NAMES = st.sampled_from(["content", "contextMode", "scope", "root", "query", "ids", "apply", ""])


@given(st.dictionaries(NAMES, VALUES, max_size=4))
def test_what_is_taken_has_known_fields_only(body: dict[str, object]) -> None:
    with suppress(RequestError):
        kept = remember_fields(body)
        assert set(kept) <= {"content", "contextMode", "scope", "cut"}
        assert str(kept["content"]).strip() == kept["content"] != ""
        assert kept["contextMode"] in MODES
        assert kept.get("scope", "user") in SCOPES
    with suppress(RequestError):
        wanted = forget_fields(body)
        assert wanted.get("query") or wanted["ids"]
        assert wanted["ids"] or not wanted["apply"]


def test_what_is_marked_as_private_is_cut_out_and_counted() -> None:
    kept = remember_fields({"content": "Tea at four. <private>With Ann.</private> In the kitchen."})
    assert "Ann" not in str(kept["content"])
    assert kept["cut"] == 1


@given(st.text(st.characters(codec="latin-1", exclude_categories=["Cc"]), max_size=140))
def test_a_client_is_named_by_plain_signs(name: str) -> None:
    request = Request({"type": "http", "headers": [(b"x-qwen-client-id", name.encode("latin-1"))]})
    plain = 0 < len(name) <= 128 and all(sign.isascii() and (sign.isalnum() or sign in "._:-") for sign in name)
    if plain or not name:
        assert client_of(request, ()) == (name or None)
        return
    with pytest.raises(RequestError):
        client_of(request, ())


@pytest.mark.parametrize("code", KNOWN)
def test_every_error_has_an_answer_that_names_no_folder(code: str) -> None:
    answer = request_error(MemtuiError("It is so.", code=code), "remember")
    assert (code in CODES) == ((answer.status, answer.code) != (500, "remember_failed"))
    assert answer.text
    assert "E_" not in answer.text
