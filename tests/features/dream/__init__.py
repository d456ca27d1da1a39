"""Tests of dreaming."""
