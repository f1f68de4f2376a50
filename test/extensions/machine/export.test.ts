import {existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {execa} from 'execa';
import {describe, expect, onTestFinished, test} from 'vitest';
import {parse} from 'yaml';
import {resolveAnswers} from '../../../src/answers/resolve.ts';
import {fromFlags} from '../../../src/answers/sources.ts';
import {HOST_TARGETS, HOSTS, hostTree, readHostTree} from '../../../src/charts/host/host.ts';
import {refusalOf} from '../../../src/charts/shared/support.ts';
import ExportCommand from '../../../src/commands/export.ts';
import {exportHost} from '../../../src/extensions/machine/export.ts';
import {envFile} from '../../../src/extensions/machine/files.ts';
import {catalog} from '../../../src/settings/catalog.ts';
import {allowClearText} from '../../../src/settings/chart-values.ts';
import {type Setting, spell} from '../../../src/settings/define.ts';
import {missingFor} from '../../../src/settings/purpose.ts';
import {release, target as targetSetting} from '../../../src/settings/release.ts';
import {certificates} from '../../support/certificates.ts';
import {memoryFiles} from '../../support/memory-files.ts';
import {violations} from '../../support/output-schema.ts';
import {runCommand} from '../../support/run-command.ts';
import {type RawFlags, settingsFrom, TODAY} from '../../support/settings-from.ts';
import {CASES} from './cases.ts';

const GOLDEN = join(import.meta.dirname, 'golden');
const URL_FLAG = ['--url', 'https://acme.scalr.io'];
const TOKEN = 'e30.e30.c2ln';

/** Flags as the parser of the command line passes them. */
const parsed = (flags: RawFlags): RawFlags =>
  Object.fromEntries(
    Object.entries(flags).map(([name, value]) =>
      name.startsWith('no-') && value === true ? [name.slice(3), false] : [name, value],
    ),
  );

describe.each(CASES)('$name', ({name, target, flags, token}) => {
  const settled = async () => {
    const sources = [
      fromFlags(parsed(flags)),
      ...(token
        ? [
            {
              name: 'environment' as const,
              answer: ({id}: {id: string}) => (id === 'token' ? token : undefined),
            },
          ]
        : []),
    ];
    return resolveAnswers(sources, {files: memoryFiles(certificates), now: TODAY});
  };
  const exported = async () => exportHost(await settled(), target);

  test('can be read back into settings', async () => {
    const settings = await settled();
    const read = readHostTree(hostTree(settings, target).tree, target);
    const written = settings
      .entries()
      .filter(
        ({setting, answer}) =>
          HOSTS[target].rows.some((row) => row.setting === setting && row.paths.length > 0) &&
          settings.isExplicit(setting) &&
          answer.value !== undefined,
      );
    expect(
      Object.fromEntries(written.map(({setting}) => [setting.id, read.get(setting.id)])),
    ).toEqual(Object.fromEntries(written.map(({setting, answer}) => [setting.id, answer.value])));
  });

  test('writes the golden files', async () => {
    const {files, steps, notes, warnings} = await exported();
    // Git would read a golden .gitignore; certificates are those of the answers.
    for (const {path, text} of files.filter((file) => !/\.(pem|crt|key)$/.test(file.path)))
      await expect(text).toMatchFileSnapshot(
        join(GOLDEN, name, path.replace('.gitignore', 'gitignore.txt')),
      );
    const talk = [
      ...warnings.map(({message}) => `Warning: ${message}`),
      ...notes,
      ...steps.map((step) => `$ ${step}`),
    ];
    await expect(`${talk.join('\n')}\n`).toMatchFileSnapshot(join(GOLDEN, name, 'talk.txt'));
  });

  test('keeps secrets in private files that .gitignore names', async () => {
    const {files, steps} = await exported();
    const publicText = [
      ...files.filter(({isPrivate}) => !isPrivate).map(({text}) => text),
      ...steps,
    ].join('\n');
    for (const secret of [TOKEN, 'p%24s', 'p%25@', 'p%%25@', 'quoted', 'PRIVATE KEY'])
      expect(publicText).not.toContain(secret);
    const ignored = files
      .find(({path}) => path === '.gitignore')
      ?.text.trim()
      .split('\n');
    expect(ignored).toEqual(files.filter(({isPrivate}) => isPrivate).map(({path}) => `/${path}`));
  });

  test('has scripts that a shell accepts', async () => {
    for (const {path, text} of (await exported()).files.filter((file) => file.path.endsWith('.sh')))
      expect(await execa('sh', ['-n'], {input: text, reject: false}), path).toMatchObject({
        exitCode: 0,
      });
  });
});

test.each([
  'docker',
  'compose',
] as const)('the commands of %s restart Docker only for a changed drop-in', async (target) => {
  const flags = {url: 'https://acme.scalr.io', 'https-proxy': 'http://proxy.example.com:3128'};
  const settings = await resolveAnswers([fromFlags(flags)], {files: memoryFiles({}), now: TODAY});
  const {files, steps} = exportHost(settings, target);
  const folder = mkdtempSync(join(tmpdir(), 'scalr-drop-in-'));
  onTestFinished(() => rmSync(folder, {recursive: true}));
  const {path = '', text = ''} = files.find((file) => file.path.endsWith('.conf')) ?? {};
  mkdirSync(join(folder, dirname(path)), {recursive: true});
  writeFileSync(join(folder, path), text);
  for (const [name, script] of [
    ['sudo', 'exec "$@"'],
    ['systemctl', 'echo "systemctl $*"'],
  ] as const)
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, {mode: 0o755});
  const command = (steps[0] ?? '').replaceAll('/etc/', `${folder}/etc/`);
  const run = async () =>
    (
      await execa('sh', ['-c', command], {
        cwd: folder,
        env: {PATH: `${folder}:${process.env['PATH']}`},
      })
    ).stdout;
  const restart = 'systemctl daemon-reload\nsystemctl restart docker';
  expect(await run()).toBe(restart);
  expect(await run()).toBe('');
  writeFileSync(join(folder, path), `${text}# changed\n`);
  expect(await run()).toBe(restart);
});

