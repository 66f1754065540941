"""The exit codes of `plait`."""

OK = 0
FAILED = 1
REFUSED = 2
CANCELLED = 3
BLOCKED = 4
BUG = 70
INTERRUPTED = 130

EPILOG = """\
Every command takes --json. --db names a database, or a server (http://host:port,
with --key or $PLAIT_KEY); without it, $PLAIT_DB, else sqlite:///plait.db.

\b
Exit codes:
  0    done; the run completed; the code fits; no problems found
  1    the run failed; the code does not fit; problems found
  2    not done: wrong usage, no such run, no database, could not check
  3    the run was cancelled
  4    the run is blocked: code that it needs does not fit, or is not loaded
  70   a bug in Plait
  130  interrupted; the run is kept
"""
