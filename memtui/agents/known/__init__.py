"""One file per agent: where its memories are, what it loads, how a client of it is configured, where its sessions are.

Agents change every few weeks, so what is known of one stays in its file. None of them writes, and none is imported
where the agent left no trace (`memtui/agents/table.py`).
"""
