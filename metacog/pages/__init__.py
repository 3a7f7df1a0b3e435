"""The console's pages for people, teams and agents. They ask `accounts`, `audit` and `notices`, and write no row
themselves.
"""
