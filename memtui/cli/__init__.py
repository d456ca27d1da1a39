"""The command line: stdout is data, stderr is narration, and every verb comes from the table in `memtui.wire.verbs`."""
