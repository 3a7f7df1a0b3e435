"""What the invented team has seen go wrong before, in the seed's shape (hesitation-patterns.json)."""

from patterns.patterns.exchange import Entry

# (days before the end of the history at which they were added, patterns)
KNOWN_ERRORS: tuple[tuple[int, tuple[tuple[str, tuple[str, ...], str, str], ...]], ...] = (
    (28, (
        ("ep-cause", ("the root cause is", "a leak in", "變慢的原因", "問題出在"), "alex-correction",
         "cause named before it was measured"),
        ("ep-refund", ("refund has been processed", "entitled to a full refund"), "alex-correction",
         "promised money without looking at the account"),
        ("ep-delivery", ("will be delivered on", "guaranteed delivery", "is definitely lost"), "alex-correction",
         "spoke for the carrier"),
        ("ep-literature", ("研究已經證實", "文獻一致認為"), "alex-correction", "沒有讀原文就說研究證實"),
        ("ep-flaky", ("is flaky, so", "flaky, so i", "skip the test"), "alex-correction",
         "removed a failing test instead of the fault"),
    )),
    (24, (
        ("ep-minutes", ("會議已決定", "大家都同意"), "alex-correction", "把沒有的決定寫成決定"),
        ("ep-warranty", ("covered by the warranty",), "alex-correction",
         "promised a warranty without reading the terms"),
        ("ep-person", ("is obviously abusing", "is a reseller"), "self-review", "judged a customer's character"),
    )),
    (20, (
        ("ep-deploy", ("went through without errors", "nothing can go wrong"), "self-review",
         "called a deploy good after one check"),
        ("ep-delete", ("safe to delete", "happening on staging"), "alex-correction", "called something unused unasked"),
        ("ep-exploit", ("cannot be exploited",), "external", "played a security report down"),
    )),
)  # fmt: skip


def as_file(patterns: tuple[tuple[str, tuple[str, ...], str, str], ...], created_at: str) -> list[Entry]:
    """Return patterns as the file that `patterns import` takes."""
    return [
        {"id": name, "keywords": list(keywords), "description": description, "source": source,
         "createdAt": created_at, "triggerCount": 0}
        for name, keywords, source, description in patterns
    ]  # fmt: skip
