"""Who may do what: members and their roles, agents and their keys, what is kept how long, and the forms for it."""
