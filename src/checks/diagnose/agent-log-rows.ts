import {TOKEN_REJECTED} from '../../ground/errors.ts';

/** Platform of an agent: in a cluster, or on a machine with Docker or systemd. */
export type AgentPlatform = 'kubernetes' | 'host';

/** Meaning of one kind of line in the agent log. */
export interface AgentLogRow {
  code: string;
  pattern: RegExp;
  /** Seconds after which waiting longer does not help. A sidecar or a policy may need some seconds at the start. */
  permanentAfter?: number;
  /** Remedy by platform. The row does not apply to platforms without one. */
  remedy: Readonly<Partial<Record<AgentPlatform, string>>>;
  /** Often temporary, so a bundle reports it only if it occurred several times or still persists. */
  isTransient?: true;
  /** Has the same meaning in the log of a run, because it affects both the agent and its runs. */
  isAlsoOfRuns?: true;
  /** Does not apply to a line about another server, such as a VCS provider that a run uses. */
  isOfScalr?: true;
  /** Applies regardless of the age of the line, because the agent logs it only when it needs the resource. */
  isLasting?: true;
}

/** The newest lines are errors that no row knows, and no line says that the agent is ready. */
export const UNRECOGNIZED = 'AGENT_LOG_UNRECOGNIZED';

/**
 * The first matching row wins. The messages are those of the Python and Go libraries that the agent uses; Scalr documents
 * only the line of an agent that is ready.
 */
