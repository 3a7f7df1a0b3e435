"""Who is asked about held items, and who next while nobody decides: routes, steps, and a rota of who is on call."""
