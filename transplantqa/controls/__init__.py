"""Controls: how far the pipeline's own figures can be believed, found by asking some of it again."""
