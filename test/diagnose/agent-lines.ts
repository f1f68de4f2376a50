interface AgentLine {
  code: string;
  line: string;
  /** Seconds after which an agent in Kubernetes that logs it is hopeless; absent where it is no cause there. */
  hopelessFrom?: number;
}

/** What agents log, and what it has to mean. Every row of `src/diagnose/agent-log.ts` has a line here. */
export const AGENT_LINES: readonly AgentLine[] = [
  {code: 'READY', line: 'The agent is ready to receive tasks'},
  {code: 'TOKEN_REJECTED', line: '401 Client Error: Unauthorized for url', hopelessFrom: 15},
  {code: 'TOKEN_REJECTED', line: 'unauthorised (status 401)', hopelessFrom: 15},
  {code: 'TOKEN_REJECTED', line: 'Invalid agent token', hopelessFrom: 15},
  {code: 'TOKEN_REJECTED', line: 'the token has been revoked', hopelessFrom: 15},
  {code: 'TOKEN_REJECTED', line: 'TOKEN EXPIRED', hopelessFrom: 15},
  {code: 'TLS_UNKNOWN_AUTHORITY', line: 'x509: certificate signed by unknown authority', hopelessFrom: 30},
  {code: 'TLS_UNKNOWN_AUTHORITY', line: '[SSL: CERTIFICATE_VERIFY_FAILED] unable to get local issuer certificate', hopelessFrom: 30},
  {code: 'TLS_CERTIFICATE_INVALID', line: 'x509: certificate has expired or is not yet valid: current time 2026-11-21', hopelessFrom: 30},
  {code: 'TLS_CERTIFICATE_INVALID', line: 'x509: certificate is valid for a.example.com, not acme.scalr.io', hopelessFrom: 30},
  {code: 'TLS_CERTIFICATE_INVALID', line: "hostname 'acme.scalr.io' doesn't match 'proxy.local'", hopelessFrom: 30},
  {code: 'TLS_FAILED', line: 'ssl.SSLEOFError: EOF occurred in violation of protocol', hopelessFrom: 60},
  {code: 'TLS_FAILED', line: 'net/http: TLS handshake timeout', hopelessFrom: 60},
  {code: 'TLS_FAILED', line: 'remote error: tls: internal error', hopelessFrom: 60},
  {code: 'TLS_FAILED', line: 'SSL routines::tlsv1 alert internal error', hopelessFrom: 60},
  {code: 'PROXY_REFUSED', line: 'OSError: Tunnel connection failed: 407 Proxy Authentication Required', hopelessFrom: 60},
  {code: 'PROXY_REFUSED', line: 'requests.exceptions.ProxyError: Cannot connect to proxy.', hopelessFrom: 60},
  {code: 'PROXY_REFUSED', line: 'curl: (56) Received HTTP code 407 from proxy after CONNECT', hopelessFrom: 60},
  {code: 'PROXY_REFUSED', line: 'proxyconnect tcp: dial tcp 10.0.0.1:3128: i/o timeout', hopelessFrom: 60},
  {
    code: 'AGENT_FORBIDDEN',
    line: 'pods is forbidden: User "system:serviceaccount:scalr:agent" cannot create resource "pods"',
    hopelessFrom: 30,
  },
  {code: 'DISK_FULL', line: "OSError: [Errno 28] No space left on device: '/var/lib/scalr-agent/x'", hopelessFrom: 60},
  {code: 'DISK_FULL', line: 'write /tmp/plan: disk quota exceeded', hopelessFrom: 60},
  {code: 'DATA_NOT_WRITABLE', line: "PermissionError: [Errno 13] Permission denied: '/var/lib/scalr-agent'", hopelessFrom: 30},
  {code: 'DATA_NOT_WRITABLE', line: 'mkdir: read-only file system: /data', hopelessFrom: 30},
  {code: 'DNS_FAILED', line: 'Failed to resolve: [Errno -3] Temporary failure in name resolution', hopelessFrom: 120},
  {code: 'DNS_FAILED', line: 'dial tcp: lookup acme.scalr.io: no such host', hopelessFrom: 120},
  {code: 'DNS_FAILED', line: 'socket.gaierror: getaddrinfo failed', hopelessFrom: 120},
  {code: 'SCALR_UNREACHABLE', line: 'HTTPSConnectionPool: Max retries exceeded with url: /api', hopelessFrom: 120},
  {code: 'SCALR_UNREACHABLE', line: 'dial tcp 10.0.0.1:443: connect: connection refused', hopelessFrom: 120},
  {code: 'SCALR_UNREACHABLE', line: 'ConnectTimeout: timed out', hopelessFrom: 120},
  {code: 'SCALR_UNREACHABLE', line: '[Errno 113] No route to host', hopelessFrom: 120},
  {
    code: 'DOCKER_UNREACHABLE',
    line: 'permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock',
  },
  {code: 'DOCKER_UNREACHABLE', line: 'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?'},
];