describe.each(HOST_TARGETS)('settings on %s', (target) => {
  const hasReason = (setting: Setting): boolean =>
    refusalOf(HOSTS[target], setting, undefined) !== undefined;

  test('are all supported in some way, or refused with a reason', () => {
    const supported = new Set(HOSTS[target].rows.map(({setting}) => setting));
    const silent = catalog.filter(
      (setting) =>
        ![release.id, targetSetting.id, allowClearText.id].includes(setting.id) &&
        !supported.has(setting) &&
        !hasReason(setting),
    );
    expect(silent.map((each) => spell(each))).toEqual([]);
  });

  test('have a reason for every condition of a row', async () => {
    for (const flags of [{purpose: 'vcs'}, {isolation: 'shared'}, {}] as RawFlags[]) {
      if (target === 'systemd' && flags['isolation']) continue;
      const {get} = await settingsFrom({url: 'https://acme.scalr.io', ...flags});
      const rows = HOSTS[target].rows;
      const silent = rows.filter(
        ({setting, when}) =>
          when?.(get) === false &&
          missingFor(setting, get) === undefined &&
          !rows.some((other) => other.setting === setting && (other.when?.(get) ?? true)) &&
          !hasReason(setting),
      );
      expect(silent.map(({setting}) => spell(setting))).toEqual([]);
    }
  });
});

describe('refusals', () => {
  test.each([
    ['docker', ['--chart', 'agent-job'], 'Helm charts'],
    ['docker', ['--chart-version', '0.6.5'], '--agent-image'],
    ['docker', ['--token-secret', 'mine'], 'agent.env'],
    ['compose', ['--metadata-service', 'block'], 'DOCKER-USER'],
    ['compose', ['--cache', 'pvc'], '--cache hostpath'],
    ['docker', ['--no-writable-root'], 'Docker socket'],
    ['docker', ['--isolation', 'shared', '--runner-image', 'a:1'], '--agent-image'],
    ['docker', ['--grace-period', '30'], '60 s'],
    ['systemd', ['--concurrency', '6'], 'at most 5'],
    ['systemd', ['--agent-image', 'a:1'], 'package'],
    ['systemd', ['--isolation', 'shared'], 'container for each run'],
    ['docker', ['--set', 'a=b'], 'Helm charts'],
  ])('%s refuses %j with the reason', async (target, argv, reason) => {
    const {stderr, exit} = await runCommand(ExportCommand, [target, ...URL_FLAG, ...argv]);
    expect(exit).toBe(2);
    expect(stderr).toContain(
      `${target} does not support ${argv.at(-2)?.startsWith('--') ? argv.at(-2) : argv.at(-1)}`,
    );
    expect(stderr).toContain(reason);
  });

  test('a variable that has its own flag', async () => {
    const {stderr, exit} = await runCommand(ExportCommand, [
      'docker',
      ...URL_FLAG,
      '--extra-env',
      'SCALR_AGENT_DRIVER=local',
    ]);
    expect(exit).toBe(2);
    expect(stderr).toContain('Use --isolation');
  });

  test('a variable with a line break', async () => {
    const files = memoryFiles({
      'answers.yaml': 'url: https://acme.scalr.io\nextra-env:\n  GREETING: "a\\nb"\n',
    });
    const {stderr, exit} = await runCommand(
      ExportCommand,
      ['docker', '--answers', 'answers.yaml'],
      {files},
    );
    expect(exit).toBe(2);
    expect(stderr).toContain('GREETING contains a line break');
  });
});

