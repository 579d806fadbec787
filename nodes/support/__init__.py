"""What nodes share: prompts from state, turns, limits, checks. No nodes."""
