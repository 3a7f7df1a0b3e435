"""What is between Django and the databases: ids, fields, prepared statements, rows, the SQLite backend."""
