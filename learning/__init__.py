"""What is trained: it learns from data and ships as small artefacts that the graphs load."""

from learning.candidate import Candidate, Group, Hit
from learning.features import FEATURES, features, words
from learning.plan_assessor import Card, PlanAssessor, plan_assessor
from learning.vectors import Embed, Floats, SentenceVectors

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
