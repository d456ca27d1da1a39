"""Approval rules and votes."""
