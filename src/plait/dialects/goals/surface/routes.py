"""What the dialect adds to the HTTP API: the step catalog, and saving steps through `POST /definitions`."""

from .catalog_routes import ROUTES as routes
from .save_steps import SAVE as save

__all__ = ["routes", "save"]
