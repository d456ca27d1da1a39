"""Tests of `memtui/features/proposals/`."""
