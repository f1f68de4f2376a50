import {expect, test} from 'vitest';
import {PluginOutput, pluginOutput, pluginProblem} from '../../src/ground/credential-plugin.ts';
import {toolFailure} from '../../src/ground/tool-errors.ts';

const PLUGIN = {
  command: 'corp-login',
  apiVersion: 'client.authentication.k8s.io/v1beta1',
  installHint: 'Install corp-login from\nhttps://intranet.example.com\n',
};
const NAMED = 'The credential plugin corp-login of the kubeconfig';

/** Messages of kubectl 1.35 and helm 4.1. */
test.each([
  [
    'getting credentials: exec: executable /opt/corp-login failed with exit code 255',
    `${NAMED} failed with exit code 255: "Token has expired"`,
    'Log in to the cluster, then run the command again',
  ],
  [
    'getting credentials: exec: executable corp-login not found\n\nIt looks like you are trying to use a client-go credential plugin that is not installed.',
    `${NAMED} is not installed`,
    'Install corp-login from\nhttps://intranet.example.com',
  ],
  [
    'getting credentials: exec: fork/exec /opt/corp-login: permission denied',
    'The credential plugin /opt/corp-login of the kubeconfig cannot be executed (permission denied)',
    'Correct the plugin or its path in the kubeconfig',
  ],
  [
    'error: exec plugin: invalid apiVersion "client.authentication.k8s.io/v1alpha1"',
    `${NAMED} uses client.authentication.k8s.io/v1alpha1, which kubectl and helm no longer support`,
    'Create the kubeconfig again with the latest CLI of your cluster provider',
  ],
  [
    'getting credentials: decoding stdout: no kind "ExecCredential" is registered for version "client.authentication.k8s.io/v1alpha1" in scheme "pkg/client/auth/exec/exec.go:64"',
    `${NAMED} uses client.authentication.k8s.io/v1alpha1, which kubectl and helm no longer support`,
    'Create the kubeconfig again with the latest CLI of your cluster provider',
  ],
  [
    "getting credentials: decoding stdout: yaml: line 3: could not find expected ':'",
    `${NAMED} printed text other than credentials to standard output (yaml: line 3: could not find expected ':')`,
    'Run corp-login to see the text, for example a banner or an update notice',
  ],
  [
    'getting credentials: exec plugin cannot support interactive mode: standard input is not a terminal',
    `${NAMED} prompts for input, which only kubectl on a terminal supports`,
    'Set interactiveMode: IfAvailable in the kubeconfig, log in with the plugin, then run the command again',
  ],
  [
    "getting credentials: exec plugin didn't return a token or cert/key pair",
    `${NAMED} returned no credentials`,
    'Log in to the cluster, then run the command again',
  ],
])('explains %s', (message, text, step) => {
  const problem = pluginProblem(message, {
    cluster: {},
    plugin: PLUGIN,
    output: 'Token has expired',
  });
  expect(problem).toMatchObject({text, steps: expect.arrayContaining([step])});
});

test('suggests the login command of a known plugin', () => {
  const problem = pluginProblem('exec: executable aws failed with exit code 255', {
    cluster: {kubeContext: 'prod'},
    plugin: {command: '/usr/local/bin/aws'},
  });
  expect(problem?.steps).toEqual([
    'Log in to the cluster, then run the command again, for example with: aws sso login',
    'Check your identity: kubectl auth whoami --context prod',
  ]);
});

test('keeps what the plugin of a failed helm printed', () => {
  const stderr = [
    'Error when retrieving token from sso: Token has expired and refresh failed',
    'Error: kubernetes cluster unreachable: Get "https://10.0.0.1/version": getting credentials: exec: executable aws failed with exit code 255',
  ].join('\n');
  expect(
    toolFailure({tool: 'helm', verb: 'list'}, {exitCode: 1, stdout: '', stderr}),
  ).toMatchObject({
    code: 'NOT_LOGGED_IN',
    message:
      'The credential plugin aws of the kubeconfig failed with exit code 255: "Error when retrieving token from sso: Token has expired and refresh failed".',
  });
});

test('drops lines of kubectl, repeated lines, colors and secrets', () => {
  const output = new PluginOutput();
  const chunks = [
    'Starting to serve on /tmp/api\n\u001b[31mPlease visit https://login.exam',
    'ple.com/device\u001b[0m\n',
    'E1126 14:42:43.192031   29008 proxy_server.go:147] Error while proxying request: getting credentials: no\n',
    'Please visit https://login.example.com/device\n',
    'WARNING: https://jane:hunter2@git.example.com eyJhbGciOi.eyJzdWIi.c2ln\n',
    'Enter the code: ',
  ];
  const lines = chunks.flatMap((chunk) => output.hear(chunk));
  expect(lines[0]).toBe('Please visit https://login.example.com/device');
  expect(output.text).toBe(
    'Please visit https://login.example.com/device\nWARNING: https://***@git.example.com [hidden]\nEnter the code:',
  );
});

test('does not repeat the advice of kubectl for a missing plugin as its output', () => {
  const advice =
    '\nIt looks like you are trying to use a client-go credential plugin that is not installed.\n\nInstall it\n';
  expect(pluginOutput(advice)).toBe('');
  const output = new PluginOutput();
  expect([output.hear(advice), output.hear('Install it\n'), output.text]).toEqual([[], [], '']);
});
