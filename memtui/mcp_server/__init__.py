"""The MCP server on standard input and output."""
