"""Workers: what they answer, what they are sent, how they are run."""
