.PHONY: check test docs

check:  ## everything a change must pass, as CI runs it
	.ci/run

test:  ## the tests alone
	uv run pytest -n 2 --dist loadfile --no-loadscope-reorder

docs:  ## the pages of docs/ as a site in docs/_build
	uv run python docs/build_configuration.py
	uv run mkdocs build
