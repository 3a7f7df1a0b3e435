"""What is wrong with a policy, or with a part of one."""


class PolicyError(ValueError):
    """A policy that cannot be used; `errors` lists (JSON Pointer, sentence)."""

    def __init__(self, errors: list[tuple[str, str]]) -> None:
        self.errors = errors
        super().__init__("; ".join(f"{where or 'policy'}: {detail}" for where, detail in errors))
