"""How good recall is, on public memories: `python -m tests.recall` prints it beside other ways to find them.

The queries are ours, written for the memories of the archive that MEMTUI_CORPUS names; each names the memories that
answer it, by path and the beginning of their sha-256. One half is for tuning, the other is only ever printed.
"""
