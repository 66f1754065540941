"""Stores: one contract (`plait.kernel.store`), real databases."""
