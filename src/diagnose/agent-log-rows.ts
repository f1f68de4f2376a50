/** Platform of an agent: in a cluster, or on a machine with Docker or systemd. */
export type AgentPlatform = 'kubernetes' | 'host';

/** Meaning of one kind of line in the agent log. */
export interface AgentLogRow {
  code: string;
  pattern: RegExp;
  /** Seconds after which waiting longer does not help. A sidecar or a policy may need some seconds at the start. */
  hopelessAfter?: number;
  /** Remedy by platform. The row does not apply to platforms without one. */
  remedy: Readonly<Partial<Record<AgentPlatform, string>>>;
  /** Often temporary, so a bundle reports it only if it occurred several times or still persists. */
  isTransient?: true;
  /** Has the same meaning in the log of a run, because it affects both the agent and its runs. */
  isAlsoOfRuns?: true;
  /** Applies regardless of the age of the line, because the agent logs it only when it needs the resource. */
  isLasting?: true;
}

/**
 * The first matching row wins. The messages are those of the Python and Go libraries that the agent uses; Scalr documents
 * only the line of an agent that is ready.
 */
export const AGENT_LOG_ROWS: readonly AgentLogRow[] = [
  {
    code: 'DOCKER_UNREACHABLE',
    pattern: /(permission denied|cannot connect|connection refused|no such file).*docker(\.sock| daemon)/i,
    remedy: {host: 'The agent cannot reach Docker: mount /var/run/docker.sock into its container. On a VM, check scalr-docker'},
    isLasting: true,
  },
  {
    code: 'PROXY_REFUSED',
    pattern: /proxy ?error|proxy authentication required|tunnel connection failed|connect to proxy|407 from (the )?proxy|proxyconnect /i,
    hopelessAfter: 60,
    remedy: {
      kubernetes: 'The proxy rejects the agent: check --https-proxy, its credentials and --no-proxy',
      host: 'The proxy rejects the agent: check HTTPS_PROXY, its credentials and NO_PROXY',
    },
    isAlsoOfRuns: true,
  },
  {
    code: 'TLS_CERTIFICATE_INVALID',
    pattern:
      /certificate (has expired|is not yet valid|is valid for |is not valid for )|hostname mismatch|not valid for any names|doesn't match (either of )?'|IP address mismatch/i,
    hopelessAfter: 30,
    remedy: {
      kubernetes:
        'The server certificate has expired or is for another host name: renew it, or correct --url. Also check the clock of the node',
      host: 'The server certificate has expired or is for another host name: renew it, or correct SCALR_URL. Also check the clock of this machine',
    },
    isAlsoOfRuns: true,
  },
  {
    code: 'TLS_UNKNOWN_AUTHORITY',
    pattern: /CERTIFICATE_VERIFY_FAILED|self[- ]signed certificate|local issuer certificate|unknown authority|SSLCertVerificationError/i,
    hopelessAfter: 30,
    remedy: {
      kubernetes: 'The agent does not trust the server certificate: add the CA with --ca-file or --ca-secret, and include the public roots',
      host: 'The agent does not trust the server certificate: add the CA and the public roots with SCALR_CA_CERT (base64, or a path that the agent can read)',
    },
    isAlsoOfRuns: true,
  },
  {
    code: 'TLS_FAILED',
    pattern: /\bx509: |\bSSL(EOF)?Error\b|WRONG_VERSION_NUMBER|\btls: |tlsv1[23]? alert|TLS handshake timeout/,
    hopelessAfter: 60,
    remedy: {
      kubernetes: 'The TLS handshake failed: check --url, and any proxy in between that intercepts TLS',
      host: 'The TLS handshake failed: check SCALR_URL, and any proxy in between that intercepts TLS',
    },
    isAlsoOfRuns: true,
  },
  {
    code: 'TOKEN_REJECTED',
    pattern:
      /\b401\b.{0,200}unauthori[sz]ed|unauthori[sz]ed.{0,200}\b401\b|(invalid|expired|revoked|wrong)( agent)? token|token (is |was |has been |has )?(invalid|rejected|refused|expired|revoked|not valid)/i,
    hopelessAfter: 15,
    remedy: {
      kubernetes: 'Scalr seems to reject the token: create a new one in the agent pool, and check that --url belongs to the same account',
      host: 'Scalr seems to reject the token: create a new one in the agent pool, and check that SCALR_URL belongs to the same account',
    },
  },
  {
    code: 'AGENT_FORBIDDEN',
    pattern: /User \\*"system:serviceaccount:[^"]*" cannot/i,
    hopelessAfter: 30,
    remedy: {
      kubernetes:
        'The service account lacks permissions: let the chart create the account and its Role, or bind a Role to --service-account-name',
    },
  },
  {
    code: 'DISK_FULL',
    pattern: /no space left on device|disk quota exceeded|Errno (28|122)\b|\bENOSPC\b/i,
    hopelessAfter: 60,
    remedy: {
      kubernetes: 'The agent volume is full: increase --cache-size or the size of the PVC, or free disk space on the node',
      host: 'The disk with the agent data is full: free space, or enlarge the disk',
    },
    isAlsoOfRuns: true,
  },
  {
    code: 'DATA_NOT_WRITABLE',
    pattern: /(permission denied|read-only file system).{0,400}\/|(Errno (13|30))\b/i,
    hopelessAfter: 30,
    remedy: {
      kubernetes: 'The agent cannot write its data: check the owner of --data-home, --cache-path or the volume of the PVC',
      host: 'The agent cannot write its data: check the owner of SCALR_DATA_HOME and of the volumes mounted there',
    },
  },
  {
    code: 'DNS_FAILED',
    pattern:
      /name or service not known|name resolution|NameResolutionError|getaddrinfo|no such host|no address associated with hostname|server misbehaving/i,
    hopelessAfter: 120,
    remedy: {
      kubernetes: 'The agent cannot resolve a host name: check --url, the cluster DNS, and whether egress policies allow port 53',
      host: 'The agent cannot resolve a host name: check SCALR_URL and the DNS settings of this machine',
    },
    isTransient: true,
  },
  {
    code: 'SCALR_UNREACHABLE',
    pattern:
      /connection refused|cannot connect to host|connect ?timeout|connection timed out|network is unreachable|no route to host|max retries exceeded/i,
    hopelessAfter: 120,
    remedy: {
      kubernetes: 'The agent cannot reach Scalr: check --url, egress policies, and whether --https-proxy is required',
      host: 'The agent cannot reach Scalr: check SCALR_URL, the firewall, and whether HTTPS_PROXY is required',
    },
    isTransient: true,
  },
];
