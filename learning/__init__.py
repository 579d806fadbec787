"""What is trained: it learns from data and ships as small artefacts that the graphs load."""

from planweave.learning.features import FEATURES, Candidate, Group, Hit, features, words
from planweave.learning.plan_assessor import Card, PlanAssessor, plan_assessor
from planweave.learning.vectors import Embed, Floats, SentenceVectors

__all__ = [
    "FEATURES",
    "Candidate",
    "Card",
    "Embed",
    "Floats",
    "Group",
    "Hit",
    "PlanAssessor",
    "SentenceVectors",
    "features",
    "plan_assessor",
    "words",
]
