import {expect, test} from 'vitest';
import {toolFailure} from '../../src/ground/tool-errors.ts';
import {unreachableSteps, unreachableText} from '../../src/ground/unreachable.ts';
import {apiFailure, errorLine} from '../../src/kubernetes/api-error.ts';

/** Messages of kubectl, helm and kubectl proxy for a server that cannot be reached. */
test.each([
  [
    'The connection to the server localhost:8080 was refused - did you specify the right host or port?',
    'Cannot reach the Kubernetes API at localhost:8080 (connection refused)',
  ],
  ['Unable to connect to the server: dial tcp 10.0.0.1:443: i/o timeout', 'Cannot reach the Kubernetes API at 10.0.0.1:443 (i/o timeout)'],
  ['dial tcp 127.0.0.1:6443: connect: connection refused', 'Cannot reach the Kubernetes API at 127.0.0.1:6443 (connection refused)'],
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
  ['Unable to connect to the server: net/http: TLS handshake timeout', 'Cannot reach the Kubernetes API (TLS handshake timeout)'],
  ['Unable to connect to the server: EOF', 'Cannot reach the Kubernetes API (connection closed)'],
  ['Error: Kubernetes cluster unreachable', 'Cannot reach the Kubernetes API'],
  ['the server returned status 502', 'Cannot reach the Kubernetes API (the server returned status 502)'],
  ['error: stat /home/me/nowhere: no such file or directory', 'Cannot read the kubeconfig /home/me/nowhere (no such file or directory)'],
  [
    'error: error loading config file "/etc/rancher/k3s/k3s.yaml": open /etc/rancher/k3s/k3s.yaml: permission denied',
    'Cannot read the kubeconfig /etc/rancher/k3s/k3s.yaml (permission denied)',
  ],
  [
    'Error in configuration: \n* unable to read client-cert /home/me/a.crt for prod due to open /home/me/a.crt: no such file or directory\n* unable to read client-key /home/me/a.key for prod due to open /home/me/a.key: no such file or directory',
    'Cannot read /home/me/a.crt, which the kubeconfig refers to (no such file or directory)',
  ],
])('%s', (message, text) => {
  expect(unreachableText(message)).toBe(text);
});

test('is the same for a failed command, a failed request and an unknown fact', () => {
  const message = 'dial tcp 127.0.0.1:6443: connect: connection refused';
  const text = 'Cannot reach the Kubernetes API at 127.0.0.1:6443 (connection refused)';
  const ofCommand = toolFailure(
    {tool: 'kubectl', args: ['apply']},
    {exitCode: 1, stdout: '', stderr: `Unable to connect to the server: ${message}`},
  );
  const ofRequest = apiFailure({kind: 'unreachable', message}, {});
  expect([ofCommand.message, ofRequest.message, `${errorLine({kind: 'unreachable', message})}.`]).toEqual([
    `${text}.`,
    `${text}.`,
    `${text}.`,
  ]);
  expect(ofCommand).toMatchObject({code: 'CLUSTER_UNREACHABLE', exit: 1, suggestions: ofRequest.suggestions});
});

test('explains the address that kubectl uses without a kubeconfig', () => {
  expect(unreachableSteps('dial tcp 127.0.0.1:8080: connect: connection refused', {})[0]).toMatch(/no kubeconfig/);
  expect(unreachableSteps('dial tcp 127.0.0.1:6443: connect: connection refused', {})[0]).toBe('Try: kubectl cluster-info');
});
