"""The command line's contract with machines: verbs, JSON and outcomes, shared by every front."""
