"""The command line, for the verbs of features."""

from tests.cli.conftest import cli, config, editor, here, notes, workbench
from tests.team_server import server, team_cluster

__all__ = ["cli", "config", "editor", "here", "notes", "server", "team_cluster", "workbench"]
