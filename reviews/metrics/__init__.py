"""What is counted: daily figures, review time, spot checks, fitted weights, agreement, Prometheus."""
