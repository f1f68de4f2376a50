import {expect, test} from 'vitest';
import {showChart} from '../../src/cluster/helm/chart-calls.ts';
import {releaseHistory, uninstall, upgradeInstall} from '../../src/cluster/helm/release-calls.ts';
import {waitForJobs} from '../../src/cluster/kubernetes/deletions.ts';
import {describePods} from '../../src/cluster/kubernetes/kubectl.ts';
import {toolFailure} from '../../src/ground/tool-errors.ts';

/** What the tools really said. */
test.each([
  [
    'kubectl',
    'The connection to the server localhost:8080 was refused - did you specify the right host or port?',
    'CLUSTER_UNREACHABLE',
  ],
  ['kubectl', 'error: stat /home/me/nowhere: no such file or directory', 'CLUSTER_UNREACHABLE'],
  [
    'kubectl',
    'Unable to connect to the server: dial tcp 10.0.0.1:443: i/o timeout',
    'CLUSTER_UNREACHABLE',
  ],
  [
    'helm',
    'Error: Kubernetes cluster unreachable: Get "http://localhost:8080/version": dial tcp [::1]:8080: connect: connection refused',
    'CLUSTER_UNREACHABLE',
  ],
  ['kubectl', 'error: context "nowhere" does not exist', 'CLUSTER_UNREACHABLE'],
  [
    'helm',
    'Error: Kubernetes cluster unreachable: the server has asked for the client to provide credentials',
    'NOT_LOGGED_IN',
  ],
  ['kubectl', 'error: You must be logged in to the server (Unauthorized)', 'NOT_LOGGED_IN'],
  [
    'helm',
    'Error: query: failed to query with labels: secrets is forbidden: User "system:serviceaccount:a:reader" cannot list resource "secrets" in API group "" in the namespace "a"',
    'FORBIDDEN',
  ],
  [
    'kubectl',
    'Error from server (Forbidden): persistentvolumeclaims "c" is forbidden: User "joe" cannot patch resource "persistentvolumeclaims" in API group "" in the namespace "a"',
    'FORBIDDEN',
  ],
  [
    'kubectl',
    'Error from server (Forbidden): forbidden: User "system:anonymous" cannot get path "/version"',
    'NOT_LOGGED_IN',
  ],
  [
    'kubectl',
    'error: failed to create configmap: configmaps "x" is forbidden: exceeded quota: q, requested: configmaps=1',
    'TOOL_FAILED',
  ],
  [
    'helm',
    `Error: UPGRADE FAILED: deployments.apps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied request: no latest tag`,
    'TOOL_FAILED',
  ],
  [
    'helm',
    'Error: INSTALLATION FAILED: admission webhook "validate.kyverno.svc" denied the request: labels required',
    'TOOL_FAILED',
  ],
  [
    'kubectl',
    'Error from server (Conflict): Apply failed with 1 conflict: conflict with "argocd-controller" using apiextensions.k8s.io/v1: .spec.versions',
    'OBJECT_NOT_OWNED',
  ],
  [
    'kubectl',
    'The PersistentVolumeClaim "c" is invalid: spec: Forbidden: spec is immutable after creation except resources.requests',
    'IMMUTABLE_FIELD',
  ],
  [
    'helm',
    'Error: UPGRADE FAILED: cannot patch "c" with kind PersistentVolumeClaim: PersistentVolumeClaim "c" is invalid: spec.resources.requests.storage: Forbidden: field can not be less than status.capacity',
    'IMMUTABLE_FIELD',
  ],
  [
    'helm',
    'Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress',
    'RELEASE_BUSY',
  ],
  ['helm', 'Error: UPGRADE FAILED: release: already exists', 'RELEASE_BUSY'],
  [
    'kubectl',
    'Error from server (Forbidden): deployments.apps "a" is forbidden: unable to create new content in namespace n because it is being terminated',
    'NAMESPACE_TERMINATING',
  ],
  // The address is that of a database.
  [
    'helm',
    'helm.go:83: unable to instantiate SQL driver: dial tcp 127.0.0.1:5432: connect: connection refused',
    'TOOL_FAILED',
  ],
  ['helm', 'level=INFO msg="unknown driver \\"foo\\""', 'TOOL_FAILED'],
  [
    'helm',
    'Error: looks like "https://scalr.github.io/agent-helm/" is not a valid chart repository or cannot be reached: Get "https://scalr.github.io/agent-helm/index.yaml": dial tcp: lookup scalr.github.io: no such host',
    'CHART_NOT_FOUND',
  ],
  [
    'helm',
    'Error: chart "agent-job" version "9.9.9" not found in https://scalr.github.io/agent-helm/ repository',
    'CHART_NOT_FOUND',
  ],
  ['helm', 'Error: path "/nope" not found', 'INVALID_CHART_SOURCE'],
  // A registry of charts is not the cluster: Helm 4, Helm 3, and their logins.
  [
    'helm',
    'Error: failed to perform "FetchReference" on source: Get "https://no.such.example/v2/x/agent-local/manifests/0.7.0": dial tcp: lookup no.such.example on 10.0.0.2:53: no such host',
    'CHART_NOT_FOUND',
  ],
  [
    'helm',
    'Error: failed to resolve 127.0.0.1:9/x/agent-local:0.7.0: Get "https://127.0.0.1:9/v2/x/agent-local/manifests/0.7.0": dial tcp 127.0.0.1:9: connect: connection refused',
    'CHART_NOT_FOUND',
  ],
  [
    'helm',
    'Error: failed to do request: Head "https://corp.example/v2/x/agent-local/manifests/0.7.0": tls: failed to verify certificate: x509: certificate signed by unknown authority',
    'CHART_NOT_FOUND',
  ],
  [
    'helm',
    'Error: failed to perform "FetchReference" on source: GET "https://ghcr.io/v2/x/agent-local/manifests/0.7.0": response status code 401: Unauthorized',
    'CHART_NOT_FOUND',
  ],
  [
    'helm',
    'Error: failed to authorize: failed to fetch anonymous token: unexpected status from GET request to https://ghcr.io/token?scope=repository%3Ax%3Apull&service=ghcr.io: 403 Forbidden',
    'CHART_NOT_FOUND',
  ],
  [
    'helm',
    'Error: Get "https://github.com/Scalr/agent-helm/releases/download/agent-local-0.7.0/agent-local-0.7.0.tgz": dial tcp 140.82.121.4:443: i/o timeout',
    'CHART_NOT_FOUND',
  ],
  [
    'helm',
    'Error: INSTALLATION FAILED: Unable to continue with install: Role "agent-k8s-role" in namespace "a" exists and cannot be imported into the current release: invalid ownership metadata',
    'OBJECT_NOT_OWNED',
  ],
  [
    'helm',
    'Error: INSTALLATION FAILED: failed to install CRD crds/agenttasktemplate.yaml: conflict occurred while applying object /agenttasktemplates.scalr.io apiextensions.k8s.io/v1, Kind=CustomResourceDefinition: Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using apiextensions.k8s.io/v1: .spec.versions',
    'OBJECT_NOT_OWNED',
  ],
  ['kubectl', 'error: timed out waiting for the condition on pods/x', 'TIMED_OUT'],
  [
    'kubectl',
    'Error from server (InternalError): Internal error occurred: etcdserver: request timed out',
    'CLUSTER_UNREACHABLE',
  ],
  [
    'kubectl',
    'Error from server (ServiceUnavailable): the server is currently unable to handle the request',
    'CLUSTER_UNREACHABLE',
  ],
  [
    'kubectl',
    'error: Get "https://10.0.0.1/version": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
    'CLUSTER_UNREACHABLE',
  ],
  [
    'helm',
    'Error: UPGRADE FAILED: create: failed to create: Too many requests, please try again later.',
    'CLUSTER_UNREACHABLE',
  ],
  [
    'helm',
    'Error: Internal error occurred: failed calling webhook "a.b.c": failed to call webhook: Post "https://a.b.svc/x": context deadline exceeded',
    'TOOL_FAILED',
  ],
  ['helm', 'Error: something new', 'TOOL_FAILED'],
] as const)('%s: %s', (tool, stderr, code) => {
  const failure = toolFailure(
    {tool, verb: 'version', kubeTarget: {namespace: 'team'}},
    {exitCode: 1, stdout: '', stderr},
  );
  expect(failure.code).toBe(code);
  expect(failure.suggestions).not.toEqual([]);
  const isReworded =
    /^(Not logged in to the cluster|The API server rejected your credentials|Cannot reach the Kubernetes API|Cannot download the chart|Cannot read the kubeconfig|The kubeconfig has no context)/.test(
      failure.message,
    );
  expect(isReworded || failure.message.includes(stderr.replace(/^error: /i, '').slice(0, 40))).toBe(
    true,
  );
});

