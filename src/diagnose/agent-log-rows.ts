/** Where an agent runs: in a cluster, or on a machine under Docker or systemd. */
export type Platform = 'kubernetes' | 'host';

/** What one kind of line in the agent's own log means. */
export interface AgentLogRow {
  code: string;
  pattern: RegExp;
  /** Seconds after which waiting longer will not help. A sidecar or a policy may need some seconds at the start. */
  hopelessAfter?: number;
  /** By platform. Where there is none, the row does not apply. */
  remedy: Readonly<Partial<Record<Platform, string>>>;
  /** Often passes by itself, so a bundle reports it only when it came several times or is not over. */
  isTransient?: true;
  /** Means the same in the log of a run: what it is about is common to the agent and its runs. */
  isAlsoOfRuns?: true;
  /** Counts however old the line is, because the agent logs it only when it needs it. */
  isLasting?: true;
}

/**
 * The first row that matches a line wins. The messages are those of the Python and Go libraries that the agent uses; Scalr documents
 * only the line of an agent that is ready.
 */
export const AGENT_LOG_ROWS: readonly AgentLogRow[] = [
  {
    code: 'DOCKER_UNREACHABLE',
    pattern: /(permission denied|cannot connect|connection refused|no such file).*docker(\.sock| daemon)/i,
    remedy: {
      host: 'The agent does not reach docker: mount /var/run/docker.sock into its container, and on a VM check scalr-docker',
    },
    isLasting: true,
  },
  {
    code: 'PROXY_REFUSED',
    pattern: /proxy ?error|proxy authentication required|tunnel connection failed|connect to proxy|407 from (the )?proxy|proxyconnect /i,
    hopelessAfter: 60,
    remedy: {
      kubernetes: 'The proxy lets the agent not through: check --https-proxy, its user and --no-proxy',
      host: 'The proxy lets the agent not through: check HTTPS_PROXY, its user and NO_PROXY',
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
        'The certificate that the agent is shown has expired or is of another name: renew it, or correct --url; also look at the clock of the node',
      host: 'The certificate that the agent is shown has expired or is of another name: renew it, or correct SCALR_URL; also look at the clock of this machine',
    },
    isAlsoOfRuns: true,
  },
  {
    code: 'TLS_UNKNOWN_AUTHORITY',
    pattern: /CERTIFICATE_VERIFY_FAILED|self[- ]signed certificate|local issuer certificate|unknown authority|SSLCertVerificationError/i,
    hopelessAfter: 30,
    remedy: {
      kubernetes:
        'The agent does not trust the certificate it is shown: give the authority with --ca-file or --ca-secret, public roots included',
      host: 'The agent does not trust the certificate it is shown: give the authority with SCALR_CA_CERT, a path that the agent sees or base64, public roots included',
    },
    isAlsoOfRuns: true,
  },
  {
    code: 'TLS_FAILED',
    pattern: /\bx509: |\bSSL(EOF)?Error\b|WRONG_VERSION_NUMBER|\btls: |tlsv1[23]? alert|TLS handshake timeout/,
    hopelessAfter: 60,
    remedy: {
      kubernetes: 'The agent and what answers it find no TLS in common: look at what stands between them, a proxy that opens TLS or --url',
      host: 'The agent and what answers it find no TLS in common: look at what stands between them, a proxy that opens TLS or SCALR_URL',
    },
    isAlsoOfRuns: true,
  },
  {
    code: 'TOKEN_REJECTED',
    pattern:
      /\b401\b.{0,200}unauthori[sz]ed|unauthori[sz]ed.{0,200}\b401\b|(invalid|expired|revoked|wrong)( agent)? token|token (is |was |has been |has )?(invalid|rejected|refused|expired|revoked|not valid)/i,
    hopelessAfter: 15,
    remedy: {
      kubernetes: 'Scalr seems to refuse the token: make a new one in the agent pool, and check that --url is of the same account',
      host: 'Scalr seems to refuse the token: make a new one in the agent pool, and check that SCALR_URL is of the same account',
    },
  },
  {
    code: 'AGENT_FORBIDDEN',
    pattern: /User \\*"system:serviceaccount:[^"]*" cannot/i,
    hopelessAfter: 30,
    remedy: {
      kubernetes: 'The service account lacks rights: let the chart create Role and account, or bind them to --service-account-name',
    },
  },
  {
    code: 'DISK_FULL',
    pattern: /no space left on device|disk quota exceeded|Errno (28|122)\b|\bENOSPC\b/i,
    hopelessAfter: 60,
    remedy: {
      kubernetes: 'The volume of the agent is full: enlarge --cache-size or the claim, or free the disk of the node',
      host: 'The disk is full where the agent keeps its data: free or enlarge it',
    },
    isAlsoOfRuns: true,
  },
  {
    code: 'DATA_NOT_WRITABLE',
    pattern: /(permission denied|read-only file system).{0,400}\/|(Errno (13|30))\b/i,
    hopelessAfter: 30,
    remedy: {
      kubernetes: 'The agent cannot write its data: check the owner of --data-home, --cache-path or the claim',
      host: 'The agent cannot write its data: check the owner of SCALR_DATA_HOME and of what is mounted there',
    },
  },
  {
    code: 'DNS_FAILED',
    pattern:
      /name or service not known|name resolution|NameResolutionError|getaddrinfo|no such host|no address associated with hostname|server misbehaving/i,
    hopelessAfter: 120,
    remedy: {
      kubernetes: 'The agent cannot resolve a name: check --url, the DNS of the cluster, and whether an egress policy lets port 53 through',
      host: 'The agent cannot resolve a name: check SCALR_URL and the DNS of this machine',
    },
    isTransient: true,
  },
  {
    code: 'SCALR_UNREACHABLE',
    pattern:
      /connection refused|cannot connect to host|connect ?timeout|connection timed out|network is unreachable|no route to host|max retries exceeded/i,
    hopelessAfter: 120,
    remedy: {
      kubernetes: 'The agent does not reach Scalr: check --url, egress policies and whether it needs --https-proxy',
      host: 'The agent does not reach Scalr: check SCALR_URL, the firewall and whether it needs HTTPS_PROXY',
    },
    isTransient: true,
  },
];
