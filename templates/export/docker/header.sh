#!/bin/sh
# Starts @agents@. Variables with secrets are in agent.env.
@origin@
set -eu
cd "$(dirname "$0")"
