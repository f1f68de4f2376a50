#!/bin/sh
# Validates values files with the version of the package that this directory belongs to, or VALIDATE_VERSION.
set -eu
version=${VALIDATE_VERSION:-$(sed -n 's/^  "version": "\(.*\)",$/\1/p' "$(dirname "$0")/../package.json")}
exec npx --yes "scalr-agent-install@$version" validate "$@"
