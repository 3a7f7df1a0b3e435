"""What every request passes: the API's frame and its problems, the middleware, probes, and CSV. It knows no row
of `reviews`.
"""
