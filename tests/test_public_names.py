"""The public face: what may be imported, that it is documented, and that the error trees are drawn as they are."""

import inspect
import re
from types import ModuleType

import pytest

import plait
import plait.catalog
import plait.code
import plait.errors
import plait.testing
from plait.dialects.code import errors as code_errors
from plait.kernel import errors as kernel_errors

PLAIT = [
    "Context",
    "CriticalError",
    "Engine",
    "Handle",
    "Limits",
    "Loop",
    "PlaitError",
    "Retry",
    "RollbackError",
    "Route",
    "Undo",
    "afl",
    "goals",
    "graph",
    "handler",
    "heartbeat",
    "refs",
    "step",
    "step_info",
    "step_log",
    "workflow",
]
CODE = [
    "Driver",
    "Message",
    "Op",
    "PassResult",
    "Results",
    "SqliteDriver",
    "Step",
    "StepInfo",
    "StepOptions",
    "Undo",
    "Verdict",
    "Won",
    "Workflow",
    "WorkflowHandle",
    "run_workflow",
]
ERRORS = [
    "Busy",
    "ChildFailedError",
    "Conflict",
    "ContinueAsNew",
    "CriticalError",
    "Damaged",
    "Erased",
    "ErrorInfo",
    "EvictedError",
    "Forbidden",
    "HistoryDivergedError",
    "InvalidInput",
    "JoinError",
    "LeaseLost",
    "MessageBodyError",
    "MissingExtra",
    "NotFound",
    "PlaitError",
    "RaceError",
    "RollbackError",
    "RunBlocked",
    "RunExistsError",
    "RunFailed",
    "Stale",
    "StepError",
    "StepExhaustedError",
    "StepTimeoutError",
    "TooLarge",
    "Unavailable",
    "WorkflowCodeError",
]
CATALOG = ["Input", "Meta", "PythonStep", "StepBuilder", "catalog_step", "python_step"]
MODULES = [(plait, PLAIT), (plait.code, CODE), (plait.errors, ERRORS), (plait.catalog, CATALOG)]


@pytest.mark.parametrize(("module", "names"), MODULES, ids=lambda part: getattr(part, "__name__", ""))
def test_the_public_names_are_these_and_no_others(module: ModuleType, names: list[str]):
    assert list(module.__all__) == names
    assert names == sorted(names)


def test_there_are_fewer_than_forty_of_them():
    assert len(plait.__all__) < 40


@pytest.mark.parametrize(
    "module", [plait, plait.code, plait.errors, plait.catalog, plait.testing], ids=lambda module: module.__name__
)
def test_every_public_name_is_there_and_says_what_it_is_for(module: ModuleType):
    for name in module.__all__:
        found = getattr(module, name)
        said = vars(found).get("__doc__") if isinstance(found, type) else inspect.getdoc(found)
        assert said, f"{module.__name__}.{name} has no docstring"
        assert not said.startswith(f"{name}("), f"{module.__name__}.{name} has a made-up docstring"


@pytest.mark.parametrize(
    "cls", [plait.Engine, plait.Handle, plait.Context, plait.catalog.StepBuilder], ids=lambda cls: cls.__name__
)
def test_every_public_method_of_the_main_classes_says_what_it_does(cls: type):
    silent = {
        name
        for name, member in vars(cls).items()
        if not name.startswith("_") and callable(member) and not inspect.getdoc(member)
    }
    assert silent == set()


# -- error trees -----------------------------------------------------------------------------------------------------

_LINE = re.compile(r"^(?P<branch>[│├└─ ]*)(?P<names>[A-Z]\w*(?:, [A-Z]\w*)*)(?:  +| *$)")


def drawn(module: ModuleType) -> dict[str, str | None]:
    """Each class in a module's drawing, with the one it is drawn below."""
    found: dict[str, str | None] = {}
    above: list[str] = []
    margin = _margin(module)
    for line in (module.__doc__ or "").splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        depth = (len(match["branch"]) - margin) // 4 if "─" in match["branch"] else 0
        for name in match["names"].split(", "):
            found[name] = above[depth - 1] if depth else None
        above[depth:] = [match["names"].split(", ")[0]]
    return found


def _margin(module: ModuleType) -> int:
    lines = [line for line in (module.__doc__ or "").splitlines() if re.match(r" *[├└]", line)]
    return min((len(line) - len(line.lstrip(" ")) for line in lines), default=0)


@pytest.mark.parametrize("module", [kernel_errors, code_errors], ids=lambda module: module.__name__)
def test_the_error_tree_is_drawn_as_it_is(module: ModuleType):
    tree = drawn(module)
    assert len(tree) > 5
    for name, parent in tree.items():
        cls = getattr(module, name)
        assert issubclass(cls, BaseException)
        if parent is not None:
            assert issubclass(cls, getattr(module, parent)), f"{name} is not a {parent}"
        else:
            bases = {base.__name__ for base in cls.__mro__[1:]} & set(tree)
            assert not bases, f"{name} is drawn as a root, but is a {bases}"


@pytest.mark.parametrize("module", [kernel_errors, code_errors], ids=lambda module: module.__name__)
def test_no_error_is_missing_in_the_drawing(module: ModuleType):
    defined = {
        name
        for name, found in vars(module).items()
        if isinstance(found, type)
        and issubclass(found, BaseException)
        and found.__module__ == module.__name__
        and not name.startswith("_")
    }
    assert defined <= set(drawn(module))


def test_every_error_that_is_drawn_can_be_imported_from_one_place():
    drawings = set(drawn(kernel_errors)) | set(drawn(code_errors))
    assert drawings <= set(plait.errors.__all__)


def test_the_drawing_tells_the_status_of_every_error():
    for line in (kernel_errors.__doc__ or "").splitlines():
        match = re.search(r"([A-Z]\w+) +(\d{3}) ", line)
        if match is not None:
            assert getattr(kernel_errors, match[1]).status == int(match[2])


def test_an_error_says_what_happened_why_and_what_to_do():
    error = plait.PlaitError("kernel.example", "it broke", why="it was old", fix="buy a new one")
    assert str(error) == "it broke: it was old. To fix: buy a new one [kernel.example]"
    assert str(plait.PlaitError("kernel.example", "it broke")) == "it broke [kernel.example]"
