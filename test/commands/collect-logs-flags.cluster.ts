import {chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {setTimeout as wait} from 'node:timers/promises';
import {beforeAll, describe, expect, test} from 'vitest';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {accountWith} from '../control-plane/accounts.ts';
import {until} from '../control-plane/api.ts';
import {appendLog, setLogs} from '../control-plane/logs.ts';
import {pod} from '../control-plane/objects.ts';
import {type Workplace, workplace} from '../control-plane/workplace.ts';
import {collected, freshFile} from '../support/collected.ts';
import {rolesIn} from '../support/commands-in.ts';
import {installed} from '../support/installed-charts.ts';
import {collectLogs} from '../support/run-on-cluster.ts';

const [{path: helm} = {path: 'helm'}] = await findHelm();

const labels = {'app.kubernetes.io/name': 'agent-local', 'app.kubernetes.io/instance': 'by-hand'};
const LINES = 20_000;
const A = 'logs/a/agent.log';

/** Two agents with two containers each; those called agent have much to say. */
async function talkative(): Promise<Workplace> {
  const place = await workplace();
  const containers = ['agent', 'sidecar'].map((name) => ({name, image: 'scalr/agent:1'}));
  await place.kubectl.apply(
    ...['a', 'b'].map((name) => ({...pod(name, {spec: {containers}}), metadata: {name, labels}})),
  );
  const current = Array.from({length: LINES}, (_, line) => `line ${line} of the log`);
  await setLogs(
    place.kubeconfig,
    {namespace: place.namespace},
    {agent: {current}, '*': {current: ['little']}},
  );
  await place.kubectl('wait', 'pod', '--all', '--for=condition=Ready', '--timeout=20s');
  await until('there is a log', async () =>
    Boolean(await place.kubectl('logs', 'a', '--container', 'agent', '--tail=1').catch(() => '')),
  );
  return place;
}

const place: Workplace = {} as Workplace;
beforeAll(async () => void Object.assign(place, await talkative()));

const directory = (): string => {
  const path = freshFile();
  mkdirSync(path);
  return path;
};

const logsIn = (names: readonly string[]): string[] =>
  names.filter((name) => name.startsWith('logs/'));

describe('a part of the data', () => {
  test('collects only logs of one container with --container', async () => {
    const {names, exit} = await collected(place, helm, ['--container', 'sidecar']);
    expect({exit, logs: logsIn(names)}).toEqual({
      exit: 0,
      logs: ['logs/a/sidecar.log', 'logs/b/sidecar.log'],
    });
    expect(names).toContain('objects/pod/a.json');
  });

  test('limits each log with --max-size: start and end, with a mark, and a note in the summary', async () => {
    const {text, exit, stderr, result} = await collected(place, helm, ['--max-size', '200Ki']);
    expect({exit, complete: result.complete}, stderr).toEqual({exit: 0, complete: true});
    expect(stderr).toContain(
      '2 logs were truncated in the middle (increase --max-size to keep more)',
    );
    expect(text('SUMMARY.md')).toMatch(
      /The bundle is complete\. To fit --max-size, 2 logs were cut in the middle\.\n/,
    );
    const log = text(A);
    expect(log).toMatch(/^\S+ line 0 of the log\n/);
    expect(log).toMatch(/line 19999 of the log\n$/);
    const [, lost = ''] = /\n\[… (\d+) bytes omitted: --max-size …\]\n/.exec(log) ?? [];
    expect(text('SUMMARY.md')).toContain(`- ${A} (LOG_CUT): ${lost} bytes cut from the middle`);
    const whole = await collected(place, helm);
    expect(log.replace(/^\[….*\]\n/m, '').length + Number(lost)).toBe(whole.text(A).length);
    expect(text('logs/a/sidecar.log')).toMatch(/ little\n$/);
    expect(Buffer.byteLength(log) + Buffer.byteLength(text('logs/b/agent.log'))).toBeLessThan(
      201 * 1024,
    );
  });

  test('excludes log lines before --since and --since-time', async () => {
    const own = await talkative();
    await wait(2500);
    const time = new Date().toISOString();
    await appendLog(own.kubeconfig, {namespace: own.namespace}, 'agent', 'a late word');
    const since = await collected(own, helm, ['--since-time', time]);
    expect(since.text(A)).toMatch(/^\S+ a late word\n$/);
    const window = await collected(own, helm, ['--since', '2s']);
    expect(window.text(A)).not.toContain('line 0 ');
    const all = await collected(own, helm, ['--since', '1h']);
    expect(all.text(A).split('\n')).toHaveLength(LINES + 2);
  });

  test('collects only one of several releases with --release, and rejects an unknown one', async () => {
    const own = {...labels, 'app.kubernetes.io/instance': 'one'};
    const other = {...labels, 'app.kubernetes.io/instance': 'two'};
    const two = await workplace();
    await two.kubectl.apply(
      {...pod('a'), metadata: {name: 'a', labels: own}},
      {...pod('b'), metadata: {name: 'b', labels: other}},
    );
    const {names} = await collected(two, helm, ['--release', 'two']);
    expect(names.filter((name) => name.startsWith('objects/pod/'))).toEqual(['objects/pod/b.json']);
    const {stdout, exit} = await collectLogs(two, helm, ['--json', '--release', 'three']);
    const {error} = JSON.parse(stdout);
    expect({exit, ...error}).toMatchObject({
      exit: 2,
      code: 'RELEASE_NOT_FOUND',
      message: expect.stringContaining('release three found'),
    });
  });

  test.each([
    [['--since', 'yesterday'], '--since: "yesterday" is not a duration'],
    [['--since-time', 'noon'], '--since-time noon'],
    [['--max-size', 'much'], '--max-size much'],
    [['--since', '1h', '--since-time', '2026-11-21T08:00:00Z'], 'since'],
  ])('rejects %j before anything is read', async (flags, word) => {
    const {stdout, exit} = await collectLogs(place, helm, ['--json', ...flags]);
    expect({exit, message: JSON.parse(stdout).error.message}).toEqual({
      exit: 2,
      message: expect.stringContaining(word),
    });
  });
});

test.each([
  [['--container', 'nope'], 'Container nope not found', 'Existing containers: agent, sidecar'],
  [
    ['--run', 'nope'],
    'Run nope not found',
    'No runs found: the pods of a run are deleted one minute after it ends',
  ],
])('rejects %j with the existing names', async (flags, message, advice) => {
  const {stdout, exit} = await collectLogs(place, helm, ['--json', ...flags]);
  const {error} = JSON.parse(stdout);
  expect({exit, ...error}).toMatchObject({
    exit: 2,
    code: 'INVALID_SETTING',
    message: expect.stringContaining(message),
  });
  expect(error.suggestions).toContain(advice);
});

describe('the output file', () => {
  test('lists every file and writes none with --dry-run', async () => {
    const at = directory();
    const {stdout, exit} = await collectLogs(place, helm, [
      '--dry-run',
      '--out',
      join(at, 'x.zip'),
    ]);
    expect({exit, files: readdirSync(at)}).toEqual({exit: 0, files: []});
    const {names} = await collected(place, helm);
    const told = [
      'SUMMARY.md',
      'TICKET.md',
      'errors.json',
      'findings.json',
      'manifest.json',
      'redactions.json',
      'report.html',
    ];
    expect(stdout.trim().split('\n').toSorted()).toEqual(
      names.filter((name) => !told.includes(name)).toSorted(),
    );
  });

  test('prints one JSON document with --dry-run --json', async () => {
    const {stdout, exit} = await collectLogs(place, helm, ['--dry-run', '--json']);
    expect({exit, result: JSON.parse(stdout)}).toMatchObject({
      exit: 0,
      result: {schemaVersion: 1, complete: true},
    });
  });

  /** Whoever follows hears of it at once, not when the time is over. */
  const WAYS = [[], ['--watch', '--for', '10m']];

  test.each(WAYS)('keeps an existing file %s', async (...more) => {
    const file = join(directory(), 'x.zip');
    writeFileSync(file, 'mine');
    const {stdout, exit} = await collectLogs(place, helm, ['--json', '--out', file, ...more]);
    expect({exit, code: JSON.parse(stdout).error.code}).toEqual({exit: 2, code: 'FILE_EXISTS'});
    expect(readFileSync(file, 'utf8')).toBe('mine');
  });

  test.each(WAYS)('fails when the directory is missing or not writable %s', async (...more) => {
    const closed = directory();
    chmodSync(closed, 0o500);
    const paths = [
      join(closed, 'none', 'x.zip'),
      ...(process.getuid?.() === 0 ? ['/proc/x.zip'] : [join(closed, 'x.zip')]),
    ];
    for (const path of paths) {
      const {stdout, exit} = await collectLogs(place, helm, ['--json', '--out', path, ...more]);
      expect({exit, code: JSON.parse(stdout).error.code, path}).toEqual({
        exit: 1,
        code: 'UNWRITABLE_FILE',
        path,
      });
    }
  });

  test('has a default name with namespace and time', async () => {
    const at = directory();
    const before = process.cwd();
    process.chdir(at);
    try {
      const {stdout, exit} = await collectLogs(place, helm, []);
      expect(exit).toBe(0);
      expect(stdout).toMatch(new RegExp(`^scalr-agent-${place.namespace}-\\d{8}T\\d{6}Z\\.zip\n$`));
      expect(readdirSync(at)).toEqual([stdout.trim()]);
    } finally {
      process.chdir(before);
    }
  });
});

describe('an account that', () => {
  test.each([
    'agent-local',
    'agent-k8s',
    'agent-job',
  ] as const)('can view its namespace gets all logs and objects of %s, and a warning that Secrets were not searched', async (chart) => {
    const own = await installed(chart, helm);
    const everything = await collected(own, helm);
    const kubeconfig = await accountWith('view', own);
    const {exit, result, errors, names, stderr, text} = await collected({...own, kubeconfig}, helm);
    expect({exit, complete: result.complete}, stderr + JSON.stringify(errors)).toEqual({
      exit: 7,
      complete: false,
    });
    const warning = 'Secrets were not searched: 1 namespace not readable. Review before sending.';
    expect(stderr.split('\n')[0]).toBe(warning);
    expect(text('SUMMARY.md').split('\n')[0]).toBe(warning);
    expect(result.errors).toContainEqual({
      code: 'FORBIDDEN',
      verdict: 'unknown',
      subject: {
        object: `Secrets of namespace ${own.namespace} (the bundle was not searched for their values)`,
      },
      message: expect.stringContaining('cannot list resource "secrets"'),
      remedies: expect.any(Array),
      kind: 'forbidden',
      isMinor: false,
    });
    expect(new Set(errors.map(({kind}) => kind))).toEqual(new Set(['forbidden']));
    expect(errors.map(({what}) => what)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^Secrets/), 'Helm releases']),
    );
    expect(logsIn(names)).toEqual(logsIn(everything.names));
    for (const name of everything.names.filter((each) =>
      /^objects\/(deployment|daemonset|pod)\//.test(each),
    ))
      expect(names).toContain(name);
  });

  test('cannot read logs gets the rest, and exit code 7', async () => {
    const kubeconfig = await accountWith(
      [
        {
          apiGroups: ['', 'apps', 'batch', 'networking.k8s.io', 'policy'],
          resources: ['*'],
          verbs: ['get', 'list'],
        },
      ].map((rule) => ({
        ...rule,
        resources: [
          'pods',
          'events',
          'deployments',
          'daemonsets',
          'statefulsets',
          'replicasets',
          'jobs',
        ],
      })),
      place,
    );
    const {exit, errors, names} = await collected({...place, kubeconfig}, helm);
    expect(exit).toBe(7);
    expect(errors).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          what: A,
          kind: 'forbidden',
          message: expect.stringContaining('pods/log'),
        }),
      ]),
    );
    expect(names).toContain('objects/pod/a.json');
    expect(logsIn(names)).toEqual([]);
  });

  test.each([
    {
      may: 'nothing of use',
      role: [{apiGroups: [''], resources: ['pods'], verbs: ['get']}],
      exit: 1,
      kinds: ['ClusterRole', 'Role'],
    },
    {
      may: 'all but Secrets',
      role: 'view' as const,
      exit: 7,
      kinds: ['ClusterRole', 'Role', 'Role'],
    },
  ])('can read $may gets a complete bundle after an administrator has applied the printed roles', async ({
    role,
    exit,
    kinds,
  }) => {
    const own = await installed('agent-local', helm);
    const kubeconfig = await accountWith(role, own);
    const before = await collectLogs({...own, kubeconfig}, helm, ['--out', freshFile()]);
    expect({exit: before.exit}, before.stderr).toEqual({exit});
    const roles = rolesIn(before.stderr).flatMap(({kind = ''}) => /Role$/.exec(kind)?.input ?? []);
    expect(roles.toSorted()).toEqual(kinds);
    await own.kubectl.apply(...rolesIn(before.stderr));
    // The first roles may grant no Secrets; what is then missing comes with the roles for it.
    await until('the roles count', async () => {
      const now = await collectLogs({...own, kubeconfig}, helm, ['--out', freshFile()]);
      if (now.exit !== 0) await own.kubectl.apply(...rolesIn(now.stderr));
      return now.exit === 0;
    });
    const {result, names} = await collected({...own, kubeconfig}, helm);
    expect(result.complete).toBe(true);
    expect(names).toEqual((await collected(own, helm)).names);
  });
});
