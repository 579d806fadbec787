"""Small ordinary databases, generated, with rules in words and decisions whose truth is known."""

from planweave.simulators.shops.shop import DOMAINS, Decision, Shop, shop

__all__ = ["DOMAINS", "Decision", "Shop", "shop"]
