"""The console's pages. They ask the folders below and write no row themselves."""
