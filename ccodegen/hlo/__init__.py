"""HLO: shapes, the immutable IR, text and proto forms, the verifier and the evaluator."""
