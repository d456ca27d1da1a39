"""Cards of agents' sessions, with the user's consent: turns, failures, corrections, plans and summaries."""
