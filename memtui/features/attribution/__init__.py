"""Attribution: turns, people and the journal."""
