"""How each stored history of a goals run came about, on virtual time."""

from collections.abc import Awaitable, Callable

from plait.catalog import StepBuilder, catalog_step
from tests.dialects.goals.running.bench import Bench, BenchRun, boom, work

Play = Callable[[Bench], Awaitable[BenchRun]]


async def order(b: Bench) -> BenchRun:
    """Fan-out with a predicate, a match, an optional input that is waited for in vain, a retry, racing providers."""
    b.plays("price", boom("not yet"), {"cents": 100})
    b.plays("post", {"quote": "post"})
    b.plays("pack", lambda inputs: {"parcel": f"{inputs['items']}!"})  # pyright: ignore[reportUnknownLambdaType]
    b.plays("bill", {"paid": True})
    run = await b.start("bill", {"items": ["tea", "pot", ""], "customer": "Ada"}, labels={"team": "tea"})
    await b.wait(2)
    await b.finish("bike", quote="bike")
    await b.wait(60)
    await b.finish("gift", ribbon="red")
    return run


def order_steps() -> tuple[StepBuilder, ...]:
    return (
        work("price", "items", "cents").retries(3, first=1),
        catalog_step("pack")
        .required("items", for_each=True)
        .output("parcel")
        .python("pack")
        .when("ale", '(not (eq items ""))'),
        catalog_step("coupon")
        .required("customer")
        .output("discount")
        .ale("{:discount 5}")
        .when("ale", '(eq customer "Bob")'),
        work("post", "items", "quote"),
        work("bike", "items", "quote"),
        work("gift", "customer", "ribbon"),
        catalog_step("bill")
        .required("cents", match=("ale", "(> value 10)"))
        .required("parcel")
        .required("quote", collect="all")
        .optional("ribbon", default="none", deadline=5)
        .optional("discount")
        .output("paid")
        .python("bill"),
    )


async def callback(b: Bench) -> BenchRun:
    """A webhook whose outputs a script maps, and a second answer."""
    b.wire.plays("/render", (202, None))
    run = await b.start("render")
    token = b.wire.sent[0].token
    await run.webhook(token, {"url": "x"}, id="first")
    await run.webhook(token, {"url": "y"}, id="second")
    return run


def callback_steps() -> tuple[StepBuilder, ...]:
    made = catalog_step("render").output("image", script=("ale", '{:value (str "cdn/" (:url image))}'))
    return (made.webhook("http://steps.test/render"),)


async def undone(b: Bench) -> BenchRun:
    """A step that fails is undone while the run goes on; the run fails with work under way, and is resumed."""
    b.plays("hotel:undo", None, None, boom("no refund", final=True))
    b.plays("hotel", {"room": 1}, {"room": 2}, {"room": 3}, boom("full", final=True))
    b.plays("fly", boom("no wings", final=True), {"flight": "f"})
    b.plays("travel", {"done": True})
    run = await b.start("travel", {"cities": ["a", "b", "c"]})
    await b.finish("slow", late=1)
    await (await run.handle()).retry()
    await b.settle()
    return run


def undone_steps() -> tuple[StepBuilder, ...]:
    return (
        catalog_step("hotel").required("cities", for_each=True).output("room").python("hotel", compensate="hotel:undo"),
        work("fly", "cities", "flight"),
        work("slow", "cities", "late"),
        catalog_step("travel").required("flight").optional("room").optional("late").output("done").python("travel"),
    )


async def resumed(b: Bench) -> BenchRun:
    """A step begins anew with a value that was given again, an undone item is done again; a compensator fails for good
    and is tried again when the run has completed."""
    b.plays("reserve", {"r": 1}, {"r": 2})
    b.plays("reserve:undo", None)
    b.plays("pay:undo", boom("no bank", final=True), None)
    run = await b.start("pay", {"cards": ["a", "b"]})
    await b.finish("pay", paid=1)
    await b.fail("pay", "declined", final=True)
    [letter] = [each for each in await b.engine.dlq.list() if each.token.startswith("undo:")]
    await (await run.handle()).retry()
    await b.settle()
    await b.finish("pay", paid=2)
    await b.finish("pay", paid=3)
    await b.engine.dlq.retry(letter.id)
    await b.settle()
    return run


def resumed_steps() -> tuple[StepBuilder, ...]:
    reserve = catalog_step("reserve").output("r").python("reserve", compensate="reserve:undo")
    pay = catalog_step("pay").required("r").required("cards", for_each=True).output("paid").parallel(2)
    return reserve, pay.python("pay", compensate="pay:undo")


async def forked(b: Bench) -> BenchRun:
    b.plays("one", {"x": 1})
    b.plays("two", lambda inputs: {"y": inputs["x"] + 1})  # pyright: ignore[reportUnknownLambdaType]
    first = await b.start("two", id="original")
    fork = await (await first.handle()).fork("two", edits={"attributes": {"x": 41}}, id="fork")
    await b.settle()
    return BenchRun(b, fork.id)


def forked_steps() -> tuple[StepBuilder, ...]:
    return work("one", "", "x"), work("two", "x", "y")


RECIPES: dict[str, tuple[Play, Callable[[], tuple[StepBuilder, ...]]]] = {
    "order": (order, order_steps),
    "callback": (callback, callback_steps),
    "undone": (undone, undone_steps),
    "forked": (forked, forked_steps),
    "resumed": (resumed, resumed_steps),
}
