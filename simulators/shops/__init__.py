"""Small ordinary databases, generated, with rules in words and decisions whose truth is known."""

from planweave.simulators.shops.registry import DOMAINS, shop
from planweave.simulators.shops.shop import Decision, Shop

__all__ = ["DOMAINS", "Decision", "Shop", "shop"]