export const AGENT_LOG_ROWS: readonly AgentLogRow[] = [
  {
    code: 'DOCKER_UNREACHABLE',
    pattern:
      /(permission denied|cannot connect|connection refused|no such file).*docker(\.sock| daemon)|docker\.sock.*(permission denied|connection refused|no such file)/i,
    remedy: {
      host: 'The agent cannot reach Docker: mount /var/run/docker.sock into its container, which its user must be allowed to use. On a VM, check scalr-docker',
    },
    isLasting: true,
  },
  {
    code: 'PROXY_REFUSED',
    pattern:
      /proxy ?error|proxy authentication required|tunnel connection failed|connect to proxy|40[37] from (the )?proxy|proxyconnect /i,
    permanentAfter: 60,
    remedy: {
      kubernetes:
        'The proxy rejects the agent, or does not answer: check the address and the credentials in --https-proxy, and --no-proxy',
      host: 'The proxy rejects the agent, or does not answer: check the address and the credentials in HTTPS_PROXY, and NO_PROXY',
    },
    isAlsoOfRuns: true,
  },
  {
    code: 'TLS_CERTIFICATE_INVALID',
    pattern:
      /certificate (has expired|is not yet valid|is valid for |is not valid for )|hostname mismatch|not valid for any names|doesn't match (either of )?'|IP address mismatch/i,
    permanentAfter: 30,
    remedy: {
      kubernetes:
        'The certificate of the server has expired or is for another host name: renew it, or correct the address, which is --url for Scalr. Also check the clock of the node',
      host: 'The certificate of the server has expired or is for another host name: renew it, or correct the address, which is SCALR_URL for Scalr. Also check the clock of this machine',
    },
    isAlsoOfRuns: true,
  },
  {
    code: 'CA_REJECTED_STRICT',
    pattern:
      /missing (authority|subject) key identifier|basic constraints of ca cert not marked critical|CA cert does not include key usage/i,
    permanentAfter: 30,
    remedy: {
      kubernetes:
        'The CA certificate does not comply with RFC 5280, which newer Python versions require: reissue the CA with the missing extension, and update --ca-file',
      host: 'The CA certificate does not comply with RFC 5280, which newer Python versions require: reissue the CA with the missing extension, and update SCALR_CA_CERT',
    },
    isAlsoOfRuns: true,
  },
  {
    code: 'TLS_UNKNOWN_AUTHORITY',
    pattern:
      /CERTIFICATE_VERIFY_FAILED|self[- ]signed certificate|local issuer certificate|unknown authority|SSLCertVerificationError|certificate verification failed/i,
    permanentAfter: 30,
    remedy: {
      kubernetes:
        'The agent does not trust the server certificate: add the CA with --ca-file or --ca-secret, and include the public roots',
      host: 'The agent does not trust the server certificate. Set SCALR_CA_CERT to the CA and the public roots: base64, or a path that the agent can read',
    },
    isAlsoOfRuns: true,
  },
  {
    code: 'TLS_FAILED',
    pattern:
      /\bx509: |\bSSL(EOF)?Error\b|WRONG_VERSION_NUMBER|\btls: |tlsv1[23]? alert|TLS handshake timeout|EOF occurred in violation of protocol/,
    permanentAfter: 60,
    remedy: {
      kubernetes:
        'The TLS handshake failed: check any proxy in between that intercepts TLS, and the address, which is --url for Scalr',
      host: 'The TLS handshake failed: check any proxy in between that intercepts TLS, and the address, which is SCALR_URL for Scalr',
    },
    isAlsoOfRuns: true,
  },
  {
    code: 'CLOCK_SKEW',
    pattern:
      /not yet valid \((iat|nbf)\)|token (is )?not yet valid|ImmatureSignature|token used before issued|issued in the future|clock skew/i,
    permanentAfter: 120,
    remedy: {
      kubernetes:
        'The clock of the node differs from the time of Scalr: correct the time synchronization (NTP) of the node',
      host: 'The clock of this machine differs from the time of Scalr: correct its time synchronization (NTP)',
    },
  },
  {
    code: TOKEN_REJECTED,
    pattern:
      /\b401\b.{0,200}unauthori[sz]ed|unauthori[sz]ed.{0,200}\b401\b|(invalid|expired|revoked|wrong)( agent)? token|token (is |was |has been |has )?(invalid|rejected|refused|expired|revoked|not valid)/i,
    permanentAfter: 15,
    remedy: {
      kubernetes:
        'Scalr seems to reject the token. Create a new one in the agent pool, and replace the old one with rotate-token and --token-file. Check that --url belongs to the same account',
      host: 'Scalr seems to reject the token. Create a new one in the agent pool, and check that SCALR_URL belongs to the same account',
    },
    isOfScalr: true,
  },
  {
    code: 'MESH_DENIED',
    pattern: /RBAC: access denied/,
    permanentAfter: 60,
    remedy: {
      kubernetes:
        'A service mesh denies the request: allow the agent in its AuthorizationPolicy, or disable injection for the agent with --pod-label or --pod-annotation',
    },
  },
  {
    code: 'AGENT_QUOTA_EXCEEDED',
    pattern:
      /\b402\b.{0,200}(client error|payment required|quota)|payment required|agents? quota (was |is )?exceeded/i,
    permanentAfter: 30,
    remedy: {
      kubernetes:
        'The Scalr account has no agents left: delete unused agents in Scalr, reduce --concurrency or --controller-replicas, or request a larger quota',
      host: 'The Scalr account has no agents left: delete unused agents in Scalr, or request a larger quota',
    },
    isOfScalr: true,
  },
  {
    code: 'AGENT_FORBIDDEN',
    pattern: /User \\*"system:serviceaccount:[^"]*" cannot/i,
    permanentAfter: 30,
    remedy: {
      kubernetes:
        'The service account lacks permissions: let the chart create it and its Role, or bind a Role to --service-account-name',
    },
  },
  {
    code: 'SCALR_FORBIDDEN',
    pattern: /\b403\b.{0,200}forbidden|\bforbidden\b.{0,200}\b403\b/i,
    permanentAfter: 60,
    remedy: {
      kubernetes:
        'Scalr, or a firewall before it, refuses the request: check the IP allow list of the Scalr account, and whether a proxy or WAF blocks --url',
      host: 'Scalr, or a firewall before it, refuses the request: check the IP allow list of the Scalr account, and whether a proxy or WAF blocks SCALR_URL',
    },
    isOfScalr: true,
  },
  {
    code: 'AGENT_API_NOT_FOUND',
    pattern: /\b404\b.{0,200}not found.{0,40}\burl\b/i,
    permanentAfter: 60,
    remedy: {
      kubernetes:
        'The server does not know the address of the agent API: check that --url is the Scalr account, and the version of the agent (--agent-image)',
      host: 'The server does not know the address of the agent API: check that SCALR_URL is the Scalr account, and the version of the agent',
    },
    isOfScalr: true,
  },
  {
    code: 'WEB_PAGE_ANSWERED',
    pattern:
      /JSONDecodeError|Expecting value: line 1 column 1|<!doctype html|<html\b|invalid character '<'|unexpected content[- ]?type.{0,20}text\/html/i,
    permanentAfter: 60,
    remedy: {
      kubernetes:
        'A web page answered instead of an API, such as a login page or a block page of a proxy: exempt the agent from it, or correct --https-proxy and the address, which is --url for Scalr',
      host: 'A web page answered instead of an API, such as a login page or a block page of a proxy: exempt this machine from it, or correct HTTPS_PROXY and the address, which is SCALR_URL for Scalr',
    },
  },
  {
    code: 'SCALR_UNAVAILABLE',
    pattern:
      /\b50[0234]\b.{0,40}(server error|internal server error|bad gateway|service unavailable|gateway time-?out)|\b429\b.{0,40}too many requests|upstream connect error|no healthy upstream/i,
    permanentAfter: 600,
    remedy: {
      kubernetes:
        'Scalr or a proxy in front of it returns an error or a rate limit: check the status page of Scalr, and the proxy. The agent tries again by itself',
      host: 'Scalr or a proxy in front of it returns an error or a rate limit: check the status page of Scalr, and the proxy. The agent tries again by itself',
    },
    isTransient: true,
    isOfScalr: true,
  },
  {
    code: 'INOTIFY_LIMIT',
    pattern: /inotify|number of file watchers|too many open files|Errno 24\b|\bEMFILE\b/i,
    permanentAfter: 60,
    remedy: {
      kubernetes:
        'The node reached its limit of open files or inotify watches: raise fs.inotify.max_user_instances and fs.inotify.max_user_watches on the node',
      host: 'This machine reached its limit of open files or inotify watches: raise fs.inotify.max_user_instances and fs.inotify.max_user_watches',
    },
    isAlsoOfRuns: true,
  },
  {
    code: 'VOLUME_BROKEN',
    pattern:
      /stale file handle|\bESTALE\b|input\/output error|Errno (5|116)\b|transport endpoint is not connected/i,
    permanentAfter: 60,
    remedy: {
      kubernetes:
        'The volume lost its connection to the storage: check the storage driver and the file server, then delete the pod so that it mounts the volume again',
      host: 'The volume lost its connection to the storage: check the file server and the disk, then start the agent again',
    },
    isAlsoOfRuns: true,
  },
  {
    code: 'DISK_FULL',
    pattern: /no space left on device|disk quota exceeded|Errno (28|122)\b|\bENOSPC\b/i,
    permanentAfter: 60,
    remedy: {
      kubernetes:
        'The agent volume is full: increase --cache-size or the size of the PVC, or free disk space on the node',
      host: 'The disk with the agent data is full: free space, or enlarge the disk',
    },
    isAlsoOfRuns: true,
  },
  {
    code: 'NOEXEC_MOUNT',
    pattern:
      /(fork\/exec|\b(ba|da)?sh:( line \d+:| \d+:)?) \S+: (permission denied|operation not permitted)/i,
    permanentAfter: 30,
    remedy: {
      kubernetes:
        'No program starts from this directory, which is probably mounted with noexec: use another one with --cache-path or --data-home',
      host: 'No program starts from this directory, which is probably mounted with noexec: set SCALR_DATA_HOME to another one',
    },
    isAlsoOfRuns: true,
  },
  {
    code: 'DATA_NOT_WRITABLE',
    pattern:
      /(permission denied(?! \(publickey)|read-only file system|operation not permitted).{0,400}\/|Errno (1|13|30)\b/i,
    permanentAfter: 30,
    remedy: {
      kubernetes:
        'The agent cannot write its data: check the owner of --data-home, --cache-path or the volume of the PVC',
      host: 'The agent cannot write its data: check the owner of SCALR_DATA_HOME and of the volumes mounted there',
    },
  },
  {
    code: 'DNS_FAILED',
    pattern:
      /name or service not known|name resolution|could not resolve (?:host|proxy)|lookup \S+ on \S+:53: read|NameResolutionError|getaddrinfo|no such host|no address associated with hostname|server misbehaving/i,
    permanentAfter: 120,
    remedy: {
      kubernetes:
        'The agent cannot resolve the host name: check the cluster DNS, whether egress policies allow port 53, and the address, which is --url for Scalr',
      host: 'The agent cannot resolve the host name: check the DNS settings of this machine, and the address, which is SCALR_URL for Scalr',
    },
    isTransient: true,
  },
  {
    code: 'CONNECTION_FAILED',
    pattern:
      /connection refused|cannot connect to host|connect ?timeout|connection timed out|\w "https?:\/\/\S+": .*(?:deadline exceeded|Client\.Timeout)|network is unreachable|no route to host|max retries exceeded|all connection attempts failed/i,
    permanentAfter: 120,
    remedy: {
      kubernetes:
        'The agent cannot reach the host: check egress policies, whether --https-proxy is required, and the address, which is --url for Scalr',
      host: 'The agent cannot reach the host: check the firewall, whether HTTPS_PROXY is required, and the address, which is SCALR_URL for Scalr',
    },
    isTransient: true,
  },
  {
    code: UNRECOGNIZED,
    // Follows from several lines, never from one.
    pattern: /(?!)/,
    remedy: {
      kubernetes: 'Unknown cause. Check the log of the pod',
      host: 'Unknown cause. Check the log of the agent',
    },
  },
];
