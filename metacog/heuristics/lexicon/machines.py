"""What machines go by, in whatever language people speak with them: names of errors, and commands. Ours."""

# What numbers in capitals behind a name count, where others say which error it is (TS2304).
COUNTERS = (
    r"(?:REQ|ID|JOB|TASK|PID|TID|RUN|TRACE|ORDER|TXN?|BUILD|WORKER|NODE|POD|HOST|PORT|LINE|ROW|UID|USER|CONN|PR)"
    r"[-_]?\d"
)
# Commands that run tests: to run them again while they pass is no loop.
RUNS_TESTS = (
    r"\b(?:py\.?test|unittest|nosetests|tox|nox|jest|vitest|mocha|karma|playwright test|cypress run|rspec|phpunit|ctest"
    r"|(?:npm|yarn|pnpm|bun|go|cargo|mvn|gradlew?|dotnet|swift|mix|make|rake|bazel|sbt|flutter|dart|deno|manage\.py)"
    r"(?: run)?(?: -\S+)* tests?)\b"
)
# Commands that wait for something, or ask whether it is there yet: to ask again is no loop.
WAITS = (
    r"(?:^|[;&|(]\s*|\bdo\s+)(?:sleep|watch|wait|until)\b|\s--(?:wait|watch|follow)\b|\btail\s+-[a-z0-9 ]*f\b"
    r"|\bkubectl\s+(?:-\S+\s+(?:[^-\s]\S*\s+)?)?(?:get|wait|top|rollout\s+status)\b"
    r"|\bgh\s+(?:run\s+(?:view|list|watch)|pr\s+(?:checks|status))\b|\bdocker(?:\s+compose)?\s+ps\b"
    r"|\bsystemctl\s+(?:status|is-active)\b|\b(?:squeue|sacct|nvidia-smi|pg_isready)\b"
    r"|\b(?:curl|wget|http)\b[^;&|]{0,120}(?:healthz?|ready|readyz|livez|alive|status|\bping)\b(?!=)"
)
