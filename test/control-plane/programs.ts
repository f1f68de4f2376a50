import {join} from 'node:path';
import type {Certificates} from './certificates.ts';

/** Shared settings of the programs of one cluster. */
export interface Setup {
  directory: string;
  certificates: Certificates;
  ports: {etcd: number; etcdPeer: number; server: number; kubelet: number};
  /** Kubeconfig files by client. */
  kubeconfigs: {admin: string; controllerManager: string; scheduler: string};
}

/** `{'a-flag': 'value'}` as `--a-flag=value`. */
const flags = (values: Record<string, string | number | boolean>): string[] =>
  Object.entries(values).map(([name, value]) => `--${name}=${value}`);

/** A file beside the kubeconfig. */
export const ETCD_ADDRESS = 'etcd-address';

export const etcd = ({directory, ports}: Setup): string[] =>
  flags({
    name: 'etcd',
    'data-dir': join(directory, 'etcd'),
    'listen-client-urls': `http://127.0.0.1:${ports.etcd}`,
    'advertise-client-urls': `http://127.0.0.1:${ports.etcd}`,
    'listen-peer-urls': `http://127.0.0.1:${ports.etcdPeer}`,
    'initial-advertise-peer-urls': `http://127.0.0.1:${ports.etcdPeer}`,
    'initial-cluster': `etcd=http://127.0.0.1:${ports.etcdPeer}`,
    // The data is not needed after a crash, and fsync dominates the cost of a write.
    'unsafe-no-fsync': true,
    'log-level': 'warn',
  });

export const apiServer = ({certificates, ports}: Setup): string[] =>
  flags({
    'etcd-servers': `http://127.0.0.1:${ports.etcd}`,
    'bind-address': '127.0.0.1',
    'secure-port': ports.server,
    'tls-cert-file': certificates.server.cert,
    'tls-private-key-file': certificates.server.key,
    'client-ca-file': certificates.ca.cert,
    'authorization-mode': 'RBAC',
    'service-cluster-ip-range': '10.96.0.0/16',
    'service-account-issuer': 'https://kubernetes.default.svc',
    'service-account-key-file': certificates.tokens,
    'service-account-signing-key-file': certificates.ca.key,
    // Pod Security admission decides about privileged pods, as in real clusters.
    'allow-privileged': true,
    'kubelet-preferred-address-types': 'InternalIP',
    'kubelet-certificate-authority': certificates.ca.cert,
    'kubelet-client-certificate': certificates.kubeletClient.cert,
    'kubelet-client-key': certificates.kubeletClient.key,
    // Endpoints of the service `kubernetes` cannot contain a loopback address.
    'endpoint-reconciler-type': 'none',
  });

/** The default rate limits would dominate the duration of a start and of rollouts. */
const UNTHROTTLED = {'kube-api-qps': 500, 'kube-api-burst': 1000};

export const controllerManager = ({certificates, kubeconfigs}: Setup): string[] =>
  flags({
    kubeconfig: kubeconfigs.controllerManager,
    'use-service-account-credentials': true,
    ...UNTHROTTLED,
    'service-account-private-key-file': certificates.ca.key,
    'root-ca-file': certificates.ca.cert,
    'cluster-signing-cert-file': certificates.ca.cert,
    'cluster-signing-key-file': certificates.ca.key,
    'leader-elect': false,
    'secure-port': 0,
  });

export const scheduler = ({kubeconfigs}: Setup): string[] =>
  flags({
    kubeconfig: kubeconfigs.scheduler,
    ...UNTHROTTLED,
    'leader-elect': false,
    'secure-port': 0,
  });

export const kwok = ({directory, kubeconfigs}: Setup): string[] =>
  flags({kubeconfig: kubeconfigs.admin, config: join(directory, 'kwok.yaml')});
