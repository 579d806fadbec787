"""Problems that long rules decide: airline fees, income tax, contracts of a sports league."""

from planweave.benchmarks.suites.rules.load import DOMAINS, Domain, Problem, RuleBook, load
from planweave.benchmarks.suites.rules.suite import Rules

__all__ = ["DOMAINS", "Domain", "Problem", "RuleBook", "Rules", "load"]
