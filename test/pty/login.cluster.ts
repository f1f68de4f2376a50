import {expect, test} from 'vitest';
import {findKubectl} from '../control-plane/kubectl.ts';
import {workplace} from '../control-plane/workplace.ts';
import {kubeconfigWith, type User, withPlugin} from '../support/kubeconfig-with.ts';
import {onTerminal} from './terminal.ts';

test('shows the login page of a credential plugin while it waits, and continues after the login', async () => {
  const {kubeconfig, namespace} = await workplace();
  let user: User = {};
  await kubeconfigWith(kubeconfig, (config) => {
    user = config.users[0]?.user ?? {};
    return config;
  });
  const credential = {
    apiVersion: 'client.authentication.k8s.io/v1beta1',
    kind: 'ExecCredential',
    status: {
      clientCertificateData: decoded(user['client-certificate-data']),
      clientKeyData: decoded(user['client-key-data']),
    },
  };
  // Waits longer than a command waits for the API server.
  const plugin = await withPlugin(
    kubeconfig,
    `echo "Please visit https://jane:hunter2@login.example.com" >&2; sleep 17; echo "Logged in" >&2; cat <<'END'\n${JSON.stringify(credential)}\nEND`,
  );
  const {screen, left} = await onTerminal(
    [
      ...['status', '--kubeconfig', plugin.kubeconfig, '--namespace', namespace],
      ...['--kubectl', await findKubectl()],
    ],
    [{see: /Please visit https:\/\/\*\*\*@login\.example\.com/, press: ''}],
    plugin.directory,
    {env: {NO_COLOR: '1'}},
  );
  expect(left, screen).toBe(0);
  expect(screen).toContain('Logged in');
  expect(screen).toContain(`Release scalr-agent not found in namespace ${namespace}`);
  expect(screen).not.toContain('hunter2');
});

test('shows nothing of a plugin that is done at once', async () => {
  const {kubeconfig, namespace} = await workplace();
  const plugin = await withPlugin(kubeconfig, 'echo "WARNING: old version" >&2; exit 1');
  const {screen} = await onTerminal(
    [
      ...['status', '--kubeconfig', plugin.kubeconfig, '--namespace', namespace],
      ...['--kubectl', await findKubectl()],
    ],
    [],
    plugin.directory,
    {env: {NO_COLOR: '1'}},
  );
  expect(screen.replaceAll(/\s+/g, ' ')).toContain(
    'failed with exit code 1: "WARNING: old version"',
  );
  expect(screen.match(/WARNING/g)).toHaveLength(1);
});

const decoded = (base64 = ''): string => Buffer.from(base64, 'base64').toString();
