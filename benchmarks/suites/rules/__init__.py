"""Problems that long rules decide: airline fees, income tax, contracts of a sports league."""

from planweave.benchmarks.suites.rules.load import DOMAINS, Domain, Problem, RuleBook, load
from planweave.benchmarks.suites.rules.suite import NAME, Rules, samples
from planweave.benchmarks.suites.rules.whole import WHOLE

__all__ = ["DOMAINS", "NAME", "WHOLE", "Domain", "Problem", "RuleBook", "Rules", "load", "samples"]
