"""Races: several processes and writers that know nothing of locks. Each campaign counts what it tried."""
