"""The verbs as machines see them: their names, their JSON and their outcomes, said once for every front."""
