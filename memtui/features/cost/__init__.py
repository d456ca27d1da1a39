"""Start cost: what each agent loads when a session starts, in bytes and tokens."""
