module scalr-agent-install/test/engines/fleets/flux

go 1.26.6

require github.com/fluxcd/flux2/v2 v2.9.5 // indirect
