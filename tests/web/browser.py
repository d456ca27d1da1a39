"""A real browser without a window, driven through its debugging protocol: what a user of `memtui web` sees."""

import asyncio
import base64
import json
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

PROGRAM = next((found for name in ("chromium", "chromium-browser") if (found := shutil.which(name))), None)
"""Debian's Chromium; None where there is none."""

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu-sandbox",
    "--enable-unsafe-swiftshader",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-port=0",
    "--window-size=660,420",
)
PATIENCE = 60.0
"""Seconds until a test gives up; nothing waits that long when all is well."""


class Page:
    """One tab."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._number = 0
        self.requested: list[str] = []
        """Every address the page asked for."""
        self.complaints: list[str] = []
        """What the browser refused or a script threw."""

    async def call(self, method: str, **params: object) -> dict[str, Any]:
        self._number += 1
        await self._socket.send_json({"id": self._number, "method": method, "params": params})
        while True:
            message = json.loads((await self._socket.receive()).data)
            if message.get("id") == self._number:
                result: dict[str, Any] = message.get("result", {})
                """Empty when the page it was asked of was left meanwhile."""
                return result
            self._hear(message)

    def _hear(self, message: dict[str, Any]) -> None:
        method, params = message.get("method", ""), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requested.append(params["request"]["url"])
        elif method == "Network.webSocketCreated":
            self.requested.append(params["url"])
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.complaints.append(params["entry"]["text"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(params["exceptionDetails"]["text"])

    async def open(self, address: str) -> None:
        for domain in ("Network", "Log", "Runtime", "Page"):
            await self.call(f"{domain}.enable")
        await self.call("Page.navigate", url=address)

    async def evaluate(self, script: str) -> Any:
        """The value of a script in the page."""
        answer = await self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        return answer.get("result", {}).get("value")

    async def until(self, script: str) -> None:
        """Wait until a script says yes; the browser looks again and again, also in a page that replaced this."""
        look = f"const look = () => ({script}) ? done(true) : setTimeout(look, 20); look()"
        async with asyncio.timeout(PATIENCE):
            while not await self.evaluate(f"new Promise(done => {{ {look} }})"):
                pass

    async def picture(self, path: Path) -> bytes:
        data = base64.b64decode((await self.call("Page.captureScreenshot", format="png"))["data"])
        path.write_bytes(data)
        return data


@asynccontextmanager
async def browser(folder: Path) -> AsyncIterator[Page]:
    """Start the browser with a profile of its own, and give its first tab."""
    assert PROGRAM is not None
    process = subprocess.Popen(
        [PROGRAM, *FLAGS, f"--user-data-dir={folder}", "about:blank"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={"HOME": str(folder), "PATH": "/usr/bin:/bin"},
    )
    try:
        assert process.stderr is not None
        lines = process.stderr
        address = await asyncio.to_thread(
            lambda: next(line for line in lines if "DevTools listening" in line).split()[-1]
        )
        host = address.split("/")[2]
        async with aiohttp.ClientSession() as session:
            async with session.get(f"http://{host}/json") as answer:
                tabs = await answer.json()
            tab = next(tab["webSocketDebuggerUrl"] for tab in tabs if tab["type"] == "page")
            async with session.ws_connect(tab, max_msg_size=0) as socket:
                yield Page(socket)
    finally:
        process.kill()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()
