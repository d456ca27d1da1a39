"""The server as other programs meet it: what is refused, what is sent, and what a real browser shows."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.errors import StorageError
from memtui.loopback import Guard
from memtui.web.server import (
    CODE_SECONDS,
    MAX_CELLS,
    Codes,
    Server,
    Visitor,
    listening,
    own_command,
    serve,
    take,
)
from tests.web.browser import PROGRAM, browser

TOKEN = "the-token-of-this-test"


@asynccontextmanager
async def served(
    words: tuple[str, ...] = ("--version",), *, timeout: float = 10.0
) -> AsyncIterator[tuple[aiohttp.ClientSession, Server, Guard]]:
    """A server on a free port, and a client that keeps no cookies."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    guard = Guard(TOKEN, listener.getsockname()[1])
    server = Server(words, guard)
    async with (
        listening(server.app(), listener, timeout=timeout),
        aiohttp.ClientSession(f"http://127.0.0.1:{guard.port}", cookie_jar=aiohttp.DummyCookieJar()) as session,
    ):
        yield session, server, guard


async def test_the_page_gets_the_token_and_no_cookie_is_set() -> None:
    async with served() as (session, _, _):
        async with session.get("/") as answer:
            assert answer.status == 200
            assert TOKEN not in await answer.text()
        async with session.get("/", params={"token": "wrong"}) as answer:
            assert answer.status == 401
        async with session.get("/", params={"token": TOKEN}) as answer:
            assert answer.status == 200
            assert TOKEN in await answer.text()
            assert "Set-Cookie" not in answer.headers


def test_a_code_works_once_and_for_a_minute() -> None:
    now = [0.0]
    codes = Codes(lambda: now[0])
    first, late = codes.issue(), codes.issue()
    assert [codes.redeem(first), codes.redeem(first), codes.redeem("another")] == [True, False, False]
    now[0] = CODE_SECONDS
    assert not codes.redeem(late)


async def test_a_code_opens_the_page_once() -> None:
    async with served() as (session, server, _):
        code = server.codes.issue()
        async with session.get("/", params={"code": code}) as answer:
            assert TOKEN in await answer.text()
        async with session.get("/", params={"code": code}) as answer:
            assert answer.status == 401
            assert TOKEN not in await answer.text()


@pytest.mark.parametrize(
    "path", ["/ws", "/ws/", "/ws/wrong", "/static/", "/download/x", "/%2e%2e/etc/passwd", "/nothing"]
)
async def test_no_workbench_without_the_token_whatever_cookie_is_sent(path: str) -> None:
    async with served() as (session, _, guard):
        headers = {"Origin": guard.origins[0], "Cookie": f"memtui-{guard.port}={TOKEN}; token={TOKEN}"}
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await session.ws_connect(path, headers=headers)
    assert refused.value.status in (401, 404)


async def test_idle_connections_keep_nobody_out() -> None:
    async with served() as (session, _, guard):
        idle = [await asyncio.open_connection("127.0.0.1", guard.port) for _ in range(1_000)]
        for _, writer in idle[::2]:
            writer.write(b"GET / HTTP/1.1\r\nContent-Length: 9\r\nHost: ")
        async with session.get("/", timeout=aiohttp.ClientTimeout(30)) as answer:
            assert answer.status == 200
        with contextlib.suppress(ConnectionResetError):
            assert await idle[0][0].read() == b""
        for _, writer in idle:
            writer.close()


async def test_a_connection_without_a_request_is_closed() -> None:
    async with served(timeout=0.2) as (_, _, guard):
        for start in (b"", b"GET / HTTP/1.1\r\nHost: 127.0.0.1"):
            reader, writer = await asyncio.open_connection("127.0.0.1", guard.port)
            writer.write(start)
            with contextlib.suppress(ConnectionResetError):
                assert await asyncio.wait_for(reader.read(), 30) == b""
            writer.close()


async def test_an_address_that_is_too_long_is_said(caplog: pytest.LogCaptureFixture) -> None:
    async with served() as (_, _, guard):
        reader, writer = await asyncio.open_connection("127.0.0.1", guard.port)
        writer.write(b"GET /" + b"a" * 1_000_000 + b" HTTP/1.1\r\n\r\n")
        assert (await asyncio.wait_for(reader.readline(), 30)).split()[1] == b"414"
        writer.close()
    assert not caplog.records


async def test_only_what_the_page_needs_is_served_and_nothing_comes_from_elsewhere() -> None:
    async with served() as (session, _, _):
        async with session.get("/", params={"token": TOKEN}) as answer:
            page = await answer.text()
            policy = answer.headers["Content-Security-Policy"]
            assert answer.headers["Cache-Control"] == "no-store"
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "http://" not in page
        assert "https://" not in page
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        for path, expected in (
            ("/static/js/textual.js", 200),
            ("/static/css/xterm.css", 200),
            ("/page.css", 200),
            ("/static/", 404),
            ("/static/images/background.png", 404),
            ("/download/x", 404),
            ("/static/..%2f..%2fserver.py", 404),
        ):
            async with session.get(path) as answer:
                assert (path, answer.status) == (path, expected)
        async with session.post("/") as answer:
            assert answer.status == 405


