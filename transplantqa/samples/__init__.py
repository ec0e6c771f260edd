"""Sample corpora shipped with the package: our own text about made-up institutions, with gold."""
