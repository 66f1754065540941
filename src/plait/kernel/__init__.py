"""The kernel: runs any dialect's machine durably. It imports no other part of Plait."""
