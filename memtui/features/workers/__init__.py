"""Who does the work that rules cannot: a command the user has, or a model; neither gets a tool, a path or a handle."""
