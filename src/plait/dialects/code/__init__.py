"""The `code` dialect: durable Python functions, replayed from their history."""
