"""A newcomer's first step: a folder of documents to a manifest, a questions template and configurations."""
