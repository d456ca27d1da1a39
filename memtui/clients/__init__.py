"""The configuration of MCP clients: what each needs to start memtui, and how that is taken out again."""
