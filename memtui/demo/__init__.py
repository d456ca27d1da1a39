"""The sample world of the demonstration, and the agent that works in it."""
