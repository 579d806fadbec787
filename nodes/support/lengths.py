"""The longest texts of replies, in characters: one table for all roles.

The form of a reply gives each field one of these lengths. The most tokens of a reply follow from
its form (``models/lengths``). If the setting ``max_reply_tokens`` or the aids for small models
allow fewer tokens, the lengths are shortened to fit.
"""

THOUGHT = 400
"""The thought before an action."""
REASON = 400
"""The reason for a judgement."""
STEP = 400
"""A step of a plan, a task, a sub-question, a short answer in a sentence."""
PLAN_STEPS = 8
"""Steps of a plan."""
DRAFT_STEP = 1_000
"""A step of a draft: a sentence, a piece of a program, a paragraph."""
QUERY = 4_000
"""The input of a tool: a query in SQL or Cypher above all."""
SEARCH = 400
"""A search in words."""
ACTION = 400
"""An action in an environment."""
REASONING = 1_200
"""A chain of thought, the reasons of a decision, a lesson."""
TEXT = 4_000
"""An answer in words."""
SHORT = 300
"""An answer in a few words, or a decision."""
COLUMN = 100
"""The name of a column."""
UNKNOWN = 500
"""What is still unknown."""
FIRST_INPUT = 500
"""The input that a plan gives for a step without needs."""
