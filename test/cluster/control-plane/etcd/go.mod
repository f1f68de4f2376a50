module scalr-agent-install/test/cluster/etcd

go 1.25.0

tool go.etcd.io/etcd/server/v3
