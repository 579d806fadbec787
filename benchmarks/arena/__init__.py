"""The arena: texts compared by people or a judge."""
