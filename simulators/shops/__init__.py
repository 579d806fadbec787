"""Small generated business databases, with rules in words and decisions with known answers."""

from planweave.simulators.shops.shop import DOMAINS, Shop, ShopDecision, shop

__all__ = ["DOMAINS", "Shop", "ShopDecision", "shop"]
