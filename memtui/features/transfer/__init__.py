"""Memories that go from one agent's folder to another's, or to another machine: planned and shown before it is done."""
