"""Whether the judge is an instrument: pairs sampled for people, what people said, and how far the judge agrees."""
