"""The formatter: four spaces, comments kept, the program unchanged; formatting twice changes nothing."""
