import {readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {type Flag, readLine, withTopics} from '../../../src/cli/completion/line.ts';
import {
  type Ask,
  type CompletionProgram,
  liveValues,
  type Offer,
  offerFor,
} from '../../../src/cli/completion/replies.ts';
import {argumentsOf} from '../../../src/ground/call-arguments.ts';
import {catalog} from '../../../src/settings/catalog.ts';
import {commands as classes} from '../../docs/commands.ts';
import {built} from '../../package/built.ts';

const {commands} = JSON.parse(readFileSync(built('oclif.manifest.json'), 'utf8')) as Pick<
  CompletionProgram,
  'commands'
>;
const flagsOf = (id: string): Flag[] => {
  const {baseFlags, flags} =
    classes.find(({path}) => path.replaceAll('/', ':') === id)?.command ?? {};
  return Object.entries({...baseFlags, ...flags} as Record<string, Flag>).map(([name, flag]) => ({
    ...flag,
    name,
  }));
};
const nobody: Ask = async () => {
  throw new Error('nobody expected helm or kubectl');
};

/** What can stand at the end of these words. */
async function offered(
  words: readonly string[],
  {ask = nobody, env = {}}: {ask?: Ask; env?: Record<string, string>} = {},
): Promise<Offer> {
  const program: CompletionProgram = {
    commands,
    flagsOf,
    live: (flag, line) => liveValues(ask, env)[flag](line),
  };
  return offerFor(readLine(withTopics(words, Object.keys(commands)), program.flagsOf), program);
}

async function values(words: readonly string[], deps = {}): Promise<readonly string[]> {
  const offer = await offered(words, deps);
  return typeof offer === 'string' ? [offer] : offer.map(({value}) => value);
}

describe('the first word', () => {
  test('is a command, with what it does', async () => {
    const names = [...new Set(Object.keys(commands).map((id) => id.replace(/:.*/, '')))];
    expect(await values([''])).toEqual([...names, 'help']);
    expect(await values(['help', ''])).toEqual(names);
    expect(await offered(['val'])).toContainEqual({
      value: 'values',
      description: commands['values']?.summary,
    });
  });

  test('or help and version', async () => {
    expect(await values(['-'])).toEqual(['--help', '--version']);
  });

  test('can be a topic, whose commands come next', async () => {
    expect(await offered([''])).toContainEqual({
      value: 'pool',
      description: expect.stringContaining('create'),
    });
    expect(await values(['pool', ''])).toEqual([
      'create',
      'delete',
      'link',
      'list',
      'show',
      'unlink',
      'token',
    ]);
    expect(await values(['pool', 'token', ''])).toEqual(['create', 'list', 'revoke']);
    expect(await values(['pool', 'token', 'create', 'eks-prod', '--'])).toContain('--token-name');
    expect(await values(['pool', 'create', '--'])).toContain('--shared');
    expect(await values(['pool', 'frobnicate', ''])).toEqual([]);
  });

  test('offers nothing after an unknown command', async () => {
    expect(await values(['valeus', ''])).toEqual([]);
    expect(await values(['valeus', '--'])).toEqual([]);
  });
});

describe('a flag', () => {
  test('is one of the command, with its summary', async () => {
    expect(await offered(['uninstall', '--'])).toContainEqual({
      value: '--purge',
      description: flagsOf('uninstall').find(({name}) => name === 'purge')?.summary,
    });
    expect(await values(['uninstall', '--'])).not.toContain('--cache');
    expect(await values(['install', '--'])).toEqual(
      expect.arrayContaining(['--cache', '--help', '--json']),
    );
  });

  test('is not offered twice unless repeatable', async () => {
    const left = await values([
      'install',
      '--cache',
      'pvc',
      '-n',
      'a',
      '--no-debug',
      '-yq',
      '--node-selector',
      'a=b',
      '--',
    ]);
    for (const name of ['--cache', '--namespace', '--debug', '--no-debug', '--yes', '--quiet'])
      expect(left).not.toContain(name);
    expect(left).toContain('--node-selector');
  });

  test('has a --no- form when boolean', async () => {
    expect(await values(['install', '--'])).toEqual(
      expect.arrayContaining(['--debug', '--no-debug', '--no-input', '--no-proxy']),
    );
    expect(await values(['install', '--'])).not.toContain('--no-no-input');
  });

  test('has a short form where a single hyphen stands', async () => {
    expect(await values(['install', '-'])).toContain('-n');
    expect(await values(['install', '--'])).not.toContain('-n');
  });

  test('is what a command without arguments takes', async () => {
    expect(await values(['status', ''])).toContain('--values');
  });

  test('is not offered after --', async () => {
    expect(await values(['validate', '--', '-'])).toEqual(['files']);
    expect(await values(['status', '--', ''])).toEqual([]);
  });
});

describe('a value', () => {
  test.each(
    catalog.filter(({kind, onlyEnv}) => kind.options && !onlyEnv),
  )('of --$id is one of its choices', async ({id, kind}) => {
    expect(await values(['preflight', `--${id}`, ''])).toEqual(kind.options);
  });

  test.each(
    catalog.filter(({kind, onlyEnv}) => kind.isFile && !onlyEnv),
  )('of --$id is a file', async ({id}) => {
    expect(await values(['install', `--${id}`, ''])).toEqual(['files']);
  });

  test.each([
    [['validate', ''], ['files']],
    [['pool', 'show', ''], []],
    [['validate', '-f', 'a.yaml', ''], ['files']],
    [['status', '-f', ''], ['files']],
    [['values', '-o', ''], ['files']],
    [['install', '--kubectl', ''], ['files']],
    [['install', '--save', ''], ['directories']],
    [['install', '--cache-path', ''], []],
    [['install', '--token-secret', ''], []],
    [['install', '--url', ''], []],
    [['install', '--url', '--cache'], []],
    [
      ['validate', '--format', ''],
      ['text', 'json', 'sarif', 'junit', 'github'],
    ],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish', 'powershell'],
    ],
    [
      ['uninstall', '--purge', ''],
      ['claims', 'crds', 'secrets', 'namespace', 'node-data', 'leftovers', 'all'],
    ],
    [
      ['uninstall', '--purge', 'crds,claims,'],
      ['secrets', 'namespace', 'node-data', 'leftovers', 'all'],
    ],
    [
      ['uninstall', '--purge', 'crds', '--purge=claims,'],
      ['secrets', 'namespace', 'node-data', 'leftovers', 'all'],
    ],
  ])('after %j is %j', async (words, expected) => {
    expect(await values(words)).toEqual(expected);
  });

  test.each([
    [['install', '--cache=p'], '--cache=', 'p'],
    [['validate', '-fa'], '-f', 'a'],
    [['values', '-o=a'], '-o=', 'a'],
    [['uninstall', '--purge=crds,cl'], '--purge=crds,', 'cl'],
    [['install', '--set', 'a=b'], '', 'a=b'],
    [['install', '--debug=a'], '', '--debug=a'],
  ])('in %j begins behind %j', (words, prefix, typed) => {
    expect(readLine(words, flagsOf)).toMatchObject({prefix, typed});
  });
});

