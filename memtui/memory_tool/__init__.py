"""The six-command memory tool: what an agent may call on its memories, in memtui's own words or in the SDK's."""
