"""One function per verb, named as the verb: takes a `Call`, answers through its output, returns the exit number."""
