import {mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {delimiter, join} from 'node:path';
import {execa} from 'execa';
import {generate} from 'selfsigned';
import {expect, test} from 'vitest';
import {parse} from 'yaml';
import {applyDefinitions} from '../../control-plane/gitops-crds.ts';
import {buildBeforeTests, builtTool} from '../../engines/tools.ts';
import {runBuilt} from '../../package/built.ts';
import {type FleetPlace, fleetPlace, TOKEN} from './fleet-place.ts';

const LOCAL = {chart: 'agent-local', version: '0.6.5'} as const;
const FLAGS = ['--url', 'https://acme.scalr.io', '--chart', 'agent-local'];
const encoded = Buffer.from(TOKEN).toString('base64');

/** Applies an object of the export as the API server of the cluster checks it. */
async function accepted({folder, kubectl}: FleetPlace, text: string): Promise<void> {
  const path = join(folder, 'object.yaml');
  writeFileSync(path, text, {mode: 0o600});
  await kubectl(
    'apply',
    '--server-side',
    '--force-conflicts',
    '--validate=strict',
    '--filename',
    path,
  );
}

/** Exports to `fleet`, and runs the commands that the export prints, with these tools on PATH. */
async function encrypted(
  place: FleetPlace,
  flag: string,
  tools: Record<string, string>,
  env: Record<string, string> = {},
) {
  const argv = [
    'export',
    'flux',
    ...FLAGS,
    flag,
    '--namespace',
    place.namespace,
    '--out',
    'fleet',
    '--yes',
    '--json',
  ];
  const {status, stdout, stderr} = runBuilt('scalr-agent', argv, {cwd: place.cwd});
  expect(status, stderr).toBe(0);
  const bin = mkdtempSync(join(place.folder, 'bin-'));
  for (const [name, path] of Object.entries(tools)) symlinkSync(path, join(bin, name));
  const {steps} = JSON.parse(stdout) as {steps: string[]};
  const variables = {
    ...place.env,
    PATH: `${bin}${delimiter}${place.env.PATH}`,
    SCALR_AGENT_TOKEN: TOKEN,
    ...env,
  };
  await execa('sh', ['-euc', steps.join('\n')], {
    cwd: join(place.cwd, 'fleet'),
    env: variables,
    extendEnv: false,
  });
  const directory = join(place.cwd, 'fleet/clusters/default');
  const {resources} = parse(readFileSync(join(directory, 'kustomization.yaml'), 'utf8')) as {
    resources: string[];
  };
  const path = join(directory, resources.at(-1) as string);
  const text = readFileSync(path, 'utf8');
  expect(text).not.toContain(TOKEN);
  expect(text).not.toContain(encoded);
  const checked = runBuilt('scalr-agent', ['validate', path], {cwd: place.cwd});
  expect(checked.status, checked.stdout + checked.stderr).toBe(0);
  return {path, text};
}

test('the printed command takes over a Secret of kubectl, and leaves it alone without a token', async () => {
  const {kubectl, cwd, env, namespace} = await fleetPlace([LOCAL]);
  const secret = ['secret', 'scalr-agent-token'];
  await kubectl('delete', ...secret);
  await kubectl('create', 'secret', 'generic', 'scalr-agent-token', '--from-literal=token=old');
  const argv = [
    'export',
    'helmfile',
    ...FLAGS,
    '--namespace',
    namespace,
    '--out',
    'fleet',
    '--json',
  ];
  const {status, stdout, stderr} = runBuilt('scalr-agent', argv, {cwd});
  expect(status, stderr).toBe(0);
  const {steps} = JSON.parse(stdout) as {steps: string[]};
  const create = steps.find((step) => step.includes('create secret')) as string;
  const stored = async (token: string): Promise<string> => {
    await execa('sh', ['-c', create], {
      cwd,
      env: {...env, SCALR_AGENT_TOKEN: token},
      reject: false,
    });
    return kubectl('get', ...secret, '--output', 'jsonpath={.data.token}');
  };
  expect(await stored('')).toBe(Buffer.from('old').toString('base64'));
  expect(await stored(TOKEN)).toBe(encoded);
});

buildBeforeTests('sops', 'age-keygen', 'kubeseal');

test('SOPS encrypts the token of the printed command, and decrypts the Secret of the chart', async (context) => {
  const sops = await builtTool('sops', context);
  const keygen = await builtTool('age-keygen', context);
  const place = await fleetPlace([LOCAL]);
  const {stdout: key} = await execa(keygen);
  const recipient = /public key: (\S+)/.exec(key)?.[1] as string;
  const {path, text} = await encrypted(place, '--sops', {sops}, {SOPS_AGE_RECIPIENTS: recipient});
  // Reviewers can read everything but the token.
  expect(parse(text)).toMatchObject({
    kind: 'Secret',
    metadata: {name: 'scalr-agent-token', namespace: place.namespace},
  });
  const secretKey = key.split('\n').find((line) => line.startsWith('AGE-SECRET-KEY')) as string;
  const {stdout} = await execa(sops, ['decrypt', path], {env: {SOPS_AGE_KEY: secretKey}});
  expect(parse(stdout).data).toEqual({token: encoded});
  await accepted(place, stdout);
});

const SEALED_SECRETS = {
  'github.com/bitnami-labs/sealed-secrets@v0.27.1': [
    'helm/sealed-secrets/crds/bitnami.com_sealedsecrets.yaml',
  ],
};

test('kubeseal seals the token of the printed command, and unseals the Secret of the chart', async (context) => {
  const kubeseal = await builtTool('kubeseal', context);
  const place = await fleetPlace([LOCAL]);
  const made = await generate([{name: 'commonName', value: 'sealed-secrets'}], {
    keySize: 2048,
    algorithm: 'sha256',
  });
  const cert = join(place.folder, 'seal.crt');
  const key = join(place.folder, 'seal.key');
  writeFileSync(cert, made.cert);
  writeFileSync(key, made.private, {mode: 0o600});
  const {text} = await encrypted(
    place,
    '--sealed-secrets',
    {kubeseal},
    {SEALED_SECRETS_CERT: cert},
  );
  const {stdout} = await execa(
    kubeseal,
    ['--recovery-unseal', '--recovery-private-key', key, '--format', 'yaml'],
    {input: text},
  );
  expect(parse(stdout)).toMatchObject({
    data: {token: encoded},
    metadata: {name: 'scalr-agent-token', namespace: place.namespace},
  });
  await applyDefinitions(place.kubectl, SEALED_SECRETS, context);
  await accepted(place, text);
});

const EXTERNAL_SECRETS = {
  'github.com/external-secrets/external-secrets@v1.3.2': [
    'config/crds/bases/external-secrets.io_externalsecrets.yaml',
  ],
};

test.skipIf(!process.env['TEST_FULL'])(
  'the definition of External Secrets accepts the ExternalSecret of every engine',
  async (context) => {
    const place = await fleetPlace([LOCAL]);
    await applyDefinitions(place.kubectl, EXTERNAL_SECRETS, context);
    for (const target of ['flux', 'argocd', 'argocd-appset', 'helmfile']) {
      const git = target.startsWith('argocd')
        ? ['--git-url', 'https://git.example.com/agents.git']
        : [];
      const paths = place.exportFiles(
        target,
        ...FLAGS,
        '--secret-store',
        'SecretStore/vault',
        ...git,
      );
      const path =
        paths.find((each) => each.endsWith('external-secret.yaml')) ?? 'clusters/default.yaml';
      const found = parse(readFileSync(join(place.cwd, 'fleet', path), 'utf8'));
      const object = target === 'helmfile' ? found.objects[1] : found;
      expect(object.kind, target).toBe('ExternalSecret');
      await accepted(place, JSON.stringify(object));
      rmSync(join(place.cwd, 'fleet'), {recursive: true});
    }
  },
);