test.each([
  'Error: Get "https://no.such.example/charts": dial tcp: lookup no.such.example: no such host',
  'Error: Get "https://corp.example/charts": tls: failed to verify certificate: x509: certificate signed by unknown authority',
])('a call of helm without a cluster cannot fail because of one: %s', (stderr) => {
  const call = showChart({chart: 'agent-local', version: '0.7.0', source: 'https://x'});
  expect(toolFailure(call, {exitCode: 1, stdout: '', stderr})).toMatchObject({
    code: 'CHART_NOT_FOUND',
    message: expect.stringMatching(/^Cannot download the chart from https:/),
  });
});

test('links CRD advice to the CRDs of the chart', () => {
  const stderr =
    'Error: failed to install CRD crds/x.yaml: conflict occurred while applying object';
  expect(
    toolFailure(
      {tool: 'helm', verb: 'upgrade'},
      {exitCode: 1, stdout: '', stderr},
    ).suggestions.join(),
  ).toContain('helm show crds');
});

test('ignores hints and warnings of helm around the error', () => {
  const stderr =
    'WARNING: a file is readable by others\nError: YAML parse error on x.yaml: bad\n\nUse --debug flag to render out invalid YAML\n';
  expect(
    toolFailure({tool: 'helm', verb: 'template'}, {exitCode: 1, stdout: '', stderr}).message,
  ).toBe('helm template failed: YAML parse error on x.yaml: bad');
});

