import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {parse} from 'yaml';
import {HOSTS, readHostTree} from '../../../src/charts/host/host.ts';
import {hostAgent} from '../../../src/extensions/machine/agent.ts';
import {exportHost} from '../../../src/extensions/machine/export.ts';
import {hostTreeOf, type ReadFile} from '../../../src/extensions/machine/migrate/host-tree.ts';
import {migrateHost} from '../../../src/extensions/machine/migrate/migrate-host.ts';
import {
  type HostConfiguration,
  readHost,
} from '../../../src/extensions/machine/migrate/read-host.ts';
import {ExpectedError} from '../../../src/ground/errors.ts';
import {cache} from '../../../src/settings/cache.ts';
import {extraEnv} from '../../../src/settings/chart-values.ts';
import type {Setting} from '../../../src/settings/define.ts';
import {agentImage, imagePullPolicy} from '../../../src/settings/images.ts';
import {gracePeriod} from '../../../src/settings/lifecycle.ts';
import {purpose} from '../../../src/settings/purpose.ts';
import type {Settings} from '../../../src/settings/settings.ts';
import {caPublicRoots} from '../../../src/settings/tls.ts';
import {certificates} from '../../support/certificates.ts';
import {RAW_IDS, rawSettings} from '../../support/raw-settings.ts';
import {numRuns} from '../../support/sample.ts';
import {type RawFlags, settingsFrom} from '../../support/settings-from.ts';

const RUNS = numRuns(8);
const TOKEN = 'eyJhbGciOiJub25lIn0.eyJqdGkiOiJ4In0.c2lnbmF0dXJl';
const URL = 'https://acme.scalr.io';

/** What docker inspect shows for the containers of an export. */
function inspected(settings: Settings): string {
  const host = hostAgent(settings, 'docker');
  const containers = host.agents.map((agent) => ({
    Config: {
      Env: [
        'PATH=/usr/bin',
        ...Object.entries({...host.secrets, ...host.environment, ...agent.environment}).map(
          ([name, value]) => `${name}=${value}`,
        ),
      ],
      Image: host.image,
      User: host.user ?? '',
      Labels: host.labels,
      ...(host.stopSeconds === undefined ? {} : {StopTimeout: host.stopSeconds}),
    },
    HostConfig: {
      NanoCpus: host.cpus === undefined ? 0 : Math.round(Number(host.cpus) * 1e9),
      Memory: host.memory === undefined ? 0 : bytesOf(host.memory),
    },
  }));
  return JSON.stringify(containers);
}

const bytesOf = (quantity: string): number => {
  const [, number, unit = ''] = /^(\d+)(\w*)$/.exec(quantity) ?? [];
  return Number(number) * ({Ki: 2 ** 10, Mi: 2 ** 20, m: 2 ** 20, Gi: 2 ** 30}[unit] ?? 1);
};

const TARGETS = ['docker', 'compose', 'systemd'] as const;
type HostTarget = (typeof TARGETS)[number];

/** What systemctl show prints for the service of an export. */
function shown(settings: Settings): string {
  const {secrets, environment, agents, isRoot} = hostAgent(settings, 'systemd');
  const words = Object.entries({...secrets, ...environment, ...agents[0]?.environment}).map(
    ([name, value]) =>
      `"${`${name}=${value}`.replaceAll(/["\\$`]/g, '\\$&').replaceAll('\n', '\\n')}"`,
  );
  return [
    `Environment=${words.join(' ')}`,
    ...(isRoot ? ['User=root'] : []),
    'Id=scalr-agent.service',
    'LoadState=loaded',
  ].join('\n');
}

