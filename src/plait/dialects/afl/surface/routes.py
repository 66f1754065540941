"""What the dialect adds to the HTTP API: the tools of the language, steps and events of runs, handlers, and tasks for
agents."""

from .handler_routes import ROUTES as _HANDLERS
from .language_routes import ROUTES as _LANGUAGE
from .run_routes import ROUTES as _RUNS
from .task_routes import ROUTES as _TASKS

routes = (*_LANGUAGE, *_RUNS, *_HANDLERS, *_TASKS)

__all__ = ["routes"]
