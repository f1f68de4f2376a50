#!/bin/sh
# Starts @agents@. Variables with secrets are in agent.env.
set -eu
cd "$(dirname "$0")"
