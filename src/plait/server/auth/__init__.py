"""Who may do what: keys, tokens, sessions, signed links, and the trail of what they did.

    request ─> guard ─┬─ keys      plait_… in a header
                      ├─ tokens    JWT of an issuer
                      └─ sessions  a cookie that stands for a key
    link ───> links                one use, until its time

Everything lasting is in `engine.records`; no secret is ever stored as it is.
"""

from .audit import Audit, Entry, Page
from .guard import KeyGuard, Login, secret_of
from .keys import Key, Keys
from .links import Link, Links, Minted
from .opening import refuse_open, refuse_open_mount
from .options import AuthOptions
from .tokens import Oidc

__all__ = [
    "Audit",
    "AuthOptions",
    "Entry",
    "Key",
    "KeyGuard",
    "Keys",
    "Link",
    "Links",
    "Login",
    "Minted",
    "Oidc",
    "Page",
    "refuse_open",
    "refuse_open_mount",
    "secret_of",
]
