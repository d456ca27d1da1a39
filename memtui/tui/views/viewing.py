"""The lists on top of the main screen: versions, trash, help, commands, messages.

Each is made of rows read by the bridge and a function that shows one of them, so that this module holds no rule about
memories, only how they are listed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from memtui.engine.model import Address, TrashEntry, Version
from memtui.tui.browse import reading
from memtui.tui.browse.cells import Run, ago, fit, size_words
from memtui.tui.draw.pages import Page
from memtui.tui.views.picker import Content, PickScreen, Row, text_content

if TYPE_CHECKING:
    from memtui.tui.actions import Action
    from memtui.tui.browse.browser import BrowserScreen

GROUP = "picker"
"""The group of jobs that read what the row under the cursor shows."""


class Viewing:
    """Opens lists."""

    def __init__(self, screen: BrowserScreen) -> None:
        self._screen = screen
        self._on_top: PickScreen | None = None

    def _open(self, content: Content, start: int = 0) -> None:
        """Put a list on top, unless there is one: a key pressed twice before its rows are read opens one list."""
        if self._on_top is not None:
            return
        screen = self._screen
        top = PickScreen(content, screen.table, plain=screen.facts.ascii, switch=screen.show_view, start=start)
        self._on_top = top

        def closed(_: None) -> None:
            self._on_top = None

        self._screen.app.push_screen(top, closed)

    def _page(self, job: Callable[[reading.Reader], Page], give: Callable[[Page], None], what: str) -> None:
        self._screen.bridge.run(job, give, what=what, latest=GROUP)

    # Versions

    def versions(self, address: Address, *, at: str | None = None) -> None:
        """List every version of a memory, beginning at the newest one, or at the one with this sha-256."""

        def show(versions: tuple[Version, ...]) -> None:
            start = next((index for index, version in enumerate(versions) if version.sha256 == at), 0)
            self._open(self._versions_content(address, versions), start)

        self._screen.bridge.run(lambda engine: engine.history(address), show, what=f"read the versions of {address}")

    def _versions_content(self, address: Address, versions: tuple[Version, ...]) -> Content:
        plain = self._screen.facts.ascii

        def show(row: Row, width: int, give: Callable[[Page], None]) -> None:
            version = row.value
            assert isinstance(version, Version)
            index = versions.index(version)
            previous = versions[index + 1] if index + 1 < len(versions) else None
            self._page(
                lambda engine: reading.version_page(engine, address, version, previous, width, plain=plain),
                give,
                f"read a version of {address}",
            )

        def restore(row: Row) -> None:
            version = row.value
            assert isinstance(version, Version)
            self._screen.verbs.restore(address, version.sha256, self.close)

        rows = tuple(Row(tuple(self._version_runs(version)), version) for version in versions)
        return Content(
            f"Versions of {address}",
            rows,
            show,
            {"restore": restore, "pick": restore},
            empty="No version is kept yet.",
            off=self._read_only("restore", "pick"),
        )

    def _version_runs(self, version: Version) -> list[Run]:
        mine = version.actor in ("tui", "cli")
        who = "you" if mine else version.actor.removeprefix("agent:")
        return [
            (f"{ago(version.at, self._screen.now()):>4}  ", "dim"),
            (fit(who, 14) + " ", "name" if mine else "agent"),
            (fit(version.operation, 9) + " ", "name"),
            (f"{size_words(version.bytes):>7}  {version.sha256[:8]}", "dim"),
            (f"  {version.note or ('redacted' if version.redacted else '')}", "problem"),
        ]

    # Trash

    def trash(self) -> None:
        """List the trash."""

        def show(entries: tuple[TrashEntry, ...]) -> None:
            self._open(self._trash_content(entries))

        self._screen.bridge.run(lambda engine: engine.trash(), show, what="read the trash")

    def _trash_content(self, entries: tuple[TrashEntry, ...]) -> Content:
        plain = self._screen.facts.ascii

        def show(row: Row, width: int, give: Callable[[Page], None]) -> None:
            entry = row.value
            assert isinstance(entry, TrashEntry)
            version = Version(entry.sha256, entry.bytes, entry.actor, entry.at, "deleted")
            self._page(
                lambda engine: reading.version_page(engine, entry.address, version, None, width, plain=plain),
                give,
                f"read {entry.address} from the trash",
            )

        def restore(row: Row) -> None:
            entry = row.value
            assert isinstance(entry, TrashEntry)
            left = tuple(one for one in entries if one is not entry)

            def restored() -> None:
                if self._on_top is not None:
                    self._on_top.replace(self._trash_content(left))
                    self._on_top.say(f"Restored {entry.address}. u takes it back.", "good")

            self._screen.verbs.restore(entry.address, None, restored)

        now = self._screen.now()
        rows = tuple(
            Row(
                (
                    (f"{ago(entry.at, now):>4}  ", "dim"),
                    (f"{size_words(entry.bytes):>7}  ", "dim"),
                    (str(entry.address), "name"),
                ),
                entry,
                ends=True,
            )
            for entry in entries
        )
        does = {"restore": restore, "pick": restore}
        return Content("Trash", rows, show, does, empty="The trash is empty.", off=self._read_only(*does))

    # Texts

    def help(self) -> None:
        """Show the keys and signs."""
        from memtui.tui.keys.help import help_content

        rooms = ("editor", "everywhere") if self._screen.typing else ("memory", "view", "list", "everywhere")
        self._open(help_content(self._screen.table, self._screen.help_text, rooms))

    def help_on(self, pane: str, actions: Iterable[Action]) -> None:
        """Show the keys of a view, and all others."""
        from memtui.tui.keys.help import help_content

        self._open(help_content(self._screen.table, pane, ("views", "everywhere"), actions))

    def messages(self) -> None:
        """Show what was said."""
        from memtui.tui.draw.pages import words_page

        said = [f"{ago(at, self._screen.now()):>4}  {text}" for at, text in reversed(self._screen.chrome.said)]
        self._open(text_content("Messages", lambda width: words_page(*(said or ["Nothing yet."]), width=width)))

    def close(self) -> None:
        """Close the list on top."""
        if self._on_top is not None:
            self._on_top.dismiss()

    def _read_only(self, *ids: str) -> dict[str, str]:
        if not self._screen.bridge.read_only:
            return {}
        return dict.fromkeys(ids, "memtui was started with --read-only, so nothing can be written.")
