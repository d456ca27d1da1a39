"""Sessions of agents, made up in the shapes that their own sources describe."""
