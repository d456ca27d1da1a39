"""Tests of the six-command memory tool."""
