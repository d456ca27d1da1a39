"""Background tasks in durable lanes, one per project; each task is done exactly once by any running memtui."""
