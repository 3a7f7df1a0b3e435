"""The data and the small agent of `manage.py demo`."""
