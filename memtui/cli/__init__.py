"""The command line: stdout is data, stderr is narration, and every verb comes from `features/table.py`."""
