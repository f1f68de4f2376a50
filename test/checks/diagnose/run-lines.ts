/** What runs print, and what it means; the first line of a code is its example. */
export const RUN_LINES: readonly (readonly [line: string, code: string])[] = [
  [
    'AccessDenied: User: arn:aws:iam::1:role/a is not authorized to perform: b',
    'RUN_ACCESS_DENIED',
  ],
  [
    'Error: creating EC2 Instance: operation error EC2: RunInstances, https response error StatusCode: 403, api error UnauthorizedOperation: You are not authorized to perform this operation.',
    'RUN_ACCESS_DENIED',
  ],
  [
    'Error: reading S3 Bucket: operation error S3: HeadBucket, https response error StatusCode: 403, api error AccessDenied: Access Denied',
    'RUN_ACCESS_DENIED',
  ],
  [
    'An error occurred (ExpiredToken) when calling the AssumeRoleWithWebIdentity operation: Token expired: current date/time',
    'RUN_ACCESS_DENIED',
  ],
  [
    'Error: operation error STS: GetCallerIdentity, https response error StatusCode: 403',
    'RUN_ACCESS_DENIED',
  ],
  [
    'IAM returned 403 Forbidden: Permission iam.serviceAccounts.getAccessToken denied',
    'RUN_ACCESS_DENIED',
  ],
  ['AADSTS700082: The refresh token has expired due to inactivity.', 'RUN_ACCESS_DENIED'],
  [
    'Error: Status=403 Code="AuthorizationFailed" Message="The client \'a\' does not have authorization to perform action \'b\'"',
    'RUN_ACCESS_DENIED',
  ],
  ['invalid_grant: Token has been expired or revoked.', 'RUN_ACCESS_DENIED'],
  [
    "Error: googleapi: Error 403: Required 'compute.instances.create' permission for 'projects/a', forbidden",
    'RUN_ACCESS_DENIED',
  ],
  [
    'Error making API request. URL: PUT https://vault.corp/v1/auth/kubernetes/login Code: 403. Errors: * permission denied',
    'RUN_ACCESS_DENIED',
  ],
  [
    'Error: Unauthorized with provider["registry.terraform.io/hashicorp/kubernetes"]',
    'RUN_ACCESS_DENIED',
  ],
  ['Error: could not find default credentials', 'RUN_WITHOUT_CREDENTIALS'],
  [
    'Error: No valid credential sources found: no EC2 IMDS role found, operation error ec2imds: GetMetadata, canceled, context deadline exceeded',
    'RUN_WITHOUT_CREDENTIALS',
  ],
  ['NoCredentialProviders: no valid providers in chain. Deprecated.', 'RUN_WITHOUT_CREDENTIALS'],
  [
    'Error: building AzureRM Client: please ensure you have installed Azure CLI version 2.0.79 or newer. launching Azure CLI: exec: "az": executable file not found in $PATH',
    'RUN_WITHOUT_CREDENTIALS',
  ],
  ['DefaultAzureCredential: failed to acquire a token.', 'RUN_WITHOUT_CREDENTIALS'],
  [
    'Error: Get "http://localhost/api/v1/namespaces/a": dial tcp [::1]:80: connect: connection refused',
    'RUN_WITHOUT_CREDENTIALS',
  ],
  ['git@github.com: Permission denied (publickey).', 'RUN_GIT_DENIED'],
  ['Host key verification failed.', 'RUN_GIT_DENIED'],
  ['Load key "/root/.ssh/id_rsa": Permission denied', 'RUN_GIT_DENIED'],
  ["fatal: Authentication failed for 'https://github.com/acme/vpc.git/'", 'RUN_GIT_DENIED'],
  ['remote: Repository not found.', 'RUN_GIT_DENIED'],
  [
    "fatal: could not read Username for 'https://github.com': terminal prompts disabled",
    'RUN_GIT_DENIED',
  ],
  ['ssh: connect to host github.com port 22: Connection timed out', 'RUN_GIT_DENIED'],
  [
    "fatal: unable to access 'https://git.corp/a.git/': The requested URL returned error: 403",
    'RUN_GIT_DENIED',
  ],
  [
    'Error: Failed to download module: Could not download module "vpc" (main.tf:1) source code from "git::ssh://git@github.com/acme/vpc.git"',
    'RUN_GIT_DENIED',
  ],
  ['/bin/sh: aws: not found', 'RUN_TOOL_NOT_FOUND'],
  ['/bin/sh: 1: kubectl: not found', 'RUN_TOOL_NOT_FOUND'],
  ['bash: line 1: gcloud: command not found', 'RUN_TOOL_NOT_FOUND'],
  ['exec: "gcloud": executable file not found in $PATH', 'RUN_TOOL_NOT_FOUND'],
  [
    'provider registry a.io does not have a provider named a.io/hashicorp/foo',
    'PROVIDER_NOT_FOUND',
  ],
  [
    'Error: Failed to query available provider packages: provider registry registry.terraform.io does not have a provider named registry.terraform.io/hashicorp/foo',
    'PROVIDER_NOT_FOUND',
  ],
  [
    "the current package doesn't match any of the checksums previously recorded",
    'PROVIDER_CHECKSUM',
  ],

  [
    'the cached package for registry.terraform.io/hashicorp/aws 5.1.0 (in .terraform/providers) does not match any of the checksums recorded in the dependency lock file',
    'PROVIDER_CHECKSUM',
  ],
  [
    "Error: Failed to install provider: the current package for registry.terraform.io/hashicorp/aws 5.0.0 doesn't match any of the checksums previously recorded in the dependency lock file",
    'PROVIDER_CHECKSUM',
  ],
  ['Error: Error acquiring the state lock', 'STATE_LOCKED'],
  ['dial tcp 169.254.169.254:80: i/o timeout', 'RUN_WITHOUT_CREDENTIALS'],
  [
    'Error: Failed to query available provider packages: could not connect to registry.terraform.io: failed to request discovery document: Get "https://registry.terraform.io/.well-known/terraform.json": context deadline exceeded',
    'probe-registries',
  ],
  [
    'Error: Failed to install provider: unsuccessful request to https://releases.hashicorp.com/a.zip: 403 Forbidden',
    'probe-registries',
  ],
  [
    'Get "https://registry.terraform.io/": x509: certificate signed by unknown authority',
    'TLS_UNKNOWN_AUTHORITY',
  ],
  [
    "fatal: unable to access 'https://git.corp/a.git/': SSL certificate problem: unable to get local issuer certificate",
    'TLS_UNKNOWN_AUTHORITY',
  ],
  ['bash: /opt/hooks/pre-plan.sh: Permission denied', 'NOEXEC_MOUNT'],
  [
    "fatal: unable to access 'https://github.com/a.git/': Could not resolve host: github.com",
    'DNS_FAILED',
  ],
  ['dial tcp: lookup sts.amazonaws.com on 169.254.25.10:53: read udp: i/o timeout', 'DNS_FAILED'],
  [
    "fatal: unable to access 'https://github.com/a.git/': Received HTTP code 403 from proxy after CONNECT",
    'PROXY_REFUSED',
  ],
  [
    "fatal: unable to access 'https://github.com/a.git/': Failed to connect to github.com port 443 after 130 ms: Couldn't connect to server",
    'CONNECTION_FAILED',
  ],
];
