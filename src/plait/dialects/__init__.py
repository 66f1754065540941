"""Dialects: five ways to describe work, each a pure machine on the kernel. They never import each other."""
