"""Pick a front; each is imported only when it is used, and this is the only module that knows more than one."""

import gc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memtui.config.settings import Settings
    from memtui.wire.call import Key
    from memtui.wire.session import Options, Session


_USUAL = gc.get_threshold()
_SELDOM = 100_000
"""New objects between two looks for garbage in a command, which is over before there is much."""


class _Workbench:
    """The workbench, loaded at the first call."""

    def open(self, session: "Session", *, demo: bool) -> int:
        """Run it to its end and return the exit number."""
        from memtui.workbench.app import run_workbench

        # Off until the first frame, and first: a lower threshold alone would look through all that was loaded, now.
        gc.disable()
        gc.set_threshold(*_USUAL)
        return run_workbench(session, demo=demo)

    def actions(self, settings: "Settings") -> "tuple[Sequence[Key], Sequence[str]]":
        """List its actions with the user's keys, and say which of these cannot be used; loads nothing that draws."""
        from memtui.workbench.keys import with_overrides

        return with_overrides(dict(settings.keys), lines=dict(settings.key_lines))

    def test_keys(self, settings: "Settings") -> int:
        """Show what the terminal sends, until escape is pressed twice; returns the exit number."""
        from memtui.ui.keys.keytest import run
        from memtui.workbench.keys import with_overrides

        table, _ = with_overrides(dict(settings.keys))
        return run(table, no_color=settings.terminal.no_color)

    def serve(
        self,
        words: "Sequence[str]",
        *,
        port: int,
        ready: "Callable[[str, str], None]",
        narrate: "Callable[[str], None]",
    ) -> None:
        """Serve it to browsers until interrupted; see `memtui.web.server.serve`."""
        try:
            from memtui.web.server import serve
        except ModuleNotFoundError as missing:
            raise _refusal(missing, "Serving to a browser", "web") from None
        gc.set_threshold(*_USUAL)
        serve(words, port=port, ready=ready, narrate=narrate)


class _McpServer:
    """The MCP server, loaded at the first call."""

    def serve(self, load: "Callable[[], Settings]", options: "Options", *, access: str | None, context: str) -> int:
        """Serve one client to its end and return the exit number; see `memtui.mcp_server.handshake.serve`."""
        from importlib.util import find_spec

        if find_spec("mcp") is None:
            from memtui.errors import missing_extra

            raise missing_extra("Serving MCP clients", "mcp")
        gc.disable()  # what is loaded now stays
        from memtui.mcp_server.handshake import serve

        def settle() -> None:
            gc.freeze()
            gc.set_threshold(*_USUAL)
            gc.enable()

        return serve(load, options, access=access, context=context, loaded=settle)


def _refusal(missing: ModuleNotFoundError, what: str, extra: str) -> Exception:
    """Tell a package that is not installed from a module of ours that is not there."""
    if (missing.name or "").partition(".")[0] == "memtui":
        return missing
    from memtui.errors import missing_extra

    return missing_extra(what, extra)


def main() -> int:
    """Run the command line, which opens the workbench when no verb is given."""
    gc.set_threshold(_SELDOM)
    try:
        from memtui.cli.main import run

        return run(workbench=_Workbench(), mcp=_McpServer())
    except KeyboardInterrupt:  # while it was still loading
        return 130
    finally:
        # What is left goes with the process; looking through it first would take a fifth of a command's time.
        gc.freeze()


if __name__ == "__main__":
    raise SystemExit(main())
