"""Reading agents' session files: prompts, answers and tool calls."""
