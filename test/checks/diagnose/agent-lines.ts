interface AgentLine {
  code: string;
  line: string;
  /** Seconds after which an agent in Kubernetes that logs it cannot become ready; absent where it is no cause there. */
  permanentFrom?: number;
}

/** What agents log, and what it has to mean. Every row of `src/checks/diagnose/agent-log-rows.ts` has a line here. */
export const AGENT_LINES: readonly AgentLine[] = [
  {code: 'READY', line: 'The agent is ready to receive tasks'},
  {code: 'TOKEN_REJECTED', line: '401 Client Error: Unauthorized for url', permanentFrom: 15},
  {code: 'TOKEN_REJECTED', line: 'unauthorised (status 401)', permanentFrom: 15},
  {code: 'TOKEN_REJECTED', line: 'Invalid agent token', permanentFrom: 15},
  {code: 'TOKEN_REJECTED', line: 'the token has been revoked', permanentFrom: 15},
  {code: 'TOKEN_REJECTED', line: 'TOKEN EXPIRED', permanentFrom: 15},
  {
    code: 'TLS_UNKNOWN_AUTHORITY',
    line: 'x509: certificate signed by unknown authority',
    permanentFrom: 30,
  },
  {
    code: 'TLS_UNKNOWN_AUTHORITY',
    line: '[SSL: CERTIFICATE_VERIFY_FAILED] unable to get local issuer certificate',
    permanentFrom: 30,
  },
  {
    code: 'TLS_CERTIFICATE_INVALID',
    line: 'x509: certificate has expired or is not yet valid: current time 2026-11-21',
    permanentFrom: 30,
  },
  {
    code: 'TLS_CERTIFICATE_INVALID',
    line: 'x509: certificate is valid for a.example.com, not acme.scalr.io',
    permanentFrom: 30,
  },
  {
    code: 'TLS_CERTIFICATE_INVALID',
    line: "hostname 'acme.scalr.io' doesn't match 'proxy.local'",
    permanentFrom: 30,
  },
  {
    code: 'TLS_FAILED',
    line: 'ssl.SSLEOFError: EOF occurred in violation of protocol',
    permanentFrom: 60,
  },
  {code: 'TLS_FAILED', line: 'net/http: TLS handshake timeout', permanentFrom: 60},
  {code: 'TLS_FAILED', line: 'remote error: tls: internal error', permanentFrom: 60},
  {code: 'TLS_FAILED', line: 'SSL routines::tlsv1 alert internal error', permanentFrom: 60},
  {
    code: 'PROXY_REFUSED',
    line: 'OSError: Tunnel connection failed: 407 Proxy Authentication Required',
    permanentFrom: 60,
  },
  {
    code: 'PROXY_REFUSED',
    line: 'requests.exceptions.ProxyError: Cannot connect to proxy.',
    permanentFrom: 60,
  },
  {
    code: 'PROXY_REFUSED',
    line: 'curl: (56) Received HTTP code 407 from proxy after CONNECT',
    permanentFrom: 60,
  },
  {
    code: 'PROXY_REFUSED',
    line: 'proxyconnect tcp: dial tcp 10.0.0.1:3128: i/o timeout',
    permanentFrom: 60,
  },
  {
    code: 'AGENT_FORBIDDEN',
    line: 'pods is forbidden: User "system:serviceaccount:scalr:agent" cannot create resource "pods"',
    permanentFrom: 30,
  },
  {
    code: 'DISK_FULL',
    line: "OSError: [Errno 28] No space left on device: '/var/lib/scalr-agent/x'",
    permanentFrom: 60,
  },
  {code: 'DISK_FULL', line: 'write /tmp/plan: disk quota exceeded', permanentFrom: 60},
  {
    code: 'NOEXEC_MOUNT',
    line: 'fork/exec /cache/plugins/terraform-provider-aws_v5: permission denied',
    permanentFrom: 30,
  },
  {
    code: 'DATA_NOT_WRITABLE',
    line: "PermissionError: [Errno 13] Permission denied: '/var/lib/scalr-agent'",
    permanentFrom: 30,
  },
  {code: 'DATA_NOT_WRITABLE', line: 'mkdir: read-only file system: /data', permanentFrom: 30},
  {
    code: 'DNS_FAILED',
    line: 'Failed to resolve: [Errno -3] Temporary failure in name resolution',
    permanentFrom: 120,
  },
  {code: 'DNS_FAILED', line: 'dial tcp: lookup acme.scalr.io: no such host', permanentFrom: 120},
  {code: 'DNS_FAILED', line: 'socket.gaierror: getaddrinfo failed', permanentFrom: 120},
  {
    code: 'CONNECTION_FAILED',
    line: 'HTTPSConnectionPool: Max retries exceeded with url: /api',
    permanentFrom: 120,
  },
  {
    code: 'CONNECTION_FAILED',
    line: 'dial tcp 10.0.0.1:443: connect: connection refused',
    permanentFrom: 120,
  },
  {code: 'CONNECTION_FAILED', line: 'ConnectTimeout: timed out', permanentFrom: 120},
  {code: 'CONNECTION_FAILED', line: '[Errno 113] No route to host', permanentFrom: 120},
  {
    code: 'SCALR_FORBIDDEN',
    line: '403 Client Error: Forbidden for url: https://acme.scalr.io/api/agents/register',
    permanentFrom: 60,
  },
  {
    code: 'AGENT_QUOTA_EXCEEDED',
    line: 'Cannot register the agent: 402 Client Error: agents quota exceeded for the account',
    permanentFrom: 30,
  },
  {
    code: 'AGENT_API_NOT_FOUND',
    line: '404 Client Error: Not Found for url: https://acme.example.io/api/agents/register',
    permanentFrom: 60,
  },
  {
    code: 'CLOCK_SKEW',
    line: 'jwt.exceptions.ImmatureSignatureError: The token is not yet valid (iat)',
    permanentFrom: 120,
  },
  {
    code: 'WEB_PAGE_ANSWERED',
    line: 'json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)',
    permanentFrom: 60,
  },
  {
    code: 'DATA_NOT_WRITABLE',
    line: "PermissionError: [Errno 1] Operation not permitted: '/var/lib/scalr-agent/x'",
    permanentFrom: 30,
  },
  {
    code: 'SCALR_UNAVAILABLE',
    line: '502 Server Error: Bad Gateway for url: https://acme.scalr.io/api/agents',
    permanentFrom: 600,
  },
  {
    code: 'SCALR_UNAVAILABLE',
    line: 'upstream connect error or disconnect/reset before headers',
    permanentFrom: 600,
  },
  {code: 'MESH_DENIED', line: 'RBAC: access denied', permanentFrom: 60},
  {
    code: 'CA_REJECTED_STRICT',
    line: '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: Missing Authority Key Identifier',
    permanentFrom: 30,
  },
  {
    code: 'VOLUME_BROKEN',
    line: "OSError: [Errno 116] Stale file handle: '/var/lib/scalr-agent/cache'",
    permanentFrom: 60,
  },
  {code: 'VOLUME_BROKEN', line: 'OSError: [Errno 5] Input/output error', permanentFrom: 60},
  {
    code: 'INOTIFY_LIMIT',
    line: 'OSError: [Errno 24] inotify instance limit reached',
    permanentFrom: 60,
  },
  {
    code: 'DOCKER_UNREACHABLE',
    line: 'permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock',
  },
  {
    code: 'DOCKER_UNREACHABLE',
    line: 'dial unix /var/run/docker.sock: connect: permission denied',
  },
  {
    code: 'DOCKER_UNREACHABLE',
    line: 'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?',
  },
];
