"""Is it a program that means something? Every rule is checked, every name linked to what it means."""
