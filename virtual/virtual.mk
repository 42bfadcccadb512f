# Included by the Makefile; works by itself too: make -f virtual/virtual.mk test-virtual
VENV ?= .venv
VIRTUAL_PYTHON := $(VENV)/bin/python

.PHONY: test-virtual

test-virtual: $(VENV)/.engine $(VENV)/.develop ## boot machines with soft-RoCE, provision them, measure (root, or packages there)
	@$(VIRTUAL_PYTHON) -m rogue.virtual prepare
	@$(VIRTUAL_PYTHON) -m pytest -m "virtual and not long" -s --durations 10 tests/virtual
