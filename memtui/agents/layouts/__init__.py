"""Where each agent keeps memory, and in which format: one module per agent.

What is known of an agent stays in its module, because its folders change every few weeks; none of them writes, and
none is imported where the agent left no trace (`memtui/agents/table.py`).
"""
