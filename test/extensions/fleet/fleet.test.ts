import {execSync, spawnSync} from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import fc from 'fast-check';
import {describe, expect, onTestFinished, test} from 'vitest';
import {parse} from 'yaml';
import {parseRings, ringOf} from '../../../src/answers/overlay.ts';
import {FLEET_TARGETS, type FleetTarget} from '../../../src/extensions/fleet/engines.ts';
import {overrideOf} from '../../../src/extensions/fleet/fleet.ts';
import {isMap, mergeValues, type Values} from '../../../src/ground/tree.ts';
import {violations} from '../../support/output-schema.ts';
import {runIn} from '../../support/run-in.ts';

const GIT = ['--git-url', 'https://git.example.com/agents.git'];

function directory(files: Readonly<Record<string, string>> = {}) {
  const cwd = mkdtempSync(join(tmpdir(), 'fleet-'));
  onTestFinished(() => rmSync(cwd, {recursive: true, force: true}));
  mkdirSync(join(cwd, 'clusters'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
  const run = (...argv: string[]) => runIn(cwd, argv, {SCALR_AGENT_TOKEN: 'e30.e30.c2ln'});
  /** Texts of an export by path. */
  const exported = async (
    target: string,
    out: string,
    ...flags: string[]
  ): Promise<Record<string, string>> => {
    const {exit, stderr} = await run('export', target, ...flags, '--out', out, '--yes');
    expect(exit, stderr).toBe(0);
    const files = readdirSync(join(cwd, out), {recursive: true, encoding: 'utf8'}).filter((path) =>
      statSync(join(cwd, out, path)).isFile(),
    );
    return Object.fromEntries(
      files.toSorted().map((path) => [path, readFileSync(join(cwd, out, path), 'utf8')]),
    );
  };
  return {
    cwd,
    run,
    exported,
    write: (name: string, text: string) => writeFileSync(join(cwd, name), text),
  };
}

const sectionOf = (readme: string, heading: string): string =>
  readme.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';

/** The lines of the shell commands in a page. */
const shellLines = (page: string): string[] =>
  [...page.matchAll(/^```sh\n([\s\S]*?)^```/gm)].flatMap(([, text = '']) =>
    text.trim().split('\n'),
  );

const ANSWERS =
  'url: https://acme.scalr.io\nchart: agent-job\nnode-selector: {team: a}\ntoleration: [a=b:NoSchedule]\n';
const ADDRESS = ['--url', 'https://acme.scalr.io'];
const OVERLAY = ['--answers', 'answers.yaml', '--overlay', 'clusters'];
const LEAK = 'eyJhbGciOiJub25lIn0.eyJqdGkiOiJ4In0.c2lnbmF0dXJl';
/** Flags that the targets need. */
const flagsOf = (target: string): string[] => (target.startsWith('argocd') ? GIT : []);

const LAST_STEP: Readonly<Record<FleetTarget, string>> = {
  argocd: 'kubectl apply --namespace argocd --filename applications/',
  'argocd-appset': 'kubectl apply --namespace argocd --filename applicationset.yaml',
  flux: '# Commit and push all files, and create the Flux Kustomization: README.md, Bootstrap',
  terraform: 'tofu -chdir=clusters/default apply',
  helmfile: 'helmfile --environment default sync',
};

describe.each(FLEET_TARGETS)('%s', (target) => {
  test('is the same for the same answers, and one more cluster changes no other file', async () => {
    const {exported, write} = directory({
      'answers.yaml': ANSWERS,
      'clusters/eu-1.yaml': 'node-selector: {disk: ssd}\n',
      'clusters/eu-2.yaml': 'toleration: [c=d:NoSchedule]\ngrace-period: 30m\n',
    });
    const flags = [...OVERLAY, ...flagsOf(target)];
    const before = await exported(target, 'fleet', ...flags);
    expect(await exported(target, 'fleet', ...flags)).toEqual(before);
    write('clusters/eu-3.yaml', 'run-memory-limit: 4Gi\n');
    const after = await exported(target, 'fleet', ...flags);
    const added = Object.keys(after).filter((path) => !(path in before));
    expect(added).toEqual([expect.stringContaining('eu-3')]);
    expect(Object.fromEntries(Object.entries(after).filter(([path]) => path in before))).toEqual(
      before,
    );
    expect(Object.values(after).join('')).not.toMatch(
      /e30\.e30\.c2ln|npx (?!scalr-agent-install takes)/,
    );
  });

  test('pins the version, explains every task of operators, and leaves nothing to fill in', async () => {
    const {exported} = directory();
    const files = await exported(
      target,
      'fleet',
      '--url',
      'https://acme.scalr.io',
      '--chart',
      'agent-job',
      '--chart-version',
      '0.6.4',
      ...flagsOf(target),
    );
    const readme = files['README.md'] ?? '';
    for (const heading of ['Bootstrap', 'Add a cluster', 'Rotate the token', 'Upgrade', 'Remove'])
      expect(readme).toContain(`## ${heading}\n`);
    expect(readme).toContain('Run the commands below in the directory of this file, unless');
    const text = Object.values(files).join('\n');
    expect(text).toMatch(/0\.6\.4/);
    expect(text).not.toContain('digest');
    expect(text).not.toMatch(/@[a-z]+@|undefined|\[object/);
  });

  test('"Remove" names the answers of the cluster, which would write it again, and its files', async () => {
    const {exported} = directory({
      'answers.yaml': ANSWERS,
      'clusters/eu-1.yaml': 'url: https://acme.scalr.io\n',
    });
    const {'README.md': readme = ''} = await exported(
      target,
      'fleet',
      ...OVERLAY,
      ...flagsOf(target),
    );
    const remove = sectionOf(readme, 'Remove');
    expect(remove).toContain(
      'First, in the directory of the answers file, delete `clusters/CLUSTER.yaml`',
    );
    expect(remove).toMatch(/elete `(?:clusters|applications)\/CLUSTER(?:\/|\.yaml)`(?!, the)/);
  });

  test('every kubectl command of README.md names its cluster, and no chart reads of the PVCs of another', async () => {
    for (const chart of ['agent-k8s', 'agent-local', 'agent-job']) {
      const secret = SECRET_FLAGS[target] ?? [];
      const flags = [...ADDRESS, '--chart', chart, ...secret, ...flagsOf(target)];
      const readme = (await directory().exported(target, 'fleet', ...flags))['README.md'] ?? '';
      const silent = shellLines(readme).filter(
        (line) =>
          /^(kubectl|flux) |\| kubectl apply/.test(line) && !/ (--context|use-context) /.test(line),
      );
      expect(silent).toEqual([]);
      const renamed = /^(agent-[a-z0-9]+) .* and Helm deletes the old PVC/m.exec(readme)?.[1];
      const isHelm = ['terraform', 'helmfile'].includes(target) && chart !== 'agent-k8s';
      expect(renamed).toBe(isHelm ? chart : undefined);
    }
  });

  test.each([
    ['flags', [...ADDRESS, '--chart', 'agent-job'], 'answers.yaml'],
    ['--answers', ['--answers', 'prod.yaml', '--concurrency', '3'], 'prod.yaml'],
  ])('the commands of README.md work after an export by %s', async (_, answers, file) => {
    const {cwd, run, exported, write} = directory();
    rmSync(join(cwd, 'clusters'), {recursive: true});
    write(file, 'url: https://acme.scalr.io\nchart: agent-job\n');
    const before = await exported(target, 'fleet', ...answers, ...flagsOf(target));
    const runPrinted = async (command: string): Promise<void> => {
      const [, ...argv] = command.replace('DIRECTORY', 'fleet').split(' ');
      const {exit, stderr} = await run(...argv);
      expect(exit, stderr).toBe(0);
    };
    const readme = before['README.md'] ?? '';
    const again = shellLines(readme)[0] ?? '';
    rmSync(join(cwd, 'fleet'), {recursive: true});
    await runPrinted(again);
    const pathsNow = () => readdirSync(join(cwd, 'fleet'), {recursive: true, encoding: 'utf8'});
    expect(pathsNow()).toEqual(expect.arrayContaining(Object.keys(before)));
    expect(readFileSync(join(cwd, 'fleet/README.md'), 'utf8')).toBe(readme);
    const lines = shellLines(sectionOf(readme, 'Add a cluster'));
    const add = lines.pop() ?? '';
    execSync(lines.join('\n'), {cwd});
    await runPrinted(add);
    expect(pathsNow()).toEqual(expect.arrayContaining(Object.keys(before)));
    expect(pathsNow().join('\n')).toContain('eu-2');
  });

  test('the next steps end with the installation, whatever creates the Secret', async () => {
    for (const secret of [[], SECRET_FLAGS[target] ?? ['--secret-store', 'vault']]) {
      const flags = [
        ...ADDRESS,
        ...secret,
        ...flagsOf(target),
        '--out',
        'fleet',
        '--yes',
        '--json',
      ];
      const {exit, stdout, stderr} = await directory().run('export', target, ...flags);
      expect(exit, stderr).toBe(0);
      const {steps} = JSON.parse(stdout) as {steps: string[]};
      expect(steps.length).toBeGreaterThan(1);
      expect(steps.at(-1)).toBe(LAST_STEP[target]);
      execSync('sh -n', {input: steps.join('\n')});
    }
  });
});

test.each([
  ['argocd', 'applications/in-cluster.yaml'],
  ['argocd-appset', 'applicationset.yaml'],
])('%s reads the directory of --out in the repository, and README.md says to push it', async (target, file) => {
  const {exported} = directory();
  const files = await exported(target, 'fleet', ...ADDRESS, '--secret-store', 'vault', ...GIT);
  const {spec} = parse(files[file] ?? '');
  const {sources} = spec.template?.spec ?? spec;
  const name = target === 'argocd' ? 'in-cluster' : '{{.name}}';
  expect(sources.at(-1).path).toBe(`fleet/secrets/${name}`);
  const readme = files['README.md'] ?? '';
  expect(readme).toContain(
    'run the export in the root of the repository, with `--out` relative to it',
  );
  expect(sectionOf(readme, 'Bootstrap')).toMatch(/Commit and push/);
});

test.each([
  ['--secret-store=vault', 'kubectl annotate externalsecret scalr-agent-token '],
  ['--sops', 'kubectl get secret scalr-agent-token '],
  ['--sealed-secrets', 'kubectl get secret scalr-agent-token '],
])('with %s, README.md restarts agents only after the Secret has changed', async (flag, first) => {
  const files = await directory().exported('flux', 'fleet', ...ADDRESS, flag);
  const commands = shellLines(sectionOf(files['README.md'] ?? '', 'Rotate the token'));
  expect(commands[0]).toContain(first);
  expect(commands.at(-2)).toContain('managedFields');
  expect(commands.at(-1)).toContain('kubectl rollout restart');
});

test('the base says where README.md creates the Secret', async () => {
  const files = await directory().exported('helmfile', 'fleet', ...ADDRESS, '--chart', 'agent-job');
  const base = Object.entries(files).find(([path]) => path.startsWith('base/'))?.[1];
  expect(base).toContain('# Must exist first; see README.md, Bootstrap\n');
});

test('helmfile runs in the context of its files, or in the one that README.md selects first', async () => {
  const {exported} = directory({'answers.yaml': ANSWERS, 'clusters/eu-1.yaml': ''});
  const shellOf = async (flags: string[]): Promise<string[]> => {
    const readme = (await exported('helmfile', 'fleet', ...flags))['README.md'] ?? '';
    return ['Bootstrap', 'Remove'].flatMap((title) => shellLines(sectionOf(readme, title)));
  };
  const lines = await shellOf(ADDRESS);
  const before = lines.flatMap((line, index) =>
    line.startsWith('helmfile ') ? [lines[index - 1]] : [],
  );
  const select = 'kubectl config use-context CONTEXT';
  expect(before).toEqual([select, select]);
  expect(await shellOf(OVERLAY)).not.toContain(select);
});

test.each([
  ['one cluster', ADDRESS],
  ['several', OVERLAY],
])('README.md of an export for %s says where rings.yaml is, and links to its format', async (_, flags) => {
  const {exported} = directory({'answers.yaml': ANSWERS, 'clusters/eu-1.yaml': ''});
  const {'README.md': readme = ''} = await exported('flux', 'fleet', ...flags);
  const [page = '', anchor] =
    /`clusters\/rings\.yaml`.*\/(docs\/\S+)#(\w+)\)/.exec(readme)?.slice(1) ?? [];
  expect(readFileSync(page, 'utf8').toLowerCase()).toContain(`\n## ${anchor}\n`);
});

const SECRET_FLAGS: Readonly<Record<string, readonly string[]>> = {
  terraform: [],
  helmfile: ['--sops'],
  flux: ['--secret-store', 'vault'],
};

test.each(
  FLEET_TARGETS,
)('validate accepts every YAML and JSON file of %s, and finds a mistake in each', async (target) => {
  const {cwd, exported, run, write} = directory({
    // Without an address, the shared values are incomplete.
    'answers.yaml': ANSWERS.replace(/^url.*\n/, ''),
    'clusters/eu-1.yaml': 'url: https://acme.scalr.io\nnode-selector: {disk: ssd}\n',
    'clusters/eu-2.yaml':
      'url: https://acme.scalr.io\nchart: agent-local\nnode-selector: {disk: ssd}\n',
  });
  const flags = SECRET_FLAGS[target] ?? ['--secret-store', 'SecretStore/vault'];
  const files = Object.entries(
    await exported(target, 'fleet', ...OVERLAY, ...flags, ...flagsOf(target)),
  ).filter(([path]) => /\.(yaml|json)$/.test(path));
  const paths = files.map(([path]) => `fleet/${path}`);
  const clean = await run('validate', ...paths, '--json');
  expect(violations('validate', clean.stdout)).toEqual([]);
  expect(
    JSON.parse(clean.stdout).files.filter(
      ({findings}: {findings: unknown[]}) => findings.length > 0,
    ),
  ).toEqual([]);
  expect(clean.exit, clean.stderr).toBe(0);
  const mistakes = files.map(([path, text]) => {
    const key = text.indexOf('nodeSelector');
    const changed = key < 0 ? `${text}# ${LEAK}\n` : text.replace('nodeSelector', 'nodeSelectr');
    write(`fleet/${path}`, changed);
    const line = (key < 0 ? text : text.slice(0, key)).split('\n').length;
    return `fleet/${path}:${line} ${key < 0 ? 'TOKEN_IN_FILE' : 'UNKNOWN_KEY'}`;
  });
  const {files: checked} = JSON.parse((await run('validate', ...paths, '--json')).stdout);
  const found = checked.flatMap(
    ({file, findings}: {file: string; findings: {file?: string; line: number; code: string}[]}) =>
      findings.map((each) => `${each.file ?? file}:${each.line} ${each.code}`),
  );
  expect(found, cwd).toEqual(expect.arrayContaining(mistakes));
});

test.each(
  FLEET_TARGETS,
)('validate reports a token in every values file of %s as an error, whatever its form', async (target) => {
  const {exported, run, write} = directory();
  const values = Object.entries(
    await exported(target, 'fleet', ...ADDRESS, ...flagsOf(target)),
  ).filter(([path, text]) => /\.yaml$/.test(path) && /^ *agent:$/m.test(text));
  expect(values).not.toEqual([]);
  for (const [path, text] of values)
    for (const changed of [
      text.replace(/^( *)agent:$/m, '$&\n$1  token: abcdefgh1234'),
      text.replace(/^( *)agent:$/m, `$&\n$1  token: ${LEAK}`),
      `${text}# ${LEAK}\n`,
    ]) {
      write(`fleet/${path}`, changed);
      const {exit, stdout} = await run('validate', `fleet/${path}`, '--json');
      expect(exit, stdout).toBe(3);
      const {findings} = JSON.parse(stdout);
      expect(
        findings.filter(({code}: {code: string}) => /TOKEN_IN|CLEAR_TEXT/.test(code)),
        changed,
      ).toEqual([expect.objectContaining({code: 'TOKEN_IN_FILE', severity: 'error'})]);
    }
});

describe('nothing of the files deletes a cache or a namespace', () => {
  const withCache = (target: string): Promise<Record<string, string>> =>
    directory({
      'answers.yaml': `${ANSWERS}cache: pvc\ncache-size: 5Gi\n`,
      'clusters/eu-1.yaml': '',
      'clusters/eu-2.yaml': 'cache: ephemeral\n',
    }).exported(target, 'fleet', ...OVERLAY, ...flagsOf(target));

  test('Flux prunes no namespace, and Helm keeps every PVC', async () => {
    const files = await withCache('flux');
    const objects = Object.entries(files)
      .filter(([path]) => path.endsWith('.yaml'))
      .map(([, text]) => parse(text));
    const namespaces = objects.filter(({kind}) => kind === 'Namespace');
    expect(namespaces).toHaveLength(1);
    expect(namespaces[0].metadata.annotations).toEqual({
      'kustomize.toolkit.fluxcd.io/prune': 'disabled',
    });
    const [{spec}] = objects.filter(({kind}) => kind === 'HelmRelease');
    expect(spec.postRenderers[0].kustomize.patches).toContainEqual(
      expect.objectContaining({
        target: {kind: 'PersistentVolumeClaim'},
        patch: expect.stringContaining('helm.sh/resource-policy: keep'),
      }),
    );
    expect(files['README.md']).not.toContain('deleted too');
  });

  test.each([
    'argocd',
    'argocd-appset',
  ])('%s prunes nothing, even in a cluster whose cache was removed from the answers', async (target) => {
    const applications = Object.entries(await withCache(target))
      .filter(([path]) => /^applications\/|^applicationset/.test(path))
      .map(([, text]) => parse(text))
      .map((each) => each.spec.template ?? each);
    expect(applications.length).toBe(target === 'argocd' ? 2 : 1);
    for (const {metadata, spec} of applications) {
      expect(spec.syncPolicy.automated.prune).toBe(false);
      expect(metadata.finalizers).toBeUndefined();
    }
  });

  test('Terraform never destroys the namespace that it created', async () => {
    expect((await withCache('terraform'))['modules/token/main.tf']).toMatch(
      /resource "kubernetes_namespace_v1" "agent" \{(?:(?!^\}).*\n)*\s+prevent_destroy = true/m,
    );
  });
});

test.each([
  'helmfile',
  'flux',
  'argocd',
  'argocd-appset',
])('%s reads the token from External Secrets, with a key per cluster', async (target) => {
  const {exported} = directory({'answers.yaml': ANSWERS, 'clusters/eu-1.yaml': ''});
  const files = await exported(
    target,
    'fleet',
    ...OVERLAY,
    '--secret-store',
    'SecretStore/vault',
    ...flagsOf(target),
  );
  const text = Object.values(files).join('\n');
  expect(text).toContain('apiVersion: external-secrets.io/v1\n');
  expect(text).toContain('scalr-agent/eu-1');
  expect(text).toMatch(/kind: SecretStore\n\s+name: vault\n/);
});

test.each([
  '--sops',
  '--sealed-secrets',
])('%s prints commands that encrypt standard input, and no file contains the token', async (flag) => {
  const {run, cwd} = directory();
  const {exit, stderr} = await run(
    'export',
    'flux',
    '--url',
    'https://acme.scalr.io',
    flag,
    '--out',
    'fleet',
  );
  expect(exit, stderr).toBe(0);
  expect(stderr).toMatch(
    /: "\$\{SCALR_AGENT_TOKEN:\?\}" && printf %s "\$SCALR_AGENT_TOKEN" \| kubectl create secret .*--from-file=token=\/dev\/stdin .* \| (sops encrypt|kubeseal) /,
  );
  const {resources} = parse(
    readFileSync(join(cwd, 'fleet/clusters/default/kustomization.yaml'), 'utf8'),
  ) as {resources: string[]};
  expect(resources[1]).toMatch(/^token\.(sops|sealed)\.yaml$/);
});

test('another export keeps the keys that were added to .sops.yaml', async () => {
  const {cwd, exported} = directory();
  await exported('flux', 'fleet', ...ADDRESS, '--sops');
  const mine = 'creation_rules: [{age: age1mine}]\n';
  writeFileSync(join(cwd, 'fleet/.sops.yaml'), mine);
  const again = await exported('flux', 'fleet', ...ADDRESS, '--sops', '--concurrency', '2');
  expect(again['.sops.yaml']).toBe(mine);
});

test.each([
  ['terraform'],
  ['flux', '--sops'],
])('the commands of %s leave a Secret alone without a token', async (...target) => {
  const {run, cwd} = directory();
  const argv = ['export', ...target, ...ADDRESS, '--chart', 'agent-local', '--out', 'fleet'];
  const {stdout} = await run(...argv, '--json');
  const {steps} = JSON.parse(stdout) as {steps: string[]};
  const log = join(cwd, 'log');
  writeFileSync(join(cwd, 'kubectl'), `#!/bin/sh\necho "$@" >> '${log}'\n`, {mode: 0o755});
  const commands = steps.slice(0, 2).join('\n');
  const runSteps = (token: string) =>
    spawnSync('sh', ['-c', commands], {
      cwd: join(cwd, 'fleet'),
      env: {PATH: `${cwd}:${process.env['PATH']}`, SCALR_AGENT_TOKEN: token},
      encoding: 'utf8',
    });
  const {status, stderr} = runSteps('');
  expect(status).not.toBe(0);
  expect(stderr).toContain('SCALR_AGENT_TOKEN');
  expect(existsSync(log) ? readFileSync(log, 'utf8') : '').not.toContain('secret');
  runSteps('e30.e30.c2ln');
  expect(readFileSync(log, 'utf8')).toContain('create secret generic scalr-agent-token');
});

test.each([
  [['argocd', '--sops'], '--sops is not supported by argocd.'],
  [['terraform', '--secret-store', 'vault'], '--secret-store is not supported by terraform.'],
  [['argocd-appset'], 'An ApplicationSet reads the files of clusters from Git: set --git-url.'],
  [['flux', '--sops', '--sealed-secrets'], '--sops and --sealed-secrets cannot be combined.'],
  [['compose', '--overlay', 'clusters'], '--overlay: only for the targets'],
  [
    ['flux', '--chart-source', 'oci://registry.example.com/agent-job', '--chart', 'agent-job'],
    'not supported in files for fleets',
  ],
])('%j is rejected', async (argv, message) => {
  const {exit, stderr} = await directory().run(
    'export',
    ...argv,
    '--url',
    'https://acme.scalr.io',
    '--out',
    'fleet',
  );
  expect(stderr).toContain(message);
  expect(exit).toBe(2);
});

test.each([
  '/srv/agents',
  '../agents',
  'fleet/../../agents',
])('--out %s is rejected with --git-url, because the paths in the files would be wrong', async (out) => {
  const argv = ['export', 'argocd', '--url', 'https://acme.scalr.io', ...GIT, '--out', out];
  const {exit, stderr} = await directory().run(...argv);
  expect(stderr).toContain(`--out: "${out}" is outside of the repository of --git-url`);
  expect(exit).toBe(2);
});

test('the restart after a rotation finds the agents with both ways in which Argo CD tracks objects', async () => {
  const files = await directory().exported('argocd', 'fleet', '--url', 'https://acme.scalr.io');
  const rotation = sectionOf(files['README.md'] ?? '', 'Rotate the token');
  expect(shellLines(rotation).at(-1)).toContain(
    "--selector 'app.kubernetes.io/instance in (scalr-agent,scalr-agent-in-cluster)'",
  );
});

test('the recorded command of an export without answers has the chart version', async () => {
  const files = await directory().exported('flux', 'fleet', '--url', 'https://acme.scalr.io');
  expect(files['README.md']).toMatch(
    /^scalr-agent export flux --chart agent-local --chart-version \d+\.\d+\.\d+ --url/m,
  );
});

test('Flux and Argo CD read the directory of --out in the repository', async () => {
  const flags = ['--url', 'https://acme.scalr.io', '--chart', 'agent-local'];
  const inGit = await directory().exported('flux', './fleet/', ...flags, ...GIT);
  expect(inGit['README.md']).toContain('path: fleet/clusters/default');
  const anywhere = await directory().exported('flux', 'fleet', ...flags);
  expect(anywhere['README.md']).toContain('path: DIRECTORY/clusters/default');
});

test('Terraform applies the CRDs of each cluster to the context of its answers', async () => {
  const files = await directory({
    'answers.yaml': ANSWERS,
    'clusters/eu-1.yaml': 'kube-context: "admin@eu 1"\n',
  }).exported('terraform', 'fleet', ...OVERLAY);
  expect(files['clusters/eu-1/main.tf']).toContain(`default     = "--context 'admin@eu 1'"`);
  const single = await directory().exported(
    'terraform',
    'fleet',
    '--url',
    'https://acme.scalr.io',
    '--chart',
    'agent-job',
  );
  expect(single['clusters/default/main.tf']).toContain('default     = null');
  expect(single['modules/agent/main.tf']).toContain('condition     = var.kubectl_flags != null');
});

test.each([
  ['agent-job', ` -var "kubectl_flags=--context '$(kubectl config current-context)'"`],
  ['agent-local', ''],
])('apply of Terraform without a context in the answers: %s', async (chart, variable) => {
  const {run, cwd} = directory();
  const argv = ['export', 'terraform', ...ADDRESS, '--chart', chart, '--out', 'fleet', '--json'];
  const {steps} = JSON.parse((await run(...argv)).stdout) as {steps: string[]};
  expect(steps.at(-1)).toBe(`tofu -chdir=clusters/default apply${variable}`);
  const readme = readFileSync(join(cwd, 'fleet/README.md'), 'utf8');
  const applies = readme.match(/^tofu .* apply$|^tofu .* apply -var .*$/gm);
  expect(applies).toEqual([
    `tofu -chdir=clusters/default apply${variable && " -var 'kubectl_flags=--context CONTEXT'"}`,
  ]);
});

test.each([
  [['--sops'], {provider: 'sops', secretRef: {name: 'sops-keys'}}],
  [[], undefined],
])('the Flux Kustomization in README.md decrypts what SOPS has encrypted: %j', async (flags, decryption) => {
  const {'README.md': readme = ''} = await directory().exported(
    'flux',
    'fleet',
    ...ADDRESS,
    ...flags,
  );
  const [, text = ''] = /```yaml\n(apiVersion: kustomize.toolkit[\s\S]*?)```/.exec(readme) ?? [];
  expect((parse(text) as {spec: {decryption?: unknown}}).spec.decryption).toEqual(decryption);
});

test.each([
  'argocd-appset',
  'flux',
  'terraform',
  'helmfile',
])('validate and migrate read the chart of the base of %s', async (target) => {
  const {run, exported} = directory();
  const files = await exported(
    target,
    'fleet',
    ...ADDRESS,
    '--chart',
    'agent-local',
    '--chart-version',
    '0.6.1',
    ...flagsOf(target),
  );
  const base = Object.keys(files).find((path) =>
    /^base\/agent-local-[\d.]+(\/values)?\.yaml$/.test(path),
  );
  const {exit, stdout, stderr} = await run('validate', `fleet/${base}`, '--strict');
  expect(exit, stderr).toBe(0);
  expect(stdout).toContain('no problems found (agent-local 0.6.1)');
  const migrate = ['migrate', `fleet/${base}`, '--to', 'agent-local@0.6.5', '--out', 'values.yaml'];
  expect((await run(...migrate)).exit).toBe(0);
  expect((await run('validate', 'values.yaml')).stdout).toContain('(agent-local 0.6.5)');
});

describe('overlays', () => {
  test.each([
    ['helmfile', ['--answers', 'answers.yaml'], '.', 'clusters/eu-1.yaml'],
    ['helmfile', ['--answers', 'answers.yaml'], undefined, 'clusters/eu-1.yaml'],
    [
      'argocd',
      ['--answers', 'fleet/applications/eu-1.yaml', ...GIT],
      'fleet',
      'fleet/applications/eu-1.yaml',
    ],
  ])('an export of %s never replaces its answers', async (target, flags, out, input) => {
    const {run, cwd} = directory({'answers.yaml': ANSWERS, 'clusters/eu-1.yaml': ''});
    mkdirSync(join(cwd, 'fleet/applications'), {recursive: true});
    writeFileSync(join(cwd, 'fleet/applications/eu-1.yaml'), ANSWERS);
    const where = out === undefined ? [] : ['--out', out];
    const before = readFileSync(join(cwd, input), 'utf8');
    const argv = ['export', target, ...flags, '--overlay', 'clusters', ...where, '--yes'];
    const {exit, stderr} = await run(...argv);
    expect(exit).toBe(2);
    expect(stderr).toContain(
      `The export would write over its answers: ${input}. Nothing was written.`,
    );
    expect(readFileSync(join(cwd, input), 'utf8')).toBe(before);
    expect(existsSync(join(cwd, out ?? '', 'README.md'))).toBe(false);
  });

  test('a conflict names both files, in export and validate', async () => {
    const {run} = directory({
      'answers.yaml': ANSWERS,
      'clusters/eu-1.yaml': 'cache: existing-pvc\n',
      'clusters/eu-2.yaml': '',
    });
    const place =
      'clusters/eu-1.yaml over answers.yaml: --cache: existing-pvc requires the name of a PVC.';
    expect(await run('export', 'flux', ...OVERLAY)).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining(place),
    });
    const {exit, stdout} = await run('validate', ...OVERLAY, '--json');
    expect(violations('validate', stdout)).toEqual([]);
    expect(JSON.parse(stdout).files).toMatchObject([
      {
        file: 'clusters/eu-1.yaml',
        valid: false,
        findings: [
          {
            code: 'INVALID_SETTING',
            path: 'cache',
            line: 1,
            column: 1,
            message: 'existing-pvc requires the name of a PVC.',
          },
        ],
      },
      {file: 'clusters/eu-2.yaml', valid: true, chart: 'agent-job'},
    ]);
    expect(exit).toBe(3);
  });

  test('validate lists the problems of every cluster at their settings, whatever is wrong with other clusters', async () => {
    const {run} = directory({
      'answers.yaml': `${ANSWERS}data-size: much\n`,
      'clusters/broken.yaml': 'concurrency: 2\nset: [\n',
      'clusters/fine.yaml': 'data-size: 4Gi\n',
      'clusters/many.yaml': 'data-size: 4Gi\ncontroller-replicas: 99\nconcurrency: many\n',
      'clusters/shared.yaml': '',
      'clusters/unknown.yaml': 'data-size: 4Gi\n\nlabels: x\nconcurency: 3\n',
      'clusters/unsupported.yaml': 'data-size: 4Gi\nsingle-run: true\n',
    });
    const {exit, stdout} = await run('validate', ...OVERLAY, '--format', 'github');
    const lines = stdout.split('\n').filter((line) => line.startsWith('::error'));
    expect(
      lines.map((line) => /file=clusters\/([^,:]*)(?:,line=(\d+))?/.exec(line)?.slice(1)),
    ).toEqual([
      ['broken.yaml', '3'],
      ['many.yaml', '3'],
      ['many.yaml', '2'],
      ['shared.yaml', undefined],
      ['unknown.yaml', '3'],
      ['unknown.yaml', '4'],
      ['unsupported.yaml', '2'],
    ]);
    expect(lines[3]).toContain('This file does not set it; it is merged over answers.yaml.');
    expect(lines[5]).toContain('Did you mean concurrency');
    expect(exit).toBe(3);
    const exported = await run('export', 'flux', ...OVERLAY);
    expect(exported.exit).toBe(2);
    for (const name of ['broken', 'many', 'shared', 'unknown', 'unsupported'])
      expect(exported.stderr).toContain(`clusters/${name}.yaml`);
  });

  test('recommend names the clusters that a chart cannot serve', async () => {
    const {run} = directory({
      'answers.yaml': 'url: https://acme.scalr.io\n',
      'clusters/one.yaml': 'cloud: gke-autopilot\n',
      'clusters/two.yaml': '',
    });
    const {stdout} = await run('recommend', ...OVERLAY, '--json');
    expect(violations('recommend', stdout)).toEqual([]);
    expect(JSON.parse(stdout).clusters).toMatchObject([
      {cluster: 'one', excluded: [{chart: 'agent-k8s'}]},
      {cluster: 'two', excluded: []},
    ]);
    expect((await run('recommend', ...OVERLAY)).stdout).toMatch(
      /× agent-k8s: .* \(one\)\nCharts that can serve all clusters: agent-local, agent-job\n/,
    );
  });

  test('a ring has answers between the shared ones and those of a cluster', async () => {
    const {exported} = directory({
      'answers.yaml': `${ANSWERS}chart-version: 0.6.4\n`,
      'clusters/rings.yaml':
        '- name: canary\n  clusters: [eu-1]\n  answers: {chart-version: 0.6.5}\n',
      'clusters/eu-1.yaml': 'kube-context: admin@eu-1\n',
      'clusters/eu-2.yaml': 'node-selector: {disk: ssd}\ntoleration: [c=d:NoSchedule]\n',
    });
    const files = await exported('helmfile', 'fleet', ...OVERLAY);
    const [one, two] = ['eu-1', 'eu-2'].map((name) => parse(files[`clusters/${name}.yaml`] ?? ''));
    expect(one).toMatchObject({
      ring: 'canary',
      version: '0.6.5',
      kubeContext: 'admin@eu-1',
      values: {},
    });
    expect(two).toMatchObject({ring: 'all', version: '0.6.4', kubeContext: 'eu-2'});
    // Maps are merged, lists are replaced.
    expect(two.values.task).toEqual({
      nodeSelector: {disk: 'ssd'},
      tolerations: [expect.objectContaining({key: 'c'})],
    });
  });

  test.each([
    ['{}', 'expected a list of rings'],
    ['- name: canary\n  percent: 200', 'ring 1 is not a name'],
    ['- name: canary\n- name: canary', 'ring canary is listed twice'],
    ['- name: canary\n  answers: {urll: a}', 'unknown setting "urll"'],
    ['- [', 'rings.yaml'],
  ])('rings.yaml with %j is rejected', (text, message) => {
    expect(() => parseRings(text, 'rings.yaml')).toThrow(message);
  });

  test('a ring lists only clusters with a file, each in one ring', async () => {
    const {run} = directory({
      'answers.yaml': 'url: https://acme.scalr.io\nchart: agent-local\n',
      'clusters/eu-1.yaml': '{}',
      'clusters/rings.yaml':
        '- {name: canary, clusters: [eu1, eu-1]}\n- {name: early, clusters: [eu-1, zz-9]}\n',
    });
    const overlay = ['--answers', 'answers.yaml', '--overlay', 'clusters'];
    for (const argv of [
      ['export', 'flux', ...overlay, '--out', 'fleet'],
      ['validate', ...overlay],
      ['recommend', ...overlay],
    ]) {
      const {exit, stderr} = await run(...argv);
      expect(exit, argv[0]).toBe(2);
      expect(stderr).toContain('ring canary lists eu1, but this cluster has no file.');
      expect(stderr).toContain('Did you mean eu-1 instead of eu1?');
      expect(stderr).toContain('eu-1 is in the rings canary and early.');
      expect(stderr).toContain('Write clusters/zz-9.yaml, or remove zz-9 from the ring');
    }
  });

  test('a percentage is stable and close to its share', () => {
    const rings = parseRings(
      '- name: canary\n  clusters: [c-7]\n- name: early\n  percent: 10',
      'rings.yaml',
    );
    expect(rings.map(({name}) => name)).toEqual(['canary', 'early', 'all']);
    const found = Array.from({length: 1000}, (_, index) => ringOf(`c-${index}`, rings).name);
    expect(found[7]).toBe('canary');
    expect(found.filter((name) => name === 'early').length).toBeGreaterThan(70);
    expect(found.filter((name) => name === 'early').length).toBeLessThan(130);
  });

  test('base and override have the effect of the values', () => {
    const leaf = fc.oneof(
      fc.integer(),
      fc.string(),
      fc.boolean(),
      fc.array(fc.integer(), {maxLength: 2}),
    );
    // As in charts, a key is a map in all values or in none.
    const {tree} = fc.letrec<{tree: Values}>((tie) => {
      const keys = {a: leaf, b: leaf, map: fc.oneof({maxDepth: 3}, fc.constant({}), tie('tree'))};
      return {tree: fc.record(keys, {requiredKeys: []}) as fc.Arbitrary<Values>};
    });
    fc.assert(
      fc.property(tree, tree, tree, (defaults, base, desired) => {
        const override = overrideOf(base, desired, defaults);
        expect(prune(mergeValues(mergeValues(defaults, base), override))).toEqual(
          prune(mergeValues(defaults, desired)),
        );
      }),
    );
  });
});

/** Maps without entries have no effect in the charts. */
function prune(values: Values): Values {
  const entries = Object.entries(values).map(
    ([key, below]) => [key, isMap(below) ? prune(below) : below] as const,
  );
  return Object.fromEntries(
    entries.filter(([, below]) => !isMap(below) || Object.keys(below).length > 0),
  );
}
