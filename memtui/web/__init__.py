"""The workbench in a browser: a loopback server behind a token, with a process for each visitor."""
