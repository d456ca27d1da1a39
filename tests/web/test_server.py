"""The server as other programs meet it: what is refused, what is sent, and what a real browser shows."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from aiohttp.test_utils import TestServer

from memtui.errors import StorageError
from memtui.web.guard import Guard
from memtui.web.server import Server, serve
from tests.web.browser import PROGRAM, browser

TOKEN = "the-token-of-this-test"


@asynccontextmanager
async def served(words: tuple[str, ...] = ("--version",)) -> AsyncIterator[tuple[aiohttp.ClientSession, Guard]]:
    """A server on a free port, and a client without a token."""
    server = TestServer(Server(words, Guard(TOKEN, 0)).app(), port=0)
    await server.start_server()
    assert server.port is not None
    guard = Guard(TOKEN, server.port)
    await server.close()
    server = TestServer(Server(words, guard).app(), port=guard.port)
    await server.start_server()
    jar = aiohttp.CookieJar(unsafe=True)
    try:
        async with aiohttp.ClientSession(f"http://127.0.0.1:{guard.port}", cookie_jar=jar) as session:
            yield session, guard
    finally:
        await server.close()


async def test_the_token_goes_from_the_address_into_a_cookie() -> None:
    async with served() as (session, guard):
        async with session.get("/") as answer:
            assert answer.status == 401
        async with session.get("/", params={"token": "wrong"}) as answer:
            assert answer.status == 401
            assert "Set-Cookie" not in answer.headers
        async with session.get("/", params={"token": TOKEN}, allow_redirects=False) as answer:
            assert (answer.status, answer.headers["Location"]) == (303, "/")
            cookie = answer.cookies[guard.cookie]
            assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Strict", "/")
        async with session.get("/") as answer:
            assert answer.status == 200
            text = await answer.text()
    assert TOKEN not in text
    assert f"ws://127.0.0.1:{guard.port}/ws" in text


@pytest.mark.parametrize(
    "path",
    ["/", "/ws", "/page.js", "/static/js/textual.js", "/static/", "/download/x", "/%2e%2e/etc/passwd", "/nothing"],
)
async def test_nothing_is_told_without_the_token(path: str) -> None:
    async with (
        served() as (session, _),
        session.get(path, headers={"Origin": str(session._base_url).rstrip("/")}) as answer,
    ):
        assert answer.status == 401


async def test_only_what_the_page_needs_is_served_and_nothing_comes_from_elsewhere() -> None:
    async with served() as (session, guard):
        async with session.get("/", params={"token": TOKEN}) as answer:
            page = await answer.text()
            policy = answer.headers["Content-Security-Policy"]
            assert answer.headers["Cache-Control"] == "no-store"
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "http://" not in page.replace(f"ws://127.0.0.1:{guard.port}", "")
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
    async with served() as (session, _):
        async with session.get("/", params={"token": TOKEN}):
            pass
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await session.ws_connect("/ws", origin=origin)
    assert refused.value.status == 403


async def test_a_workbench_that_ends_at_once_closes_its_page() -> None:
    async with served() as (session, guard):
        async with session.get("/", params={"token": TOKEN}):
            pass
        async with session.ws_connect("/ws?width=80&height=24", origin=guard.origins[0]) as socket:
            assert (await socket.receive(60)).type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED)


async def test_a_message_that_no_page_sends_ends_the_visit() -> None:
    async with served(("--read-only",)) as (session, guard):
        async with session.get("/", params={"token": TOKEN}):
            pass
        async with session.ws_connect("/ws", origin=guard.origins[0]) as socket:
            await socket.send_str('["run", "rm"]')
            while (message := await socket.receive(60)).type is aiohttp.WSMsgType.BINARY:
                pass
            assert message.type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED)
            assert socket.close_code == 1003


def test_a_port_that_is_taken_is_said() -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(StorageError, match="cannot be used"):
            serve([], port=taken.getsockname()[1], ready=pytest.fail, narrate=pytest.fail)


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
        assert all(url.startswith((address.split("?")[0], "ws://127.0.0.1:")) for url in page.requested), page.requested
        assert not page.complaints
        async with asyncio.timeout(30):  # the first byte is there before anything is drawn
            while len(set(picture := await page.picture(tmp_path / "page.png"))) <= 100:
                assert picture.startswith(b"\x89PNG")
        process.send_signal(signal.SIGTERM)
        await page.until("document.body.classList.contains('-closed')")
    assert await asyncio.to_thread(process.wait, 30) == 0
