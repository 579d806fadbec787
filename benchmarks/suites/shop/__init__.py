"""Decisions of ordinary business users on small generated databases."""

from planweave.benchmarks.suites.shop.suite import ShopDecisions, choose, samples

__all__ = ["ShopDecisions", "choose", "samples"]
