"""Decisions of ordinary business users on small generated databases."""

from planweave.benchmarks.suites.shop.suite import NAME, ShopDecisions, choose, samples

__all__ = ["NAME", "ShopDecisions", "choose", "samples"]
