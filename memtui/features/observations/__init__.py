"""Observations: small dated cards derived from memories, found in milliseconds, and what people decide about them."""
