"""The one picture that a browser takes: what `memtui web` shows, in Chromium without a window."""

import asyncio
import subprocess
from pathlib import Path

from screenshots.stage import Stage
from tests.web.browser import browser


def take_page(target: Path, place: str | None) -> None:
    """Serve the workbench, open its address, and keep a picture of the page.

    Args:
        target: the PNG file.
        place: the folder of the stage, which must not exist; None: anywhere.
    """
    with Stage(place) as stage:
        process = subprocess.Popen(
            [*stage.command, "web", "--calm"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=stage.world.project,
            env=stage.environment,
        )
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip()
            asyncio.run(_keep(address, target, Path(stage.world.folder, "browser")))
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


async def _keep(address: str, target: Path, profile: Path) -> None:
    async with browser(profile) as page:
        await page.open(address)
        await page.until("document.body && document.body.classList.contains('-first-byte')")
        before = b""
        while (now := await page.picture(target)) != before:
            # Two pictures alike, a second apart: nothing is being drawn any more.
            before = now
            await page.until("!(window.waited = (window.waited || Date.now())) || Date.now() - window.waited > 1000")
            await page.evaluate("window.waited = 0")
