"""What the suites of questions and queries share: records, solvers, scores and tables."""
