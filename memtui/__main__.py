"""Where Python starts memtui: the command line, which opens everything else."""

import gc

SELDOM = 100_000
"""New objects between two garbage collections in a command, which ends before there is much garbage."""


def main() -> int:
    """Run the command line, which opens the workbench when no verb is given."""
    gc.set_threshold(SELDOM)
    try:
        from memtui.cli.main import run

        return run()
    except KeyboardInterrupt:  # while it was still loading
        return 130
    finally:
        # What is left goes with the process; looking through it first would take a fifth of a command's time.
        gc.freeze()


if __name__ == "__main__":
    raise SystemExit(main())
