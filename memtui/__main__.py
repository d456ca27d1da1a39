"""Pick a front; each is imported only when it is used."""


def main() -> int:
    """Run the command line, which opens the workbench when no verb is given."""
    from memtui.cli.main import run

    return run()


if __name__ == "__main__":
    raise SystemExit(main())