test.each([
  [
    'Error: INSTALLATION FAILED: 1 error occurred:\n\t* Too many requests, please try again later.\n\n',
    'INSTALLATION FAILED: 1 error occurred: * Too many requests, please try again later.',
  ],
  [
    'The Deployment "x" is invalid: \n* spec.template.spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type\n* spec.template.spec.containers[0].volumeMounts[0].name: Not found: "nope"\nmore',
    'The Deployment "x" is invalid:\n* spec.template.spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type\n* spec.template.spec.containers[0].volumeMounts[0].name: Not found: "nope"',
  ],
  [
    'Error from server: failed to create typed patch object (a/v; /v1, Kind=Pod): errors:\n  .spec.volumes[name=false].name: expected string\n',
    'Error from server: failed to create typed patch object (a/v; /v1, Kind=Pod): errors: .spec.volumes[name=false].name: expected string',
  ],
  ['Error: nothing follows:\nhelp\n', 'nothing follows:'],
])('includes the lines after a colon: %s', (stderr, reason) => {
  expect(
    toolFailure({tool: 'helm', verb: 'upgrade'}, {exitCode: 1, stdout: '', stderr}).message,
  ).toBe(`helm upgrade failed: ${reason}`);
});

const NAME = {
  release: 'acme',
  kubeTarget: {namespace: 'agents', kubeContext: 'prod', kubeconfig: '/k c'},
};
const WHERE = "--context prod --kubeconfig '/k c'";

