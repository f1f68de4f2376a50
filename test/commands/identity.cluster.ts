import {once} from 'node:events';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {expect, onTestFinished, test} from 'vitest';
import type {ObjectFinding} from '../../src/ground/finding.ts';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {account, accountWith} from '../control-plane/accounts.ts';
import type {Workplace} from '../control-plane/workplace.ts';
import {workplace} from '../control-plane/workplace.ts';
import {rolesIn} from '../support/commands-in.ts';
import {chartFlags, installPlace, TOKEN} from '../support/install-place.ts';
import {asUser, kubeconfigWith, withPlugin} from '../support/kubeconfig-with.ts';
import {
  collectLogs,
  debug,
  install,
  preflight,
  rotateToken,
  status,
  uninstall,
  upgrade,
} from '../support/run-on-cluster.ts';

const [{path: helm = 'helm'} = {path: 'helm'}] = await findHelm();
const LOCAL = await chartFlags('agent-local');
type Place = Pick<Workplace, 'kubeconfig' | 'namespace'>;

/** Every command that asks the API server. */
const COMMANDS = {
  status: (place: Place) => status(place, helm),
  'status -A': (place: Place) => status(place, helm, ['--all-namespaces']),
  install: (place: Place) => install(place, helm, [...LOCAL, '--yes'], {env: TOKEN}),
  upgrade: (place: Place) => upgrade(place, helm, ['--yes']),
  uninstall: (place: Place) => uninstall(place, helm, ['--yes']),
  debug: (place: Place) => debug(place, helm, ['on', '--yes']),
  'rotate-token': (place: Place) => rotateToken(place, helm, ['--yes'], {env: TOKEN}),
  'collect-logs': (place: Place) => collectLogs(place, helm, ['--out', '/dev/null/x.zip']),
};

/** What every command prints, and `preflight` in its checks. */
async function everyCommand(place: Place): Promise<Map<string, string>> {
  const said = new Map(
    await Promise.all(
      Object.entries(COMMANDS).map(async ([name, run]) => {
        const {stdout, stderr, exit} = await run(place);
        expect(exit, `${name}: ${stderr}`).toBe(1);
        return [name, `${stdout}${stderr}`] as const;
      }),
    ),
  );
  const checked = await preflight(place, helm, [...LOCAL, '--url', 'https://acme.scalr.io']);
  expect(checked.exit, checked.stdout).toBe(3);
  said.set('preflight', checked.stdout);
  return said;
}

function expectAll(said: ReadonlyMap<string, string>, wanted: readonly string[]): void {
  for (const [name, text] of said) {
    for (const each of wanted) expect(text, name).toContain(each);
    expect(text, name).not.toMatch(
      /roles\.yaml|RoleBinding|overloaded|admission policy|<html|<a href/i,
    );
  }
}

test('tells an identity that the API server does not accept from a missing permission', async () => {
  const {kubeconfig, namespace} = await workplace();
  const anonymous = await asUser(kubeconfig, {username: 'jane', password: 'x'});
  expectAll(await everyCommand({kubeconfig: anonymous, namespace}), [
    `Not logged in to the cluster: the API server treats you as system:anonymous. It rejected the credentials of user test-cluster in the kubeconfig ${anonymous}`,
    `kubectl auth whoami --context test-cluster --kubeconfig ${anonymous}`,
  ]);
});

test('names the user whose credentials have expired', async () => {
  const {kubeconfig, namespace} = await workplace();
  const expired = await asUser(kubeconfig, {token: 'expired'});
  expectAll(await everyCommand({kubeconfig: expired, namespace}), [
    `Not logged in to the cluster: the API server rejected the credentials of user test-cluster in the kubeconfig ${expired} (Unauthorized)`,
  ]);
});

const PAGE = '<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>SSO</body></html>';

