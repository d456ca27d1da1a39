"""The world of what agents are given."""

from tests.given.conftest import engine, world

__all__ = ["engine", "world"]
