"""Every use of a private part of Textual, each with a test of its own.

The text widgets are imported for types only: a workbench that opens no editor does not load them.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from rich.text import Text
from textual._xterm_parser import XTermParser as KeyParser
from textual.app import App
from textual.drivers import linux_driver
from textual.keys import _character_to_key as name_of_character
from textual.screen import Screen

if TYPE_CHECKING:
    from textual.document._document import EditResult as EditResult
    from textual.document._edit import Edit as Edit
    from textual.widgets import Input, TextArea
else:
    Input = TextArea = object

__all__ = ["DrawnInput", "KeyParser", "PrivateApp", "WrappedOnce", "name_of_character", "read_keys_with"]

R = TypeVar("R")


def read_keys_with(
    parser: Callable[[bool], KeyParser], decoder: Callable[[str], Callable[[], codecs.IncrementalDecoder]]
) -> None:
    """Make Textual read the terminal with another parser and decoder."""
    linux_driver.XTermParser = parser  # type: ignore[assignment,attr-defined]
    linux_driver.getincrementaldecoder = decoder  # type: ignore[assignment,attr-defined]


class PrivateApp(App[R]):
    """An app that draws nothing behind an opaque screen, and has hooks for a fault that ends it."""

    def before_fault(self) -> None:
        """Handle an uncaught exception, before the app ends."""

    def print_fault(self, error: BaseException) -> None:
        """Print what ended the app."""
        raise NotImplementedError

    @property
    def _background_screens(self) -> list[Screen[Any]]:
        """The screens drawn behind the top one: none if it is opaque, else the top one is redrawn with the hidden
        one."""
        stack = self._screen_stack
        return [] if stack and stack[-1].styles.background.a == 1 else super()._background_screens

    def _handle_exception(self, error: Exception) -> None:
        self.before_fault()
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        self.print_fault(self._exception or RuntimeError("unknown"))


class WrappedOnce(TextArea):
    """A text area that wraps only for a new width: wrapping a large text takes longer than drawing it."""

    def lose_colours(self) -> None:
        """Switch to plain text, keeping position and undo."""
        selection, (x, y) = self.selection, self.scroll_offset
        self.set_reactive(type(self).language, None)
        self._set_document(self.text, None)
        self.selection = selection
        self.scroll_to(x, y, animate=False, immediate=True)

    def _rewrap_and_refresh_virtual_size(self) -> None:
        """Wrap once; Textual asks three times when a text is loaded."""
        wrapped = self.wrapped_document
        if wrapped._width == self.wrap_width and wrapped._tab_width == self.indent_width:  # noqa: SLF001 - it tells nobody
            self._line_cache.clear()
            self._refresh_size()
        else:
            super()._rewrap_and_refresh_virtual_size()


class DrawnInput(Input):
    """An input whose subclass draws each character, so that the cursor stays where it is."""

    def drawn(self) -> str:
        """Return the value as shown: one character for each of the value."""
        raise NotImplementedError

    @property
    def _value(self) -> Text:
        return Text(self.drawn(), no_wrap=True, overflow="ignore", end="")
