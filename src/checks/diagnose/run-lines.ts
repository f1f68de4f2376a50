/** What a line of a run means. Terraform, git, shells and the SDKs of clouds print it, not an agent. */
interface RunLine {
  code: string;
  pattern: RegExp;
}

/** Container runtimes and storage drivers use the same words. */
const OF_CLUSTER =
  /OCI runtime|\brunc\b|failed to start: |rpc error: |Failed to pull|kubelet|PVC pending/;

/** The first matching row wins. `docs/guide/symptoms.md` has a section for each. */
const RUN_LINES: readonly RunLine[] = [
  {
    code: 'RUN_WITHOUT_CREDENTIALS',
    pattern:
      /EC2 IMDS role found|ec2imds: GetMetadata|NoCredentialProviders|no valid (?:providers in chain|credential sources)|unable to locate credentials|find default credentials|No credentials loaded|AzureRM Client|Azure ?CLI\b|\baz login\b|DefaultAzureCredential|ManagedIdentityCredential|managed identity endpoint|169\.254\.169\.254|http:\/\/localhost(?::80)?\/|dial tcp (?:\[::1\]|127\.0\.0\.1):80:/i,
  },
  {
    code: 'RUN_GIT_DENIED',
    pattern:
      /Permission denied \(publickey|\bLoad key |Host key verification failed|ssh: connect to host|fatal: Authentication failed for|could not read (?:Username|Password) for|remote: (?:Repository not found|Invalid username|HTTP Basic: Access denied|Support for password)|repository '[^']*' not found|unable to access '[^']*': The requested URL returned error: 40[134]|terminal prompts disabled/i,
  },
  {
    code: 'RUN_ACCESS_DENIED',
    pattern:
      /\bAccessDenied|UnauthorizedOperation|\bExpiredToken|RequestExpired|InvalidClientTokenId|InvalidAccessKeyId|SignatureDoesNotMatch|UnrecognizedClient|not authorized to perform|AuthorizationFailed|does not have authorization to perform|Authorization_RequestDenied|AADSTS\d|\bError 40[13]: (?!.*\bquota\b)|PERMISSION_DENIED|Permission '[\w.]+' denied|\bIAM returned 40[13]\b|error STS: .*\b403\b|\bvault\b.*\b403\b|invalid_grant|Unauthorized\b.*\bwith (?:provider|data)\b/is,
  },
  {
    code: 'RUN_TOOL_NOT_FOUND',
    pattern:
      /(?:\/bin\/(?:ba|da)?sh|\bsh|\bbash: line \d+): (?:(?:line )?\d+: )?[\w.+-]+: (?:command )?not found|(?:^|\s)(?:aws|az|curl|gcloud|git|jq): (?:command )?not found|exec: "(?:aws|az|curl|gcloud|git|helm|jq|kubectl|python3?)": executable file not found/,
  },
  {
    code: 'PROVIDER_NOT_FOUND',
    pattern:
      /does not have a provider named|does not offer a Terraform provider registry|no available releases match/,
  },
  {code: 'PROVIDER_CHECKSUM', pattern: /any of the checksums (?:previously )?recorded/},
  {code: 'STATE_LOCKED', pattern: /Error (?:acquiring the state lock|locking state)/},
  {
    // Its reason can be a proxy or a certificate, which have rows of their own.
    code: 'probe-registries',
    pattern:
      /^(?!.*(?:x509|certificate|proxy)).*(?:https:\/\/|lookup |connect to |registry for )(?:registry\.(?:terraform|opentofu)\.(?:io|org)|releases\.hashicorp\.com)/is,
  },
];

/** The code of a line that only runs print; undefined for other lines. */
export const codeOfRun = (line: string): string | undefined =>
  OF_CLUSTER.test(line) ? undefined : RUN_LINES.find(({pattern}) => pattern.test(line))?.code;

const OF_TERRAFORM =
  /\bError: (?:creating|deleting|describing|error|listing|putting|reading|updating|waiting) |\bwith (?:data|module|provider)[.[]|\bregistry\.(?:terraform\.io|opentofu\.org)/i;

/** True for a line that only a run prints, in which words such as 403 are not about an agent. */
export const isRunLine = (line: string): boolean =>
  codeOfRun(line) !== undefined || OF_TERRAFORM.test(line);
