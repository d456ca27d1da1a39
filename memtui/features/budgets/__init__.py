"""Token budgets of agents."""