describe('the command', () => {
  test('lists the files with --json', async () => {
    const files = memoryFiles();
    const {stdout, exit} = await runCommand(
      ExportCommand,
      ['compose', ...URL_FLAG, '--out', 'agent', '--json'],
      {files},
    );
    expect(exit).toBe(0);
    expect(violations('export', stdout)).toEqual([]);
    expect(JSON.parse(stdout).files.map(({path}: {path: string}) => path)).toEqual([
      'agent/compose.yaml',
      'agent/agent.env',
      'agent/.gitignore',
    ]);
    expect(files.written.filter(({isPrivate}) => isPrivate).map(({path}) => path)).toEqual([
      'agent/agent.env',
    ]);
  });

  test('keeps the token of an earlier export', async () => {
    const files = memoryFiles({'agent.env': `SCALR_AGENT_TOKEN=${TOKEN}\n`});
    const {stderr} = await runCommand(ExportCommand, ['docker', ...URL_FLAG, '--yes'], {files});
    expect(stderr).not.toContain('no token');
    expect(files.written.find(({path}) => path === 'agent.env')?.text).toContain(
      `SCALR_AGENT_TOKEN=${TOKEN}\n`,
    );
  });

  test('does not replace files without --yes, and writes nothing with --dry-run', async () => {
    const files = memoryFiles({'compose.yaml': 'services: {}\n'});
    expect(await runCommand(ExportCommand, ['compose', ...URL_FLAG], {files})).toMatchObject({
      exit: 2,
    });
    const {stderr} = await runCommand(ExportCommand, ['compose', ...URL_FLAG, '--dry-run'], {
      files,
    });
    expect(stderr).toContain('Would replace compose.yaml');
    expect(files.written).toEqual([]);
    const confirm = async () => false;
    const canceled = await runCommand(ExportCommand, ['compose', ...URL_FLAG], {
      files,
      hasTerminal: true,
      prompter: {confirm},
    });
    expect(canceled.stderr).toContain('Canceled');
    const questions: string[] = [];
    const agreed = await runCommand(ExportCommand, ['compose', ...URL_FLAG], {
      files,
      hasTerminal: true,
      prompter: {
        confirm: async (question) => {
          questions.push(String(question));
          return true;
        },
      },
    });
    expect(agreed).toMatchObject({exit: 0});
    expect(questions).toEqual([
      'compose.yaml already exists. Not generated by this program: compose.yaml. Replace it?',
    ]);
    expect(files.written.map(({path}) => path)).toContain('compose.yaml');
  });

  test('replaces files of an earlier export with --yes, and the certificates beside them', async () => {
    const files = memoryFiles({'given.pem': String(certificates['ca.pem'])});
    const argv = ['compose', ...URL_FLAG, '--ca-file', 'given.pem'];
    expect(await runCommand(ExportCommand, argv, {files})).toMatchObject({exit: 0});
    await files.write('ca.pem', 'old', {isPrivate: false});
    const again = await runCommand(ExportCommand, [...argv, '--concurrency', '2', '--yes'], {
      files,
    });
    expect(again).toMatchObject({exit: 0});
    const rewritten = files.written.slice(-4).map(({path}) => path);
    expect(rewritten).toEqual(expect.arrayContaining(['compose.yaml', 'ca.pem']));
  });

  test.each([
    ['compose', 'compose.yaml', 'services: {mine: {image: db}}\n'],
    ['systemd', 'install.sh', '#!/bin/sh\n'],
    ['docker', 'run.sh', '#!/bin/sh\n# mine\n'],
    ['terraform', 'README.md', '# My repository\n'],
    ['helmfile', 'clusters/default.yaml', '# Answers file for scalr-agent\nurl: a\n'],
  ])('%s does not replace a file %s that it did not write, even with --yes', async (target, name, text) => {
    const files = memoryFiles({[name]: text});
    const argv = [target, ...URL_FLAG, '--yes'];
    for (const more of [[], ['--dry-run']]) {
      const {exit, stderr} = await runCommand(ExportCommand, [...argv, ...more], {files});
      expect({exit, stderr}).toEqual({
        exit: 2,
        stderr: expect.stringContaining(
          `${name} already exists and was not generated by this program.`,
        ),
      });
    }
    expect(files.written).toEqual([]);
  });

  test('needs a target, and accepts --package only for a Dockerfile', async () => {
    expect((await runCommand(ExportCommand, URL_FLAG)).stderr).toContain(
      'Use docker, compose, systemd, dockerfile, argocd, argocd-appset, flux, terraform or helmfile\n',
    );
    expect(
      (await runCommand(ExportCommand, ['docker', ...URL_FLAG, '--package', 'jq'])).stderr,
    ).toContain('only for the target dockerfile');
    expect((await runCommand(ExportCommand, ['dockerfile', '--package', 'jq; rm'])).exit).toBe(2);
  });

  test('warns of old variables as values does, and refuses the token', async () => {
    const env = (text: string) =>
      runCommand(ExportCommand, ['docker', ...URL_FLAG, '--dry-run', '--extra-env', text]);
    expect((await env('SCALR_DATA_HOME=/x')).stderr).toContain(
      'SCALR_DATA_HOME is the old name of SCALR_AGENT_DATA_DIR. Use --data-home.',
    );
    expect((await env('SCALR_DEBUG=1')).stderr).toContain('Use --debug.');
    expect(await env('SCALR_TOKEN=x')).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('Use --token-file') as string,
    });
  });

  test('warns if the agent cannot read its key', async () => {
    const argv = [
      'docker',
      ...URL_FLAG,
      '--isolation',
      'shared',
      '--client-cert-file',
      'client.pem',
      '--client-key-file',
      'client.key',
    ];
    const files = memoryFiles(certificates);
    expect((await runCommand(ExportCommand, [...argv, '--dry-run'], {files})).stderr).not.toContain(
      'chown',
    );
    expect(
      (await runCommand(ExportCommand, [...argv, '--dry-run', '--no-writable-root'], {files}))
        .stderr,
    ).toContain('sudo chown 1000 client.key');
  });

  test('says that the Linux packages are deprecated', async () => {
    const {stderr} = await runCommand(ExportCommand, ['systemd', ...URL_FLAG]);
    expect(stderr).toContain('deprecated since 2026-03-31');
    expect(stderr).toContain('scalr-agent-install export compose');
  });
});

