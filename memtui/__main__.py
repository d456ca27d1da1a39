"""Pick a front; each is imported only when it is used, and this is the only module that knows more than one."""

import gc

from memtui.values import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memtui.cli.call import Key
    from memtui.wire.session import Session


_USUAL = gc.get_threshold()
_SELDOM = 100_000
"""New objects between two looks for garbage in a command, which is over before there is much."""


class _Workbench:
    """The workbench, loaded at the first call."""

    def open(self, session: "Session", *, demo: bool) -> int:
        """Run it to its end and return the exit number."""
        from memtui.tui.app import run_workbench

        # Off until the first frame, and first: a lower threshold alone would look through all that was loaded, now.
        gc.disable()
        gc.set_threshold(*_USUAL)
        return run_workbench(session, demo=demo)

    def actions(self) -> "Sequence[Key]":
        """List its actions, without loading anything that draws."""
        from memtui.tui.actions import ACTIONS

        return ACTIONS


def main() -> int:
    """Run the command line, which opens the workbench when no verb is given."""
    gc.set_threshold(_SELDOM)
    try:
        from memtui.cli.main import run

        return run(workbench=_Workbench())
    except KeyboardInterrupt:  # while it was still loading
        return 130
    finally:
        # What is left goes with the process; looking through it first would take a fifth of a command's time.
        gc.freeze()


if __name__ == "__main__":
    raise SystemExit(main())