@pytest.mark.parametrize("origin", [None, "http://evil.example", "null"])
async def test_no_other_page_opens_the_websocket(origin: str | None) -> None:
    async with served() as (session, _, _):
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await session.ws_connect(f"/ws/{TOKEN}", origin=origin)
    assert refused.value.status == 403


async def test_a_workbench_that_ends_at_once_closes_its_page() -> None:
    async with (
        served() as (session, _, guard),
        session.ws_connect(f"/ws/{TOKEN}?width=80&height=24", origin=guard.origins[0]) as page,
    ):
        assert (await page.receive(60)).type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED)


async def test_a_message_that_no_page_sends_ends_the_visit() -> None:
    async with (
        served(("--read-only",)) as (session, _, guard),
        session.ws_connect(f"/ws/{TOKEN}", origin=guard.origins[0]) as page,
    ):
        await page.send_str('["run", "rm"]')
        while (message := await page.receive(60)).type is aiohttp.WSMsgType.BINARY:
            pass
        assert message.type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED)
        assert page.close_code == 1003


def test_a_port_that_is_taken_is_said() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(StorageError, match="cannot be used"):
            serve([], port=taken.getsockname()[1], ready=lambda *_: pytest.fail("it listens"), narrate=pytest.fail)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """`memtui web` on two memories, and the address it printed."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "alpha.md").write_text("# Alpha of the browser\n", "utf-8")
    (notes / "beta.md").write_text("# Beta of the browser\n", "utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "memtui", "web", "--only-root", "--root", f"notes={notes}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path), "MEMTUI_HOME": str(tmp_path / "memtui")},
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip(), process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_the_printed_address_opens_the_page(running: tuple[str, subprocess.Popen[str]]) -> None:
    with urllib.request.urlopen(running[0], timeout=30) as answer:
        assert answer.status == 200


@pytest.mark.skipif(PROGRAM is None, reason="needs Chromium (Debian: apt-get install chromium)")
async def test_a_real_browser_shows_the_workbench_read_only(
    running: tuple[str, subprocess.Popen[str]], tmp_path: Path
) -> None:
    address, process = running
    async with browser(tmp_path / "profile") as page:
        await page.open(address)
        await page.until("document.body && document.body.classList.contains('-first-byte')")
        assert await page.evaluate("location.pathname + location.search") == "/"
        assert await page.evaluate("document.cookie") == ""
        assert await page.evaluate("document.activeElement.className") == "xterm-helper-textarea"
        assert all(url.startswith((address.split("?")[0], "ws://127.0.0.1:")) for url in page.requested), page.requested
        assert not page.complaints
        async with asyncio.timeout(30):  # the first byte is there before anything is drawn
            while len(set(picture := await page.picture(tmp_path / "page.png"))) <= 100:
                assert picture.startswith(b"\x89PNG")
        await page.evaluate("document.body.dataset.old = 'yes', location.reload()")  # the tab keeps the token
        there = "document.body && !document.body.dataset.old && document.body.classList.contains('-first-byte')"
        await page.until(there)
        process.send_signal(signal.SIGTERM)
        await page.until("document.body.classList.contains('-closed')")
    assert await asyncio.to_thread(process.wait, 30) == 0


class Heard(Visitor):
    """A workbench that only notes what reaches it."""

    def __init__(self) -> None:
        self.heard: list[object] = []

    async def send_bytes(self, data: bytes) -> bool:
        self.heard.append(data)
        return True

    async def send_meta(self, data: dict[str, str | int | bool | None]) -> bool:
        self.heard.append(data)
        return True


async def told(text: str) -> tuple[bool, list[object], list[str]]:
    """What a message does: whether it was one, what the workbench heard, what the page was answered."""
    visitor, answers = Heard(), list[str]()

    async def answer(words: str) -> None:
        answers.append(words)

    return await take(visitor, text, answer), visitor.heard, answers


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ('["stdin", "j\\u001b[A"]', b"j\x1b[A"),
        ('["stdin", "\\ud800"]', b"?"),
        ('["resize", {"width": 80, "height": 24}]', {"type": "resize", "width": 80, "height": 24}),
        ('["resize", {"width": 99999999, "height": -1}]', {"type": "resize", "width": MAX_CELLS, "height": 24}),
        ('["focus"]', {"type": "focus"}),
        ('["blur"]', {"type": "blur"}),
    ],
)
async def test_what_a_page_sends_reaches_the_workbench(text: str, heard: object) -> None:
    assert await told(text) == (True, [heard], [])


async def test_a_ping_is_answered() -> None:
    assert await told('["ping", "12"]') == (True, [], ['["pong", "12"]'])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "null",
        "[]",
        '["quit"]',
        '["stdin", 1]',
        '["resize", {"width": 80}]',
        '["resize", {"width": "80", "height": 24}]',
        "[" * 100_000,
    ],
)
async def test_anything_else_is_no_message(text: str) -> None:
    assert await told(text) == (False, [], [])


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
async def test_no_message_breaks_the_server(value: object) -> None:
    ok, heard, _ = await told(json.dumps(value))
    assert ok or not heard


def test_nothing_in_the_working_directory_is_loaded() -> None:
    assert own_command(["demo"])[1:] == ("-P", "-m", "memtui", "demo")
