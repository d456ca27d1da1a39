"""Only the page of this run, under its loopback name and with its token, reaches the workbench."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.loopback import Guard

GUARD = Guard("s3cret-of-this-run", 8017)
OURS = "127.0.0.1:8017"
ORIGIN = {"Origin": f"http://{OURS}"}


def status(
    hosts: list[str] | None = None, headers: dict[str, str] | None = None, *, websocket: bool = True
) -> int | None:
    """What a request gets; ours in everything that is not said."""
    refusal = GUARD.check(
        [OURS] if hosts is None else hosts, ORIGIN if headers is None else headers, websocket=websocket
    )
    return refusal.status if refusal else None


def test_our_own_page_is_let_in() -> None:
    assert status() is None
    assert status(["localhost:8017"], {"Origin": "http://localhost:8017"}) is None
    assert status(headers={}, websocket=False) is None


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example:8017",
        "127.0.0.1",
        "127.0.0.1:80",
        "localhost",
        "",
        "0.0.0.0:8017",
        "[::1]:8017",
    ],
)
def test_another_name_is_refused(host: str) -> None:
    assert status([host]) == 421


@pytest.mark.parametrize("hosts", [[], [OURS, OURS], [OURS, "evil.example"]])
def test_one_host_is_named(hosts: list[str]) -> None:
    assert status(hosts) == 400


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "http://evil.example",
        "http://127.0.0.1:8018",
        "https://127.0.0.1:8017",
        "http://127.0.0.1:8017.evil.example",
    ],
)
@pytest.mark.parametrize("websocket", [True, False])
def test_another_page_is_refused(origin: str, websocket: bool) -> None:
    assert status(headers={"Origin": origin}, websocket=websocket) == 403


def test_the_websocket_wants_an_origin() -> None:
    assert status(headers={}) == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_another_page_loads_is_refused_though_it_names_no_origin(site: str) -> None:
    assert status(headers={"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"}, websocket=False) == 403
    follow = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert status(headers=follow, websocket=False) is None
    assert status(headers={**follow, "Sec-Fetch-Dest": "iframe"}, websocket=False) == 403


@pytest.mark.parametrize("origin", [f"http://{OURS}", "null", "http://evil.example", ""])
def test_a_server_without_pages_is_reached_by_none(origin: str) -> None:
    alone = GUARD._replace(pages=False)
    assert alone.check([OURS], {}, websocket=False) is None
    assert (refusal := alone.check([OURS], {"Origin": origin}, websocket=False)) is not None
    assert refusal.status == 403
    follow = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert (refusal := alone.check([OURS], follow, websocket=False)) is not None
    assert refusal.status == 403


@pytest.mark.parametrize(
    ("hosts", "status"), [(["localhost"], None), (["any.name:1"], None), (["a", "b"], 400), ([], 400)]
)
def test_behind_a_file_any_one_host_will_do(hosts: list[str], status: int | None) -> None:
    refusal = Guard("", None, pages=False).check(hosts, {}, websocket=False)
    assert (refusal and refusal.status) == status


@given(st.text())
def test_no_other_token_is_known(token: str) -> None:
    assert GUARD.knows(token) is (token == GUARD.token)


@given(
    st.lists(st.text(max_size=30), max_size=2),
    st.dictionaries(st.sampled_from(["Origin", "Sec-Fetch-Site"]), st.text()),
)
def test_whatever_is_sent_gets_an_answer_that_repeats_nothing(hosts: list[str], headers: dict[str, str]) -> None:
    refusal = GUARD.check(hosts, headers, websocket=True)
    assert refusal is not None
    assert refusal.status in (400, 403, 421)
    assert refusal.text in {
        "A request names its host once.",
        "This server answers to its loopback name only.",
        "A websocket is opened by its own page only.",
        "Another page may not reach this server.",
    }
