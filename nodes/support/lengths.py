"""How long the texts of replies may be, in characters: one table for all roles.

A role's form gives each field one of these lengths. The ceiling of tokens of a reply follows from
its form (``models/lengths``), so that whatever a field admits fits. Where the setting
``max_reply_tokens`` or the aids for small models set a lower ceiling, the lengths that a model is
bound to are shortened to fit it.
"""

THOUGHT = 400
"""What a role thinks before it acts."""
REASON = 400
"""Why a role judges as it does."""
STEP = 400
"""A step of a plan, a task, a sub-question, a short answer in a sentence."""
PLAN_STEPS = 8
"""Steps of a plan."""
DRAFT_STEP = 1_000
"""A step of a draft: a sentence, a piece of a program, a paragraph."""
QUERY = 4_000
"""The input of a tool: a query in SQL or Cypher above all."""
SEARCH = 400
"""What is searched for, in words."""
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
"""What stayed unknown."""
FIRST_INPUT = 500
"""The input that a plan gives for a step that needs no other."""
