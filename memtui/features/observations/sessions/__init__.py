"""Cards of agents' sessions, where the user said yes: of turns, failures, corrections, plans and summaries."""
