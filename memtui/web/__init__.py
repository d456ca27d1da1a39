"""The workbench in a browser on this machine: a loopback server behind a token, a process for each visitor."""
