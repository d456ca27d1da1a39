"""Background work in lanes: one a workspace, durable, done once, whoever works it off."""
