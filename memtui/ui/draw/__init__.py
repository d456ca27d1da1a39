"""Drawing that knows no memory: lines, lists and texts that send only what changed."""
