"""The SDK's reference implementation of a memory on disk, as a yardstick where the extra `bench` is installed."""

from typing import Any

from tests.bench.case import SkippedError


class Reference:
    """One folder behind the reference tool."""

    def __init__(self, folder: str) -> None:
        """Take an empty folder.

        Raises:
            SkippedError: the SDK is not installed.
        """
        try:
            from anthropic.tools import BetaLocalFilesystemMemoryTool  # type: ignore[import-not-found, unused-ignore]
            from anthropic.types.beta import (  # type: ignore[import-not-found, unused-ignore]
                BetaMemoryTool20250818CreateCommand as Create,
            )
            from anthropic.types.beta import (  # type: ignore[import-not-found, unused-ignore]
                BetaMemoryTool20250818StrReplaceCommand as StrReplace,
            )
            from anthropic.types.beta import (  # type: ignore[import-not-found, unused-ignore]
                BetaMemoryTool20250818ViewCommand as View,
            )
        except ImportError:
            raise SkippedError("the reference tool is not installed (extra `bench`)") from None
        self._tool: Any = BetaLocalFilesystemMemoryTool(folder)
        self._create, self._str_replace, self._view = Create, StrReplace, View

    def create(self, name: str, text: str) -> None:
        """Make a memory."""
        self._tool.create(self._create(command="create", path=f"/memories/{name}", file_text=text))

    def str_replace(self, name: str, old: str, new: str) -> None:
        """Change a memory."""
        self._tool.str_replace(
            self._str_replace(command="str_replace", path=f"/memories/{name}", old_str=old, new_str=new)
        )

    def view(self, name: str) -> str:
        """Read a memory."""
        found: str = self._tool.view(self._view(command="view", path=f"/memories/{name}"))
        return found
