import {spawnSync} from 'node:child_process';
import {existsSync, mkdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {expect, test} from 'vitest';
import {formsOf, rareFormsOf} from '../../src/extensions/bundle/redact/leak-check.ts';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {findKubectl} from '../control-plane/kubectl.ts';
import {contentOf, hostShims} from '../support/host-shims.ts';
import {PROGRAM, runBuilt} from './built.ts';

const shims = hostShims();
/** With signs, letters and digits, so that every form is another. */
const TOKEN = `tok-Zr8/kQ+v9 3L"m'X$w<2>0&p`;

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
/** Docker with one container, which has that token and said that. */
function docker(said: string): string {
  const Config = {Env: [`SCALR_TOKEN=${TOKEN}`]};
  const inspected = JSON.stringify([
    {Id: 'a', Name: '/agent', State: {Status: 'running', Running: true}, Config},
  ]);
  return `case "$1" in
inspect) printf %s ${quoted(inspected)} ;;
logs) printf '%s\\n' ${quoted(said)} ;;
*) echo '{}' ;;
esac`;
}

test('hides a known value in every form in the built program, like the source', async () => {
  const forms = [...formsOf(TOKEN), ...rareFormsOf(TOKEN)];
  const said = forms
    .map(([form, written]) => `2026-11-21T08:00:00.1Z ${form}: ${written} .`)
    .join('\n');
  const file = shims.zip();
  const env = {PATH: shims.path({docker: docker(said)}), NO_COLOR: '1', FORCE_COLOR: '1'};
  const {status, stderr} = runBuilt(
    'scalr-agent',
    ['collect-logs', '--docker', 'agent', '--out', file],
    {env},
  );
  expect({status, stderr}).toEqual({status: 0, stderr: expect.stringMatching(/^\d+ of/)});
  const content = Object.entries(await contentOf(file));
  for (const [form, written] of forms) {
    expect([
      form,
      content.filter(([, text]) => text.includes(written)).map(([name]) => name),
    ]).toEqual([form, []]);
  }
  expect(forms.length).toBeGreaterThan(25);
});

test
  .skipIf(!existsSync('/dev/full'))
  .each(['2>/dev/full', '2>&1 >/dev/null | head -c 1 >/dev/null; exit $PIPESTATUS'])(
  'writes a bundle when nobody reads the progress: %s',
  async (output) => {
    const file = shims.zip();
    const script = `"$0" "$1" collect-logs --docker agent --out "$2" ${output}`;
    const env = {PATH: shims.path({docker: docker('2026-11-21T08:00:00.1Z ready')})};
    const {status} = spawnSync('bash', ['-c', script, process.execPath, PROGRAM, file], {env});
    expect(status).toBe(0);
    expect(Object.keys(await contentOf(file))).toContain('logs/docker/agent.log');
  },
);

/** What no output may show of what a failing tool said. */
const SAID = [
  'ghp_aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYzaB3',
  'Winter2026!',
  'Autumn-77x',
  'q7Rk2Zp9Lx4Tn8',
];
const FAILS = `cat >&2 <<'END'
level=error msg="login with token ${SAID[0]} refused" password=${SAID[1]}
Error: cannot connect to https://bob:${SAID[2]}@proxy.example.net:3128: Authorization: Bearer ${SAID[3]}
END
exit 1`;

test.each([
  'status --namespace scalr',
  'preflight --namespace scalr',
  'uninstall --namespace scalr --yes',
  'collect-logs --namespace scalr',
  'collect-logs --docker agent',
])('prints nothing secret that kubectl, helm, docker or a plugin said: %s', (line) => {
  const tools = {kubectl: FAILS, helm: FAILS, docker: FAILS, 'corp-login': FAILS};
  const env = {PATH: shims.path(tools), HOME: shims.empty(), NO_COLOR: '1'};
  for (const more of ['--json', '--verbose']) {
    const args = [...line.split(' '), more];
    const {status, stdout, stderr} = runBuilt('scalr-agent', args, {env, timeoutMs: 120_000});
    expect(status).toBeGreaterThan(0);
    expect(SAID.filter((secret) => `${stdout}${stderr}`.includes(secret))).toEqual([]);
  }
}, 250_000);

const helms = await findHelm();
const kubectl = await findKubectl();

/** A kubeconfig whose credential plugin fails, and a plugin of helm that does when it downloads a chart. */
function failingPlugins(): Record<string, string> {
  const folder = shims.empty();
  const plugin = join(folder, 'plugins', 'corp');
  mkdirSync(plugin, {recursive: true});
  const script = join(plugin, 'fail.sh');
  writeFileSync(script, `#!/bin/sh\n${FAILS}\n`, {mode: 0o755});
  const described = [
    'name: corp',
    'version: 0.1.0',
    'usage: x',
    'description: x',
    'command: fail.sh',
  ];
  const downloads = ['downloaders:', '- command: fail.sh', '  protocols: [corp]', ''];
  writeFileSync(join(plugin, 'plugin.yaml'), [...described, ...downloads].join('\n'));
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: script,
    interactiveMode: 'Never',
  };
  const kubeconfig = {
    clusters: [{name: 'c', cluster: {server: 'https://127.0.0.1:1'}}],
    users: [{name: 'u', user: {exec}}],
    contexts: [{name: 'c', context: {cluster: 'c', user: 'u'}}],
    'current-context': 'c',
  };
  const path = join(folder, 'kubeconfig');
  writeFileSync(path, JSON.stringify(kubeconfig), {mode: 0o600});
  return {KUBECONFIG: path, HELM_PLUGINS: dirname(plugin), HOME: folder, NO_COLOR: '1'};
}

test.each(
  helms.flatMap((helm) =>
    [
      'status --namespace scalr',
      'preflight --namespace scalr --chart agent-k8s',
      'preflight --namespace scalr --chart agent-k8s --chart-source corp://charts/agent-k8s',
    ].map((line) => ({...helm, line})),
  ),
)('prints nothing secret that a real plugin of helm $major or kubectl said: $line', ({
  path,
  line,
}) => {
  const tools = {helm: `exec ${path} "$@"`, kubectl: `exec ${kubectl} "$@"`};
  const env = {...failingPlugins(), PATH: shims.path(tools)};
  const {status, stdout, stderr} = runBuilt('scalr-agent', [...line.split(' '), '--verbose'], {
    env,
    timeoutMs: 120_000,
  });
  expect(status).toBeGreaterThan(0);
  expect(`${stdout}${stderr}`).toMatch(/\[redacted:/);
  expect(SAID.filter((secret) => `${stdout}${stderr}`.includes(secret))).toEqual([]);
}, 250_000);
