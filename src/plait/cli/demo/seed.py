"""The first runs of `plait dev`: one of each kind, so that there is something to look at."""

from __future__ import annotations

from plait.engine import Engine

from . import shop


async def seed(engine: Engine) -> None:
    """Starting the same ids again gives the same runs, so a second `plait dev` on the same file adds nothing."""
    small = [shop.Item("green tea"), shop.Item("biscuits", 320, 2)]
    team = {"team": "shop"}
    for name in ("Ada", "Grace", "Edsger"):
        order = shop.Order(name, small, bank_failures=0, pace=0.1)
        await engine.start(shop.checkout, order, id=f"order-{name.lower()}", labels={**team, "channel": "web"})
    flaky = shop.Order("Barbara", small, bank_failures=3)
    await engine.start(shop.checkout, flaky, id="order-barbara", labels={**team, "channel": "phone"})
    dear = shop.Order("Alan", bank_failures=0)
    await engine.start(shop.checkout, dear, id="order-alan", labels={**team, "channel": "web"})
    await engine.start(shop.stocktaking, shop.Shelves(), id="stock-today", labels={"team": "stock"})
    await engine.start(shop.restock, shop.Restock(), id="restock-tea", labels={"team": "stock"})
    await engine.start(shop.reminder, shop.Wait(), id="tea-at-noon")
    await engine.start(shop.tasting, id="tasting")
