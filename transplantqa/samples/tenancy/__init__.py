"""Seven guides for tenants of four made-up states, questions and gold. Not legal advice.

Made as the transplant sample is: ``source/``, ``pdf/``, ``manifest.csv``, ``questions.csv``, ``gold.yaml``.
"""
