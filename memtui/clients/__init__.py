"""The configuration of MCP clients: what each needs so that its agent finds memtui, and how it is taken back."""
