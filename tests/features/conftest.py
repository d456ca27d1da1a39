"""The command line, for the verbs of features."""

from tests.cli.conftest import cli, config, editor, here, notes, workbench

__all__ = ["cli", "config", "editor", "here", "notes", "workbench"]