test('quotes variables as their reader expects', () => {
  const value = `it's "$5" \\ #1`;
  expect(envFile({A: value}, 'docker', [])).toBe(`A=${value}\n`);
  expect(envFile({A: value}, 'compose', [])).toBe(`A="it's \\"\\$5\\" \\\\ #1"\n`);
  expect(envFile({A: value}, 'systemd', [])).toBe(`A="it's \\"\\$5\\" \\\\ #1"\n`);
});

test('writes a Compose file that keeps dollar signs', async () => {
  const {files} = exportHost(
    await settingsFrom({url: 'https://acme.scalr.io', 'extra-env': ['GREETING=$5 and $$6']}),
    'compose',
  );
  const {services} = parse(files[0]?.text ?? '');
  expect(services['scalr-agent'].environment.GREETING).toBe('$$5 and $$$$6');
});

describe('dockerfile', () => {
  const printed = async (...argv: string[]) =>
    runCommand(ExportCommand, ['dockerfile', ...argv], {files: memoryFiles(certificates)});

  test.each([
    ['agent-job', '0.6.5', 'scalr/runner:0.2.0'],
    ['agent-job', '0.5.63', 'scalr/agent-runner:0.56.0'],
    ['agent-local', '0.6.5', 'scalr/agent:1.4.0'],
    ['agent-k8s', '0.6.5', 'scalr/runner:0.2.0'],
  ])('starts from the image of %s %s', async (chart, version, base) => {
    const {stdout, exit} = await printed('--chart', chart, '--chart-version', version);
    expect(exit).toBe(0);
    expect(stdout).toContain(`\nFROM ${base}\n`);
  });

  test('extends the image of a tool under its own name, on the machine of the agent', async () => {
    const {stdout, stderr, exit} = await printed(
      '--runner-image',
      'scalr/terraform:1.0.0',
      '--package',
      'jq',
    );
    expect(exit).toBe(0);
    expect(stdout).toContain('\nFROM scalr/terraform:1.0.0\n');
    expect(stdout).not.toContain('USER 1000');
    expect(stderr).toContain('docker build --tag scalr/terraform:1.0.0 .');
    expect(stderr).toContain('/opt/scalr-agent/embedded/bin/docker');
    expect(stderr).not.toMatch(/docker push|scalr-agent install/);
    expect((await printed('--base', 'terraform')).stderr).toContain(
      'Add --runner-image scalr/terraform:1.5.7',
    );
    const local = await printed('--base', 'runner', '--chart', 'agent-local');
    expect(local.stderr).toMatch(/agent-local has no runner image[\s\S]*Use --base agent/);
    expect(local.stderr).not.toContain('--chart-version');
  });

  test('extends the agent image for agent-k8s, whose CA must be named by its path', async () => {
    const {stdout, stderr} = await runCommand(
      ExportCommand,
      [
        'dockerfile',
        '--base',
        'agent',
        '--chart',
        'agent-k8s',
        '--chart-version',
        '0.5.58',
        '--ca-file',
        'ca.pem',
      ],
      {files: memoryFiles(certificates)},
    );
    expect(stdout + stderr).toContain('--set agent.ca_cert=/etc/ssl/certs/ca-certificates.crt');
    expect(stderr).not.toContain('--ca-file');
    expect(stderr).toContain(
      'add these flags to scalr-agent install --target docker: --agent-image',
    );
    expect((await printed('--base', 'agent', '--chart', 'agent-k8s')).stdout).not.toContain(
      'USER 1000',
    );
  });

  test('adds CAs, packages and plugins', async () => {
    const files = memoryFiles(certificates);
    const argv = [
      '--chart',
      'agent-local',
      '--ca-file',
      'ca.pem',
      '--no-ca-public-roots',
      '--package',
      'jq',
      '--package',
      'awscli',
      '--plugins',
      'plugins',
    ];
    const {stderr, exit} = await runCommand(
      ExportCommand,
      ['dockerfile', ...argv, '--agent-image', 'registry.example.com/team/agent'],
      {
        files,
      },
    );
    expect({stderr, exit}).toMatchObject({exit: 0});
    expect(files.written.map(({path}) => path)).toEqual(['Dockerfile', 'ca-1.crt']);
    expect(files.written[0]?.text).toMatchSnapshot();
    expect(stderr).toContain('docker build --tag registry.example.com/team/agent:1.4.0 .');
  });

  test('the command for an image for Docker has the same additions', async () => {
    const files = memoryFiles(certificates);
    const argv = [
      '--base',
      'agent',
      '--chart',
      'agent-local',
      '--ca-file',
      'ca.pem',
      '--package',
      'jq',
    ];
    const {stderr} = await runCommand(ExportCommand, ['dockerfile', ...argv], {files});
    expect(stderr).toContain(
      'scalr-agent export dockerfile --base agent --chart agent-k8s --ca-file ca.pem --package jq\n',
    );
  });

  test('pulls its base from the mirror', async () => {
    const {stdout, stderr} = await printed(
      '--chart',
      'agent-job',
      '--image-registry',
      'registry.example.com/mirror',
      '--runner-image',
      'team/runner:1',
    );
    expect(stdout).toContain('\nFROM registry.example.com/mirror/scalr/runner:0.2.0\n');
    expect(stderr).toContain('docker push registry.example.com/mirror/team/runner:1\n');
  });

  test('is refused for versions with one image per tool', async () => {
    expect(await printed('--chart', 'agent-k8s', '--chart-version', '0.5.60')).toMatchObject({
      exit: 2,
    });
  });
});

