"""What editors ask about a program: where is it declared, what is it, what could stand here."""
