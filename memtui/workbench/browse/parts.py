"""The parts of the main screen that no first frame needs: each is loaded when it is first used.

Apart from the screen, so that one can see at a glance what a start does not pay for.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, cast

from memtui.ui.keys.keyed import KeyedScreen

if TYPE_CHECKING:
    from memtui.workbench.browse.browser import BrowserScreen
    from memtui.workbench.browse.bundles import Bundling
    from memtui.workbench.browse.copies import Translating
    from memtui.workbench.browse.filter import Filtering
    from memtui.workbench.browse.health import Checkup
    from memtui.workbench.browse.listings import Filling, Projects
    from memtui.workbench.browse.moved_projects import Repointing
    from memtui.workbench.browse.operations import Copying, Verbs
    from memtui.workbench.browse.reviews import Accepting
    from memtui.workbench.edit.host import EditorHost
    from memtui.workbench.views.switching import Views


class Parts(KeyedScreen[None]):
    """What the main screen is joined from."""

    @property
    def _browser(self) -> BrowserScreen:
        return cast("BrowserScreen", self)

    @cached_property
    def verbs(self) -> Verbs:
        """What writes."""
        from memtui.workbench.browse.operations import Verbs

        return Verbs(self._browser)

    @cached_property
    def accepting(self) -> Accepting:
        """What accepts roots."""
        from memtui.workbench.browse.reviews import Accepting

        return Accepting(self._browser)

    @cached_property
    def copying(self) -> Copying:
        """What copies."""
        from memtui.workbench.browse.operations import Copying

        return Copying(self._browser)

    @cached_property
    def checkup(self) -> Checkup:
        """What is known of the health of indexes."""
        from memtui.workbench.browse.health import Checkup

        return Checkup(self._browser)

    @cached_property
    def views(self) -> Views:
        """What lies over the main screen."""
        from memtui.workbench.views.switching import Views

        return Views(self._browser)

    @cached_property
    def host(self) -> EditorHost:
        """The editor's place."""
        from memtui.workbench.edit.host import EditorHost

        return EditorHost(self._browser)

    @cached_property
    def translating(self) -> Translating:
        """Memories on their way to another agent."""
        from memtui.workbench.browse.copies import Translating

        return Translating(self._browser)

    @cached_property
    def bundling(self) -> Bundling:
        """Bundles, written and read."""
        from memtui.workbench.browse.bundles import Bundling

        return Bundling(self._browser)

    @cached_property
    def repointing(self) -> Repointing:
        """What moves the memories of a project that moved."""
        from memtui.workbench.browse.moved_projects import Repointing

        return Repointing(self._browser)

    @cached_property
    def projects(self) -> Projects:
        """Other projects."""
        from memtui.workbench.browse.listings import Projects

        return Projects(self._browser)

    @cached_property
    def filling(self) -> Filling:
        """Full lists on their way into the tree."""
        from memtui.workbench.browse.listings import Filling

        return Filling(self._browser)

    @cached_property
    def filtering(self) -> Filtering:
        """What is typed in the footer."""
        from memtui.workbench.browse.filter import Filtering

        return Filtering(self._browser)

    # Keys, and what they open

    def take_text(self, key: str, character: str | None) -> bool:
        """Give a key to the line in the footer."""
        return self._browser.prompt is not None and self.filtering.feed(key, character)

    @property
    def answering(self) -> bool:
        """Whether a question about a draft has the keys."""
        return self._browser.editing and self.host.asking

    def take_paste(self, text: str) -> bool:
        """Give a paste to the line in the footer."""
        if self._browser.prompt is not None:
            self.filtering.paste(text)
        return self._browser.prompt is not None

    @property
    def letters_are_text(self) -> bool:
        """Whether letters are text: in the editor, or in the line in the footer."""
        return self.typing or self._browser.prompt is not None

    def opening_given_up(self) -> None:
        """Back to the tree, when the text did not come."""
        self._browser.forget_awaited()
        if self._browser.editing and self.host.address is None:
            self.host.leave()