test('calls no program in install.sh that may be this one', async () => {
  const flags = {url: 'https://acme.scalr.io', 'writable-root': true};
  const {files} = exportHost(await settingsFrom(flags), 'systemd');
  const script = files.find(({path}) => path === 'install.sh')?.text ?? '';
  const programs = [...script.matchAll(/^([\w-]+)(?= )/gm)].map(([word]) => word);
  expect(new Set(programs)).toEqual(new Set(['set', 'cd', 'install', 'systemctl']));
  expect(files.find(({path}) => path.endsWith('scalr-agent.conf'))?.text).toContain('User=root\n');
});

test.each([
  ['docker', 'docker'],
  ['systemd', 'install'],
] as const)('the script of %s keeps the agent that runs until agent.env contains a token', async (target, program) => {
  const {files} = exportHost(await settingsFrom({url: 'https://acme.scalr.io'}), target);
  const folder = mkdtempSync(join(tmpdir(), 'scalr-token-'));
  onTestFinished(() => rmSync(folder, {recursive: true}));
  for (const {path, text} of files.filter((file) => !file.path.includes('/')))
    writeFileSync(join(folder, path), text);
  const log = join(folder, 'log');
  writeFileSync(join(folder, program), `#!/bin/sh\necho "$@" >> '${log}'\nexit 1\n`, {
    mode: 0o755,
  });
  const script = files.find(({isExecutable}) => isExecutable)?.path as string;
  const started = () =>
    execa('sh', [script], {
      cwd: folder,
      env: {PATH: `${folder}:${process.env['PATH']}`},
      reject: false,
    });
  expect(await started()).toMatchObject({
    exitCode: 1,
    stderr: 'agent.env contains no token. Set SCALR_AGENT_TOKEN in it, and run this script again.',
  });
  expect(existsSync(log)).toBe(false);
  writeFileSync(join(folder, 'agent.env'), `SCALR_AGENT_TOKEN=${TOKEN}\n`);
  await started();
  expect(existsSync(log)).toBe(true);
});