/** What docker compose config prints: with the variables of environment files, and sizes in bytes. */
function composed(files: ReadonlyMap<string, string>): string {
  const {services} = parse(files.get('compose.yaml') as string, {merge: true}) as {
    services: Record<string, Record<string, unknown>>;
  };
  const secrets = Object.fromEntries(
    (files.get('agent.env') ?? '')
      .split('\n')
      .filter((line) => /^\w+=/.test(line))
      .map((line) => [
        line.slice(0, line.indexOf('=')),
        unquoted(line.slice(line.indexOf('=') + 1)),
      ]),
  );
  const resolved = Object.entries(services).map(([name, {env_file: _, ...service}]) => {
    const {mem_limit: memory, environment, volumes} = service;
    return [
      name,
      {
        ...service,
        ...(typeof memory === 'string' ? {mem_limit: String(bytesOf(memory))} : {}),
        environment: {...secrets, ...(environment as object)},
        volumes: ((volumes ?? []) as unknown[]).map((each) => {
          if (typeof each !== 'string') return each;
          const [source, target] = each.split(':');
          return {type: 'bind', source, target};
        }),
      },
    ];
  });
  return JSON.stringify({services: Object.fromEntries(resolved)});
}

const unquoted = (text: string): string =>
  /^".*"$/.test(text)
    ? text.slice(1, -1).replaceAll(/\\(["\\$`])/g, '$1')
    : text.replace(/^'(.*)'$/, '$1');

/** The files of an export, as the tools of the target read them. */
function read(
  settings: Settings,
  target: HostTarget,
): {configuration: HostConfiguration; files: Map<string, string>} {
  const {files} = exportHost(settings, target);
  const known = new Map(files.map(({path, text}) => [path, text]));
  const main = {
    docker: () => inspected(settings),
    compose: () => composed(known),
    systemd: () => shown(settings),
  }[target]();
  return {configuration: readHost(main) as HostConfiguration, files: known};
}

const readFrom = (files: ReadonlyMap<string, string>) => (path: string) =>
  files.get(path) ?? files.get(path.split('/').at(-1) as string);

/** Defaults, which an export does not write. */
const DEFAULTS: Readonly<Record<string, readonly unknown[]>> = {
  purpose: ['runs'],
  // In Docker, the agent and its runs share directories of the machine.
  cache: ['ephemeral', 'hostpath'],
  isolation: ['per-run'],
  'ca-scope': ['all'],
  'writable-root': [false],
};

const readHostSettings = (configuration: HostConfiguration, read: ReadFile) =>
  readHostTree(hostTreeOf(configuration, read).tree, configuration.target);

/** Settings that an export does not express, or that only one of its files expresses. */
const UNREADABLE: Readonly<Record<HostTarget, readonly Setting[]>> = {
  docker: [imagePullPolicy, agentImage, caPublicRoots, extraEnv] as Setting[],
  compose: [agentImage, caPublicRoots, extraEnv] as Setting[],
  // Labels and options of containers express them.
  systemd: [purpose, gracePeriod, cache, caPublicRoots, extraEnv] as Setting[],
};

const idsFor = (target: HostTarget): string[] => {
  const written = new Set(HOSTS[target].rows.map(({setting}) => setting.id));
  return RAW_IDS.filter(
    (id) => written.has(id) && !UNREADABLE[target].some((each) => each.id === id),
  );
};

async function supported(flags: RawFlags, target: HostTarget): Promise<Settings> {
  let [kept, settings]: [RawFlags, Settings] = [{url: URL}, await settingsFrom({url: URL})];
  for (const [id, value] of Object.entries(flags)) {
    const more = {...kept, [id]: value};
    try {
      const next = await settingsFrom(more, certificates);
      exportHost(next, target);
      [kept, settings] = [more, next];
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
    }
  }
  return settings;
}

test.each(TARGETS)('reads back the settings of an export for %s', {
  timeout: 120_000,
}, async (target) => {
  let count = 0;
  await fc.assert(
    fc.asyncProperty(rawSettings(idsFor(target)), async (raw) => {
      // Hundreds of agents make large files.
      const flags =
        raw['concurrency'] === undefined
          ? raw
          : {...raw, concurrency: String((Number(raw['concurrency']) % 12) + 1)};
      const settings = await supported(flags, target);
      const {configuration, files} = read(settings, target);
      const found = readHostSettings(configuration, readFrom(files));
      for (const {setting, answer} of settings.entries()) {
        const isWritten = HOSTS[target].rows.some(
          (row) =>
            row.setting === setting && row.paths.length > 0 && (row.when?.(settings.get) ?? true),
        );
        if (!settings.isExplicit(setting) || !isWritten || UNREADABLE[target].includes(setting))
          continue;
        if (found.get(setting.id) === undefined && DEFAULTS[setting.id]?.includes(answer.value))
          continue;
        expect({[setting.id]: found.get(setting.id)}).toEqual({[setting.id]: answer.value});
        count += 1;
      }
      for (const to of ['agent-local@0.6.5', 'agent-job@0.6.5', 'agent-k8s@0.6.5']) {
        const {findings, changes} = migrateHost(configuration, {to}, readFrom(files));
        expect(findings).toEqual([]);
        expect(changes.length).toBeGreaterThan(0);
      }
    }),
    {numRuns: RUNS},
  );
  expect(count / RUNS).toBeGreaterThan(2);
});

/** What docker inspect prints for a container with these variables, one a line. */
const withVariables = (text: string): string =>
  JSON.stringify([{Config: {Env: text.trim().split('\n'), Image: 'scalr/agent'}}]);

describe('former names of variables', () => {
  test('become the same settings as the current ones', () => {
    const settingsOf = (text: string) =>
      readHostSettings(readHost(withVariables(text)) as HostConfiguration, () => undefined);
    const former = settingsOf(
      'SCALR_AGENT_URL=https://acme.scalr.io\nSCALR_DEBUG=1\nSCALR_LOG_FORMAT=plain\nSCALR_DATA_HOME=/srv/scalr\nSCALR_CONTAINER_TASK_MEM_LIMIT=2048\n',
    );
    const current = settingsOf(
      'SCALR_URL=https://acme.scalr.io\nSCALR_AGENT_DEBUG=1\nSCALR_AGENT_LOG_FORMAT=plain\nSCALR_AGENT_DATA_DIR=/srv/scalr\nSCALR_AGENT_CONTAINER_TASK_MEM_LIMIT=2048\n',
    );
    expect(former).toEqual(current);
    expect(former.get('run-memory-limit')).toBe('2Gi');
  });
});

describe('the list of changes', () => {
  const migrate = (text: string, to = 'agent-job@0.6.5') =>
    migrateHost(readHost(text) as HostConfiguration, {to}, () => undefined);

  test('names what a chart cannot take, in the spelling of the user', () => {
    const {changes, yaml} = migrate(
      withVariables(
        `SCALR_URL=${URL}\nSCALR_TOKEN=${TOKEN}\nSCALR_DATA_HOME=/srv\nSCALR_CA_CERT=/etc/ca.pem\nDB_PASSWORD=hunter2\nSCALR_AGENT_WORKER_ON_STOP_ACTION=drain\n`,
      ),
    );
    const dropped = changes.filter(({kind}) => kind === 'dropped').map(({subject}) => subject.path);
    expect(dropped).toEqual(
      expect.arrayContaining([
        'SCALR_TOKEN',
        'SCALR_DATA_HOME',
        'SCALR_CA_CERT',
        'DB_PASSWORD',
        'SCALR_AGENT_WORKER_ON_STOP_ACTION',
      ]),
    );
    expect(JSON.stringify(changes) + yaml).not.toMatch(new RegExp(`${TOKEN}|hunter2`));
  });

  test.each([
    [
      'docker compose config',
      JSON.stringify({
        services: {
          agent: {
            image: 'scalr/agent:0.50.1',
            mem_limit: '2147483648',
            deploy: {resources: {limits: {cpus: 2}}},
            stop_grace_period: '1m30s',
            restart: 'always',
            networks: {default: null},
            environment: {SCALR_URL: URL},
          },
        },
      }),
      ['mem_limit', 'deploy', 'image'],
      90,
    ],
    [
      'docker inspect',
      JSON.stringify({
        Config: {Env: [`SCALR_URL=${URL}`], Image: 'scalr/agent:1.0.0', StopTimeout: 120},
        HostConfig: {Privileged: true, Memory: 2 ** 31, Dns: []},
      }),
      ['Privileged', 'Memory', 'image'],
      120,
    ],
    [
      'systemctl show',
      [
        `Environment=SCALR_URL=${URL} SCALR_AGENT_WORKER_DRAIN_TIMEOUT=30`,
        'MemoryMax=536870912',
        'CPUQuotaPerSecUSec=infinity',
        'UnsetEnvironment=HTTPS_PROXY',
        'LoadState=loaded',
      ].join('\n'),
      ['MemoryMax', 'UnsetEnvironment'],
      90,
    ],
  ])('lists the options of %s that have no place in values, and carries the time to stop', (_, text, expected, seconds) => {
    const {changes, yaml} = migrate(text);
    const dropped = changes
      .filter(({kind, subject}) => kind === 'dropped' && subject.path !== 'isolation')
      .map(({subject}) => subject.path);
    expect(dropped.toSorted()).toEqual([...expected].toSorted());
    expect(parse(yaml)).toMatchObject({task: {terminationGracePeriodSeconds: seconds}});
    expect(
      changes.filter(({subject}) => /^(tls|container|service|ca-)/.test(subject.path)),
    ).toEqual([]);
  });

  test('lists the second of two CA bundles', () => {
    const pem = String(certificates['ca.pem']).replaceAll('\n', '\\n');
    const text = `SCALR_URL=${URL}\nSCALR_CA_CERT=${Buffer.from(String(certificates['ca.pem'])).toString('base64')}\nSCALR_CONTAINER_TASK_CA_CERT=${Buffer.from(`${pem} `).toString('base64')}\n`;
    expect(migrate(withVariables(text)).changes).toContainEqual(
      expect.objectContaining({
        kind: 'dropped',
        subject: {path: 'SCALR_CONTAINER_TASK_CA_CERT'},
        message: expect.stringContaining('SCALR_CA_CERT refers to another') as string,
      }),
    );
  });

  test('carries a CA bundle that is given as base64', () => {
    const pem = String(certificates['ca.pem']);
    const {yaml} = migrate(
      withVariables(
        `SCALR_URL=${URL}\nSCALR_AGENT_CA_CERT=${Buffer.from(pem).toString('base64')}\n`,
      ),
      'agent-local@0.6.5',
    );
    expect(parse(yaml)).toMatchObject({
      agent: {tls: {caBundle: expect.stringContaining('BEGIN CERTIFICATE') as string}},
    });
  });

  test('adds up the concurrency of several containers', () => {
    const agent = (runs: number) => ({
      Config: {
        Env: [`SCALR_URL=${URL}`, 'SCALR_AGENT_DRIVER=local', `SCALR_AGENT_CONCURRENCY=${runs}`],
        Image: 'scalr/agent:1.0.0',
      },
    });
    expect(
      parse(migrate(JSON.stringify([agent(1), agent(1), agent(1)]), 'agent-local@0.6.5').yaml),
    ).toMatchObject({replicaCount: 3});
  });

  test.each([
    'agent-job@0.6.5',
    'agent-k8s@0.6.5',
  ])('does not count a limit of runs as kept when %s has none', (to) => {
    const {changes} = migrate(withVariables(`SCALR_URL=${URL}\nSCALR_AGENT_CONCURRENCY=3\n`), to);
    expect(changes.filter(({subject}) => subject.path === 'SCALR_AGENT_CONCURRENCY')).toEqual([
      expect.objectContaining({
        kind: 'dropped',
        message: expect.stringContaining('does not limit concurrent runs'),
      }),
    ]);
  });
});

test.each([
  ['values', 'agent:\n  url: https://acme.scalr.io\n'],
  ['a manifest', '{"kind": "HelmRelease"}'],
  ['an empty file', '\n'],
  ['properties without variables', 'LoadState=loaded\n'],
  ['a file of variables', 'SCALR_URL=https://acme.scalr.io\n'],
])('does not take %s for a machine', (_, text) => {
  expect(readHost(text)).toBeUndefined();
});
