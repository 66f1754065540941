"""The HTTP API under load: a real server, a load that does not wait for it, watchers, and a look from outside."""