test.each([
  'docker',
  'compose',
] as const)('the command in the files of %s writes the same files with a newer program', async (target) => {
  const written = async (flags: RawFlags) =>
    exportHost(await settingsFrom({url: 'https://acme.scalr.io', ...flags}), target).files;
  for (const flags of [{}, {'image-registry': 'registry.example.com/mirror'}] as RawFlags[]) {
    const files = await written(flags);
    const [, image] = /--agent-image (\S+) /.exec(files[0]?.text ?? '') ?? [];
    expect(image).toMatch(/^scalr\/agent:[\d.]+$/);
    expect(await written({...flags, 'agent-image': image as string})).toEqual(files);
  }
});

test('the command of a Compose file without a token requires one', async () => {
  const {steps} = exportHost(await settingsFrom({url: 'https://acme.scalr.io'}), 'compose');
  const [start = ''] = steps;
  expect(start).toMatch(/ && docker compose up --detach$/);
  const folder = mkdtempSync(join(tmpdir(), 'compose-'));
  onTestFinished(() => rmSync(folder, {recursive: true, force: true}));
  writeFileSync(join(folder, 'agent.env'), 'SCALR_AGENT_TOKEN=\n');
  expect(await execa('sh', ['-c', start], {cwd: folder, reject: false})).toMatchObject({
    exitCode: 1,
    stderr: 'agent.env contains no token. Set SCALR_AGENT_TOKEN in it.',
  });
});

test('keeps variables that the user has added to agent.env, and names them', async () => {
  const settings = await settingsFrom({url: 'https://acme.scalr.io', 'extra-env': ['MINE=1']});
  const environment =
    '# Secrets\nSCALR_AGENT_TOKEN=e30.e30.c2ln\nHTTPS_PROXY=http://old\nMY_PASSWORD=a b\nMINE=2\n';
  const {files, warnings} = exportHost(settings, 'docker', {earlier: {environment}});
  const text = files.find(({path}) => path === 'agent.env')?.text;
  expect(text).toContain('MY_PASSWORD=a b\n');
  expect(text).not.toMatch(/HTTPS_PROXY|MINE/);
  expect(warnings.map(({message}) => message).join()).toContain(
    'agent.env still contains MY_PASSWORD, which no setting uses.',
  );
});

test('names directories after another release, unless an earlier export has used the standard ones', async () => {
  const settings = await settingsFrom({url: 'https://acme.scalr.io', release: 'blue'});
  const scriptOf = (commands?: string) =>
    exportHost(settings, 'docker', commands === undefined ? {} : {earlier: {commands}}).files.find(
      ({path}) => path === 'run.sh',
    )?.text;
  const fresh = scriptOf();
  expect(fresh).toContain('/var/lib/scalr-agent-blue:/var/lib/scalr-agent-blue');
  expect(scriptOf(fresh)).toBe(fresh);
  expect(scriptOf('  --volume /var/lib/scalr-agent:/var/lib/scalr-agent \\')).toContain(
    '--volume /var/lib/scalr-agent:/var/lib/scalr-agent ',
  );
});