test.each([
  [
    describePods(NAME.kubeTarget),
    'Unable to connect to the server: i/o timeout',
    `Try: kubectl cluster-info ${WHERE}`,
  ],
  [
    releaseHistory(NAME),
    'Error: Kubernetes cluster unreachable',
    `Try: kubectl cluster-info ${WHERE}`,
  ],
  [
    waitForJobs(NAME.kubeTarget, 'a=b', 9),
    'timed out waiting for the condition',
    `Check the events: kubectl get events --namespace agents ${WHERE}`,
  ],
  [
    upgradeInstall(NAME, {chart: 'agent-job', version: '0.6.5', source: './agent job'}, ''),
    'Error: failed to install CRD crds/a.yaml: conflict',
    `Or apply the CRD of the chart: helm show crds './agent job' | kubectl apply --server-side --force-conflicts --filename - ${WHERE}`,
  ],
])('targets the cluster of the call in next steps: %j', (call, stderr, step) => {
  expect(toolFailure(call, {exitCode: 1, stdout: '', stderr}).suggestions).toContain(step);
});

test.each([
  [
    3,
    'uninstall.go:124: 2026-11-24 08:26:38 +0000 UTC m=+0.46 [debug] uninstall: Failed to delete release: [deployments.apps "a" is forbidden: denied]',
  ],
  [
    4,
    'level=DEBUG msg="uninstall: Failed to delete release" error="[deployments.apps \\"a\\" is forbidden: denied]"',
  ],
])('says why Helm %i did not delete an object, which only its debug log contains', (_, line) => {
  const stderr = `${line}\nError: failed to delete release: a\nhelm.go:92: [debug] failed to delete release: a\n`;
  const {message} = toolFailure(uninstall({release: 'a', kubeTarget: {namespace: 'n'}}), {
    stdout: '',
    stderr,
    exitCode: 1,
  });
  expect(message).toBe(
    'helm uninstall failed: failed to delete release: a: deployments.apps "a" is forbidden: denied',
  );
});

test('suggests no sudo when the container runtime fails', () => {
  const stderr =
    'Error response from daemon: failed to create shim task: OCI runtime create failed: runc create failed: exec: "/bin/agent": permission denied: unknown';
  const failure = toolFailure(
    {tool: 'docker', args: ['start', 'a']},
    {exitCode: 1, stdout: '', stderr},
  );
  expect(failure).toMatchObject({
    code: 'TOOL_FAILED',
    suggestions: [expect.stringContaining('--agent-image')],
  });
});

test.each([
  [
    'error: error when applying patch:\n{"data":{"token":"aHVudGVyMg=="}}\nto:\nResource: "/v1, Resource=secrets"\nfor: "STDIN": error when patching "STDIN": unexpected EOF',
    'kubectl apply failed: error when patching "STDIN": unexpected EOF',
  ],
  [
    'Error from server: error when retrieving current configuration of:\nResource: "/v1, Resource=secrets"\nName: "a"\nfrom server for: "STDIN": Get "https://a:6443/api": unexpected EOF',
    'kubectl apply failed: Get "https://a:6443/api": unexpected EOF',
  ],
  [
    'error: error validating "STDIN": error validating data: unexpected EOF; if you choose to ignore these errors, turn validation off with --validate=false',
    'kubectl apply failed: error validating "STDIN": error validating data: unexpected EOF',
  ],
])('gives the reason without the object in %j', (stderr, message) => {
  const failure = toolFailure(
    {tool: 'kubectl', verb: 'apply', kubeTarget: {namespace: 'team'}},
    {exitCode: 1, stdout: '', stderr},
  );
  expect(failure).toMatchObject({code: 'CLUSTER_UNREACHABLE', message});
});
