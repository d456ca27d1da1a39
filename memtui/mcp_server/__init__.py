"""The MCP server on standard input and output: tools, resources and instructions, as one client sees them."""
