"""Trained parts: they learn from data and ship as small files that the graphs load."""

from planweave.learning.features import FEATURES as FEATURES
from planweave.learning.features import CandidateQuery as CandidateQuery
from planweave.learning.features import Group as Group
from planweave.learning.features import RetrievedPage as RetrievedPage
from planweave.learning.features import features as features
from planweave.learning.features import words as words
from planweave.learning.plan_assessor import AssessorCard as AssessorCard
from planweave.learning.plan_assessor import PlanAssessor as PlanAssessor
from planweave.learning.plan_assessor import plan_assessor as plan_assessor
from planweave.learning.vectors import Embed as Embed
from planweave.learning.vectors import Floats as Floats
from planweave.learning.vectors import SentenceVectors as SentenceVectors
