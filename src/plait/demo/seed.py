"""The first runs of `plait dev`: one of each kind, so that there is something to see."""

from __future__ import annotations

from plait import Engine, goals

from . import leads, newsletter, returns, shop


async def seed(engine: Engine) -> None:
    """Starting the same ids again returns the same runs, so a second `plait dev` on the same file adds nothing."""
    await _seed_code(engine)
    await _seed_goals(engine)
    await _seed_graph(engine)
    await _seed_refs(engine)
    await _seed_agent(engine)


async def _seed_code(engine: Engine) -> None:
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


async def _seed_goals(engine: Engine) -> None:
    """One run that reaches its goal, one whose card is declined, one that waits for the manager."""
    tea, pot, samovar = (
        {"sku": "tea", "cents": 450},
        {"sku": "pot", "cents": 3_900},
        {"sku": "samovar", "cents": 19_900},
    )
    orders = {"ada": ("Ada", [tea, pot]), "mallory": ("Mallory", [tea]), "alan": ("Alan", [samovar, tea])}
    for id, (customer, items) in orders.items():
        given = {"customer": customer, "items": items}
        await engine.start(
            goals("thank-customer"), given, id=f"tea-for-{id}", labels={"team": "shop", "channel": "web"}
        )


async def _seed_graph(engine: Engine) -> None:
    """One run that asks the bank three times, one that waits for the manager."""
    pot = {"customer": "Grace", "cents": 3_900, "bank_failures": 2}
    samovar = {"customer": "Edsger", "cents": 19_900}
    for id, parcel in {"grace": pot, "edsger": samovar}.items():
        await engine.start(returns.take_back, parcel, id=f"back-from-{id}", labels={"team": "shop"})


async def _seed_refs(engine: Engine) -> None:
    """One of the readers can't be reached."""
    readers = ["ada@example.org", "grace@example.org", "nobody"]
    await engine.start(newsletter.newsletter, {"season": "winter", "readers": readers}, id="newsletter-winter")


async def _seed_agent(engine: Engine) -> None:
    """The agent asks a person before it grants a discount."""
    if leads.MODEL in engine.agents.models.names:
        await engine.start(leads.qualify_customer, leads.CUSTOMER, id="qualify-ada", labels={"team": "shop"})
