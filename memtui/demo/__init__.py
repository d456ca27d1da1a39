"""The demonstration: sample memories of a made-up project, and an agent that writes among them from its own process."""
