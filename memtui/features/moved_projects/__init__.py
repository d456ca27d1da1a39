"""Memories of projects that were moved or deleted."""
