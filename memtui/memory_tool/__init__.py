"""The memory tool with six commands, in memtui's own words and in those of Anthropic's SDK."""