describe('a chart version', () => {
  test('is one of the chart on the line, the newest first', async () => {
    const versions = await values(['values', '--chart', 'agent-job', '--chart-version', '']);
    expect(versions.slice(0, 2)).toEqual(['0.6.5', '0.6.4']);
    expect(versions.at(-1)).toBe('0.5.59');
  });

  test('is one of the chart in the environment', async () => {
    const env = {SCALR_AGENT_INSTALL_CHART: 'agent-k8s'};
    expect((await values(['values', '--chart-version', ''], {env})).at(-1)).toBe('0.5.58');
  });

  test('is described by its charts without --chart', async () => {
    expect(await offered(['values', '--chart-version='])).toContainEqual({
      value: '0.5.58',
      description: 'agent-k8s',
    });
  });

  test.each(['--from', '--to'])('of %s is a chart with a version, newest first', async (flag) => {
    const found = await values(['migrate', 'values.yaml', flag, '']);
    expect(found).toContain('agent-k8s@0.5.58');
    expect(found.indexOf('agent-job@0.6.5')).toBeLessThan(found.indexOf('agent-job@0.6.4'));
  });
});

describe('values from the cluster', () => {
  /** A tool that answers, and what it was asked. */
  function answering(text: string | undefined) {
    const asked: string[] = [];
    const ask: Ask = async (call, path) => {
      const {tool} = call;
      const args = argumentsOf(call);
      asked.push([path ?? tool, ...args].join(' '));
      return text;
    };
    return {ask, asked};
  }

  test('namespaces, of the cluster that the line names', async () => {
    const {ask, asked} = answering('namespace/default\nnamespace/scalr-agent\n');
    const line = [
      'status',
      '--kube-context',
      'prod',
      '--kubeconfig=/k',
      '--kubectl',
      '/opt/kubectl',
      '-n',
      '',
    ];
    expect(await values(line, {ask})).toEqual(['default', 'scalr-agent']);
    expect(asked).toEqual([
      '/opt/kubectl get namespaces --output name --request-timeout=1s --namespace scalr-agent --context prod --kubeconfig /k',
    ]);
  });

  test('contexts, of the kubeconfig that the line names', async () => {
    const {ask, asked} = answering(
      JSON.stringify({contexts: [{name: 'prod', context: {cluster: 'gke_prod'}}, {name: 'bare'}]}),
    );
    expect(await offered(['status', '--kubeconfig', '/k', '--kube-context='], {ask})).toEqual([
      {value: 'prod', description: 'Cluster gke_prod'},
      {value: 'bare', description: ''},
    ]);
    expect(asked).toEqual([
      'kubectl config view --output json --namespace scalr-agent --kubeconfig /k',
    ]);
    expect(await values(['status', '--contexts', ''], {ask})).toEqual(['prod', 'bare']);
  });

  test.each([
    [['status', '--helm=/opt/helm', '-nteam', '--release', ''], {}, '/opt/helm', 'team'],
    [['status', '--release='], {SCALR_AGENT_INSTALL_NAMESPACE: 'other'}, 'helm', 'other'],
  ])('releases of the namespace: %j', async (line, env, tool, namespace) => {
    const {ask, asked} = answering(
      JSON.stringify([{name: 'one', chart: 'agent-job-0.6.5', status: 'deployed'}]),
    );
    expect(await offered(line, {ask, env})).toEqual([
      {value: 'one', description: 'agent-job-0.6.5, deployed'},
    ]);
    expect(asked).toEqual([
      expect.stringMatching(new RegExp(`^${tool} list .*--output json --namespace ${namespace}$`)),
    ]);
  });

  test.each([
    undefined,
    '',
    'not JSON',
    'null',
  ])('offers nothing when a tool returns %j', async (text) => {
    const {ask} = answering(text);
    expect(await values(['status', '--release', ''], {ask})).toEqual([]);
    expect(await values(['status', '--kube-context', ''], {ask})).toEqual([]);
  });
});
