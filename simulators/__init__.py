"""Business rules as code: simulators of decisions, and generators of worlds."""
