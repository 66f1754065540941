"""Authentication and audit: API keys, tokens, sessions, signed links, and the log of their use.

    request ─> guard ─┬─ keys      plait_… in a header
                      ├─ tokens    JWT of an issuer
                      └─ sessions  a cookie that stands for a key
    link ───> links                works once, until it expires

Everything durable is in `engine.records`; no secret is stored in plain text.
"""

from .audit import Audit
from .guard import KeyGuard, Login, secret_of
from .keys import Keys
from .links import Link, LinkMaker, Links, Minted
from .loopback import refuse_open, refuse_open_mount
from .options import AuthOptions, Oidc

__all__ = [
    "Audit",
    "AuthOptions",
    "KeyGuard",
    "Keys",
    "Link",
    "LinkMaker",
    "Links",
    "Login",
    "Minted",
    "Oidc",
    "refuse_open",
    "refuse_open_mount",
    "secret_of",
]
