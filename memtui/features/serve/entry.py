"""Feature entry: the HTTP server."""

from memtui.features.feature import Feature
from memtui.wire.verb import Param, Verb

FEATURE = Feature(
    verbs=(
        Verb(
            "serve",
            "agents",
            "Serve remembering, recall and notices of changes over HTTP, to programs on this machine",
            (
                Param("--port", "also listen on this port of 127.0.0.1, behind a token; 0: any free one", "count", "N"),
                Param("--no-socket", "listen on the port alone", "flag"),
                Param("--new-token", "make another token, so that whoever has the old one is out", "flag"),
                Param("--project", "a project to serve, the first by itself; repeatable", "dir", "DIR", many=True),
            ),
            (
                ("memtui serve", "on a socket file that only you can open; it prints where"),
                ("memtui serve --port 8017", "for programs that speak to ports"),
            ),
            "Tasks are queued in memtui's ledger and done once, by whichever memtui runs. Needs memtui[serve].",
            "one object: socket, url, token_file, workspaces (each: id, name)",
            does="memtui.features.serve.verbs:serve",
            rank=65,
        ),
    )
)
