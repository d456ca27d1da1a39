"""The verbs that change memories, each one transaction with one step of undo."""