/** A server that answers every request with this page. */
async function pageServer(status: number, location?: string): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(status, {
      'content-type': 'text/html',
      ...(location === undefined ? {} : {location}),
    });
    response.end(location === undefined ? PAGE : `<a href="${location}">Found</a>`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test.each([
  [200, 'status 200, title "Sign in"'],
  [302, 'redirect to login.example.com'],
  [403, 'status 403, title "Sign in"'],
  [404, 'status 404, title "Sign in"'],
])('does not take a web page with status %i for the Kubernetes API', async (code, details) => {
  const {kubeconfig, namespace} = await workplace();
  const address = await pageServer(
    code,
    code === 302 ? 'https://login.example.com/?state=s3cret' : undefined,
  );
  const path = await kubeconfigWith(kubeconfig, (config) => ({
    ...config,
    clusters: config.clusters.map(({name}) => ({name, cluster: {server: address}})),
  }));
  expectAll(await everyCommand({kubeconfig: path, namespace}), [
    `${address} returned a web page instead of a Kubernetes API response (${details})`,
    'connect to the VPN, or log in to the proxy',
    'select another context with --kube-context',
  ]);
});

test.each([
  [
    'a failed login',
    'echo "Token has expired, visit https://jane:hunter2@login.example.com" >&2; exit 255',
    {},
    [
      'The credential plugin ./corp-login of the kubeconfig failed with exit code 255: "Token has expired, visit https://***@login.example.com"',
      'Log in to the cluster',
    ],
  ],
  [
    'a plugin that is not installed',
    '',
    {isMissing: true},
    [
      'The credential plugin corp-login-of-this-test of the kubeconfig is not installed',
      'Install corp-login from https://intranet.example.com/corp-login',
    ],
  ],
  [
    'an API version that kubectl no longer supports',
    'exit 1',
    {version: 'v1alpha1'},
    [
      './corp-login of the kubeconfig uses client.authentication.k8s.io/v1alpha1',
      'Create the kubeconfig again',
    ],
  ],
  [
    'a banner before the credentials',
    'echo "NOTICE: a new version"; echo "{}"',
    {},
    ['./corp-login of the kubeconfig printed text other than credentials', 'Run ./corp-login'],
  ],
] as const)('explains %s in every command', async (_, script, options, wanted) => {
  const {kubeconfig, namespace} = await workplace();
  const plugin = await withPlugin(kubeconfig, script, options);
  const said = await everyCommand({kubeconfig: plugin.kubeconfig, namespace});
  expectAll(said, wanted);
  for (const text of said.values()) expect(text).not.toContain('hunter2');
});

test('shows without a terminal what the plugin waits for, and does not wait for it', async () => {
  const {kubeconfig, namespace} = await workplace();
  const plugin = await withPlugin(
    kubeconfig,
    'echo "Please visit https://login.example.com/device" >&2; exec sleep 120',
  );
  const start = Date.now();
  const {stderr, exit} = await status({kubeconfig: plugin.kubeconfig, namespace}, helm);
  expect(exit).toBe(1);
  expect(stderr).toContain(
    './corp-login of the kubeconfig is still waiting for a login: "Please visit https://login.example.com/device"',
  );
  expect(stderr).not.toContain('overloaded');
  expect(Date.now() - start).toBeLessThan(45_000);
});

test('names what a kubeconfig lacks, and its contexts', async () => {
  const {kubeconfig, namespace} = await workplace();
  const path = await kubeconfigWith(kubeconfig, (config) => ({
    ...config,
    contexts: [
      ...config.contexts,
      {name: 'ghost', context: {cluster: 'test-cluster', user: 'gone'}},
      {name: 'dangling', context: {cluster: 'gone', user: 'test-cluster'}},
    ],
    'current-context': 'ghost',
  }));
  expectAll(await everyCommand({kubeconfig: path, namespace}), [
    `The kubeconfig ${path} has no user gone, which context ghost refers to`,
    '--kube-context NAME: dangling, test-cluster',
  ]);
  const dangling = await status({kubeconfig: path, namespace}, helm, [
    '--kube-context',
    'dangling',
  ]);
  expect(dangling.stderr).toContain(
    `The kubeconfig ${path} has no cluster gone, which context dangling refers to.`,
  );
});

interface PrintedRole {
  kind: string;
  rules?: {apiGroups: string[]; resources: string[]; verbs: string[]}[];
}

/** Secrets of the namespace only, in a role of their own. */
const secretsRole = (namespace: string) =>
  expect.objectContaining({
    kind: 'Role',
    metadata: {name: 'scalr-agent:scalr-agent:read-secrets', namespace},
    rules: [{apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list']}],
  });

interface Listed {
  namespace: string;
  unread?: ObjectFinding[];
}

test('prints roles without Secrets first, with which status works and says what is not shown', async () => {
  const place = await installPlace();
  const installed = await install(place, helm, [...LOCAL, '--yes'], {env: TOKEN});
  expect(installed.exit, installed.stderr).toBe(0);
  const nobody = await accountWith(
    [{apiGroups: [''], resources: ['pods'], verbs: ['list']}],
    place,
  );
  const asNobody = {kubeconfig: nobody, namespace: place.namespace};
  const refused = await status(asNobody, helm);
  expect(refused.stderr).toContain(
    'These roles do not allow reading Secrets, so chart version, values',
  );
  const everywhere = await status(asNobody, helm, ['--all-namespaces']);
  for (const {stderr} of [refused, everywhere])
    for (const role of rolesIn(stderr) as PrintedRole[])
      expect(role.rules?.flatMap(({resources}) => resources) ?? []).not.toContain('secrets');
  await place.kubectl.apply(...(rolesIn(refused.stderr) as Parameters<typeof place.kubectl.apply>));
  const limited = await status(asNobody, helm);
  expect(limited.stdout).toContain('secrets is forbidden');
  expect(rolesIn(limited.stdout)).toContainEqual(secretsRole(place.namespace));
});

test('lists the agents of a cluster without its Secrets', async () => {
  const place = await installPlace();
  const installed = await install(place, helm, [...LOCAL, '--yes'], {env: TOKEN});
  expect(installed.exit, installed.stderr).toBe(0);
  const {kubeconfig, allow} = await account(place, []);
  const limited = {kubeconfig, namespace: place.namespace};
  const refused = await status(limited, helm, ['--all-namespaces']);
  const [role] = rolesIn(refused.stderr) as PrintedRole[];
  await allow(
    (role?.rules ?? []).flatMap(({apiGroups, resources, verbs}) =>
      resources.flatMap((resource) =>
        verbs.map((verb) => ({group: apiGroups[0] ?? '', resource, verb})),
      ),
    ),
  );
  let listed: readonly Listed[] | undefined;
  // The API server learns of the roles a moment later.
  await expect
    .poll(
      async () => {
        const {stdout} = await status(limited, helm, ['--all-namespaces', '--json']);
        listed = (JSON.parse(stdout) as {releases?: Listed[]}).releases;
        return listed;
      },
      {timeout: 20_000},
    )
    .toBeDefined();
  const found = listed?.find((each) => each.namespace === place.namespace);
  expect(found).toMatchObject({release: 'scalr-agent'});
  const [gap] = found?.unread ?? [];
  expect(gap).toMatchObject({code: 'FORBIDDEN'});
  expect(rolesIn(gap?.remedies[0]?.text ?? '')).toContainEqual(secretsRole(place.namespace));
});
