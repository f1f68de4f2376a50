import {expect, test} from 'vitest';
import {apiFailure, errorLine} from '../../src/cluster/kubernetes/api-error.ts';
import {remediesOf} from '../../src/ground/finding.ts';
import {toolFailure} from '../../src/ground/tool-errors.ts';
import {unreachableSteps, unreachableText} from '../../src/ground/unreachable.ts';

/** Messages of kubectl, helm and kubectl proxy for a server that cannot be reached. */
test.each([
  [
    'The connection to the server localhost:8080 was refused - did you specify the right host or port?',
    'Cannot reach the Kubernetes API at localhost:8080 (connection refused)',
  ],
  [
    'Unable to connect to the server: dial tcp 10.0.0.1:443: i/o timeout',
    'Cannot reach the Kubernetes API at 10.0.0.1:443 (i/o timeout)',
  ],
  [
    'dial tcp 127.0.0.1:6443: connect: connection refused',
    'Cannot reach the Kubernetes API at 127.0.0.1:6443 (connection refused)',
  ],
  [
    'Error: Kubernetes cluster unreachable: Get "http://localhost:8080/version": dial tcp [::1]:8080: connect: connection refused',
    'Cannot reach the Kubernetes API at http://localhost:8080 (connection refused)',
  ],
  [
    'Unable to connect to the server: dial tcp: lookup api.example.com on 10.0.0.2:53: no such host',
    'Cannot reach the Kubernetes API at api.example.com (no such host)',
  ],
  [
    'Unable to connect to the server: tls: failed to verify certificate: x509: certificate signed by unknown authority',
    'Cannot reach the Kubernetes API (x509: certificate signed by unknown authority)',
  ],
  [
    'Unable to connect to the server: net/http: TLS handshake timeout',
    'Cannot reach the Kubernetes API (TLS handshake timeout)',
  ],
  ['Unable to connect to the server: EOF', 'Cannot reach the Kubernetes API (connection closed)'],
  ['Error: Kubernetes cluster unreachable', 'Cannot reach the Kubernetes API'],
  [
    'the server returned status 502',
    'Cannot reach the Kubernetes API (the server returned status 502)',
  ],
  [
    'error: stat /home/me/nowhere: no such file or directory',
    'Cannot read the kubeconfig /home/me/nowhere (no such file or directory)',
  ],
  [
    'error: error loading config file "/etc/rancher/k3s/k3s.yaml": open /etc/rancher/k3s/k3s.yaml: permission denied',
    'Cannot read the kubeconfig /etc/rancher/k3s/k3s.yaml (permission denied)',
  ],
  [
    'Error in configuration: \n* unable to read client-cert /home/me/a.crt for prod due to open /home/me/a.crt: no such file or directory\n* unable to read client-key /home/me/a.key for prod due to open /home/me/a.key: no such file or directory',
    'Cannot read /home/me/a.crt, which the kubeconfig refers to (no such file or directory)',
  ],
  [
    'error: error loading config file "kc": read kc: is a directory',
    'Cannot read the kubeconfig kc (is a directory)',
  ],
  [
    'Error: kubernetes cluster unreachable: error loading config file "/home/me/kc": yaml: line 3: did not find expected key',
    'Cannot read the kubeconfig /home/me/kc (invalid YAML in line 3)',
  ],
  [
    'error: error loading config file "kc": yaml: invalid leading UTF-8 octet',
    'Cannot read the kubeconfig kc (invalid YAML)',
  ],
  [
    'error: error loading config file "kc": no kind "Pod" is registered for version "v1"',
    'Cannot read the kubeconfig kc (not a kubeconfig)',
  ],
  ['error: context "gone" does not exist', 'The kubeconfig has no context gone'],
  [
    'Error in configuration: context was not found for specified context: gone',
    'The kubeconfig has no context gone',
  ],
  ['error: cannot locate context gone', 'The kubeconfig has no context gone'],
  ['error: current-context must exist in order to minify', 'The kubeconfig has no current context'],
])('%s', (message, text) => {
  expect(unreachableText(message)).toBe(text);
});

test('is the same for a failed command, a failed request and an unknown fact', () => {
  const message = 'dial tcp 127.0.0.1:6443: connect: connection refused';
  const text = 'Cannot reach the Kubernetes API at 127.0.0.1:6443 (connection refused)';
  const ofCommand = toolFailure(
    {tool: 'kubectl', verb: 'apply', kubeTarget: {namespace: 'team'}},
    {exitCode: 1, stdout: '', stderr: `Unable to connect to the server: ${message}`},
  );
  const ofRequest = apiFailure({kind: 'unreachable', message}, {});
  expect([
    ofCommand.message,
    ofRequest.message,
    `${errorLine({kind: 'unreachable', message})}.`,
  ]).toEqual([`${text}.`, `${text}.`, `${text}.`]);
  expect(ofCommand).toMatchObject({
    code: 'CLUSTER_UNREACHABLE',
    exit: 1,
    suggestions: ofRequest.suggestions,
  });
});

test('explains the address that kubectl uses without a kubeconfig', () => {
  expect(
    unreachableSteps('dial tcp 127.0.0.1:8080: connect: connection refused', {}),
  ).toContainEqual(expect.objectContaining({text: expect.stringMatching(/no kubeconfig/)}));
  expect(unreachableSteps('dial tcp 127.0.0.1:6443: connect: connection refused', {})[0]).toBe(
    'Try: kubectl cluster-info',
  );
});

test.each([
  [
    'error: context "gone" does not exist',
    'List the contexts: kubectl config get-contexts --kubeconfig kc',
  ],
  [
    'error: error loading config file "kc": read kc: is a directory',
    'Correct the file, or select another one with --kubeconfig or KUBECONFIG',
  ],
])('suggests no request to a cluster after %s', (message, step) => {
  const steps = unreachableSteps(message, {kubeconfig: 'kc', kubeContext: 'gone'});
  expect(remediesOf(...steps).map(({text}) => text)[0]).toBe(step);
});
