"""One file for each agent: where its memories are, what it loads, how a client of it is configured, and what runs it.

What is known of an agent stays in its file, because agents change every few weeks; none of them writes, and none is
imported where the agent left no trace (`memtui/agents/table.py`).
"""
