"""Ten patient handbooks of five made-up transplant centers, questions and gold. Not medical advice.

``source/*.md`` are the texts, ``pdf/*.pdf`` what ``python -m transplantqa.samples.build`` makes of them,
``manifest.csv`` and ``questions.csv`` the inputs of a run, ``gold.yaml`` what a careful reader finds in the texts.
"""
