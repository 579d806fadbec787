"""Small ordinary databases, generated, with rules in words and decisions whose truth is known."""

from planweave.simulators.shops.shop import DOMAINS, Shop, ShopDecision, shop

__all__ = ["DOMAINS", "Shop", "ShopDecision", "shop"]
