import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, expect, test} from 'vitest';
import type {Event, KubernetesObject, Pod} from '../../../src/cluster/kubernetes/objects.ts';
import {bundleText} from '../../../src/extensions/bundle/bundle-text.ts';
import type {PreparedBundle} from '../../../src/extensions/bundle/collect/prepare.ts';
import {objectFiles} from '../../../src/extensions/bundle/collect/read-objects.ts';
import {writeBundle} from '../../../src/extensions/bundle/write-bundle.ts';
import {Secret} from '../../../src/ground/secret.ts';
import {zipArchives} from '../../../src/ground/system/zip-archive.ts';
import {isExhaustive} from '../../support/sample.ts';
import {readZip} from '../../support/unzip.ts';

const folder = mkdtempSync(join(tmpdir(), 'bundle-'));
afterAll(() => rmSync(folder, {recursive: true}));

const NOON = new Date('2026-11-21T12:00:00Z');
const SECRET = 'Zr81kQv93LmXw20p';
const PEM = `-----BEGIN PRIVATE KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n'.repeat(8)}-----END PRIVATE KEY-----`;

const claim: KubernetesObject = {
  kind: 'PersistentVolumeClaim',
  metadata: {name: 'cache'},
  status: {phase: 'Pending'},
} as KubernetesObject;
const event: Event = {
  kind: 'Event',
  metadata: {name: 'e'},
  type: 'Warning',
  reason: 'ProvisioningFailed',
  message: `the driver refused ${SECRET}`,
  lastTimestamp: NOON.toISOString(),
  involvedObject: {kind: 'PersistentVolumeClaim', name: 'cache'},
};
const pod = {
  kind: 'Pod',
  metadata: {name: 'agent-1', uid: 'u'},
  status: {
    phase: 'Running',
    conditions: [{type: 'Ready', status: 'True'}],
    containerStatuses: [{name: 'agent', ready: true}],
  },
};

async function written(
  more: Partial<PreparedBundle> = {},
  lines = '',
  maxBytes = 1e6,
  userTokens: readonly Secret[] = [],
) {
  const file = join(folder, `${Math.random()}.zip`);
  const objects = [claim, event, pod];
  async function* log(): AsyncGenerator<Buffer> {
    yield Buffer.from(lines);
  }
  const prepared: PreparedBundle = {
    name: 'scalr-agent',
    api: {stream: async () => ({chunks: log(), end: Promise.resolve(undefined)})},
    releases: [
      {
        name: 'mine',
        chart: 'agent-local',
        version: '0.6.5',
        status: 'deployed',
        values: undefined,
        drift: [],
        causes: [],
        runsOf: undefined,
      },
    ],
    scope: {objects, pods: [pod]},
    cluster: {
      server: 'v1.35.1',
      nodes: [{metadata: {name: 'n'}, status: {nodeInfo: {kubeletVersion: 'v1.35.0'}}}],
      tools: {'scalr-agent': '0.1.0', helm: null},
      enforcement: undefined,
    },
    texts: (hideIn) => objectFiles(objects, hideIn),
    logs: [
      {
        file: 'logs/agent-1/agent.log',
        pod: 'agent-1',
        container: 'agent',
        isPrevious: false,
        path: '/log',
      },
    ],
    knownSecrets: [{kind: 'driver-key', value: new Secret(SECRET)}],
    gaps: [
      {
        what: 'logs/agent-1/token.log',
        error: {kind: 'server', message: 'etcdserver: request timed out'},
      },
      {
        what: 'Role objects',
        error: {kind: 'forbidden', message: 'may not list them'},
        isMinor: true,
      },
    ],
    ...more,
  };
  const bundle = await writeBundle(
    prepared,
    {maxBytes, level: 'standard', userTokens},
    {
      archive: await zipArchives.create(file),
      createArchive: () => zipArchives.create(file),
      template: '<!--first--><!--/first--><!--data-->',
      signal: new AbortController().signal,
      now: () => NOON,
      onProgress: () => undefined,
    },
  );
  const files = new Map(
    [...(await readZip(file))].map(([name, content]) => [name, content.toString('utf8')]),
  );
  const text = (name: string): string => files.get(name) ?? '';
  return {bundle, text, summary: text('SUMMARY.md')};
}

test('the summary starts with its verdict, and lists included and missing parts', async () => {
  const {summary} = await written({}, 'starting\nInvalid agent token\n');
  expect(summary.replaceAll(/(?<=driver-key:)\w+/g, 'NAME')).toMatchInlineSnapshot(`
    "# Support bundle of namespace scalr-agent

    **0 errors, 2 warnings. Start with pvc/cache (PROVISIONING_FAILED).**

    The bundle is incomplete: 1 part could not be read.

    Created 2026-11-21T12:00:00.000Z by scalr-agent collect-logs. Containers: 1.

    ## Warnings

    - pvc/cache (PROVISIONING_FAILED): PVC pending: the driver refused [redacted:driver-key:NAME]
      - see: events.txt:1
      - do: Fix the error reported by the storage driver
    - pod/agent-1 (TOKEN_REJECTED): agent log: Invalid agent token
      - see: logs/agent-1/agent.log:2
      - do: Scalr seems to reject the token. Create a new one in the agent pool, and replace the old one with rotate-token and --token-file. Check that --url belongs to the same account

    ## Not included

    - logs/agent-1/token.log (NOT_COLLECTED): etcdserver: request timed out
    - Role objects (FORBIDDEN): may not list them (optional)

    ## Releases

    - mine: agent-local 0.6.5, deployed; agent 1.4.0, newest known version

    ## Versions

    - Kubernetes: v1.35.1
    - kubelets: v1.35.0 on 1 node
    - scalr-agent: 0.1.0
    - helm: not found

    ## Contents

    - report.html: this summary, logs, timeline and objects; open it in a browser
    - TICKET.md: Scalr's support form, pre-filled where possible
    - findings.json, errors.json: findings and missing parts as JSON
    - logs/: 1 log, 2 lines, 1 KiB
    - events.txt: events, newest last
    - objects/: 2 objects of the cluster, without Secrets
    - redactions.json: number of redactions by rule and file
    - manifest.json: size and checksum of every file, for scalr-agent inspect

    ## Support

    Open a request at the Scalr Support Center and attach this bundle: https://scalr-labs.atlassian.net/servicedesk/customer/portal/31

    ## Redaction: 4 places

    - known value: 4
    "
  `);
});

test('the ticket holds what support asks for, and leaves open what is unknown', async () => {
  const volumes = [{name: 'data', emptyDir: {}}];
  const containers = [
    {name: 'agent', resources: {limits: {cpu: '2', memory: '4Gi'}}},
    {name: 'proxy'},
  ];
  const whole: Pod = {...pod, spec: {volumes, containers} as NonNullable<Pod['spec']>};
  const {text} = await written({scope: {objects: [claim, event, whole], pods: [whole]}});
  expect(text('TICKET.md').replaceAll(/(?<=driver-key:)\w+/g, 'NAME')).toMatchInlineSnapshot(`
    "# Support ticket

    Copy this form into a request and attach the bundle: https://scalr-labs.atlassian.net/servicedesk/customer/portal/31

    ## What happened, when, and in which run

    (please fill in)

    ## Findings of this program

    - 0 errors, 1 warning. Start with pvc/cache (PROVISIONING_FAILED).
    - pvc/cache (PROVISIONING_FAILED): PVC pending: the driver refused [redacted:driver-key:NAME]

    ## Install type

    - Kubernetes: release mine, chart agent-local 0.6.5, agent 1.4.0, deployed

    ## Platform type and vendor

    - distribution: unrecognized
    - Kubernetes: v1.35.1
    - kubelets: v1.35.0 on 1 node

    ## CPU and memory limits

    - agent-1/agent: cpu 2, memory 4Gi
    - agent-1/proxy: no limits

    ## CPU and memory in use

    (please fill in)

    ## Disk type

    - agent-1/data: emptyDir
    - PVC cache: unknown size, StorageClass unknown

    ## IOPS limits and throughput of the disk

    (please fill in)

    ## Debug logs

    - see the logs in the bundle

    ## Configuration that differs from the chart

    (please fill in)
    "
  `);
});

test('the verdict reports no problems and a complete bundle', async () => {
  const {summary} = await written(
    {gaps: [], scope: {objects: [pod], pods: [pod]}},
    'agent is ready to receive tasks\n',
  );
  expect(summary).toContain('**No problems found.**\n\nThe bundle is complete.\n');
});

test('a log that was cut to fit --max-size is reported, and the bundle is complete', async () => {
  const lines = Array.from({length: 3000}, (_, index) => `${index} ${'x'.repeat(60)}\n`).join('');
  const {bundle, summary} = await written({gaps: []}, lines, 40_000);
  expect(summary).toContain(
    '\nThe bundle is complete. To fit --max-size, 1 log was cut in the middle.\n',
  );
  expect(summary).toMatch(
    /\n- logs\/agent-1\/agent\.log \(LOG_CUT\): \d+ bytes cut from the middle\n {2}- do: Increase --max-size\n/,
  );
  const timed = lines.replace(
    /^(\d+) /gm,
    (_, index) => `${new Date(NOON.getTime() + index * 1000).toISOString()} ${index} `,
  );
  const cut = await written({gaps: []}, timed, 40_000);
  const kept = cut.text('logs/agent-1/agent.log').split('\n');
  const [last] = (kept[kept.findIndex((line) => line.startsWith('[…')) - 1] as string).split(' ');
  expect(cut.summary).toContain(` bytes cut from the middle after ${last}\n`);
  expect(JSON.parse(cut.text('errors.json'))).toMatchObject([
    {code: 'LOG_CUT', subject: {object: 'logs/agent-1/agent.log'}, at: last},
  ]);
  const said = (made: typeof bundle): string =>
    bundleText({file: 'a.zip', ...made}, {hasColor: false, columns: undefined});
  expect(said(bundle)).toContain(
    '\n1 log was truncated in the middle (increase --max-size to keep more)\n',
  );
  expect(said((await written({gaps: []})).bundle)).not.toContain('--max-size');
});

test('text that was cut while following counts like text that is cut later', async () => {
  const logs = [
    {
      file: 'logs/agent-1/agent.log',
      pod: 'agent-1',
      container: 'agent',
      isPrevious: false,
      path: '/log',
      cut: 70,
    },
  ];
  const {bundle, summary} = await written({gaps: [], logs}, 'little\n');
  expect(bundle.cutLogs).toBe(1);
  expect(summary).toContain('- logs/agent-1/agent.log (LOG_CUT): 70 bytes cut from the middle\n');
});

test('secrets in findings and summary are redacted everywhere, and counted in each file', async () => {
  const {bundle, text, summary} = await written();
  const {files, total, rules} = JSON.parse(text('redactions.json'));
  expect(summary).toContain('PVC pending: the driver refused [redacted');
  expect(Object.keys(files)).toEqual(
    expect.arrayContaining(['events.txt', 'findings.json', 'SUMMARY.md']),
  );
  expect(files['SUMMARY.md']).toEqual({'known value': 1});
  expect(summary).toContain(`## Redaction: ${total} places`);
  const sum = Object.values(files as Record<string, Record<string, number>>).flatMap((counts) =>
    Object.values(counts),
  );
  expect(sum.reduce((one, other) => one + other, 0)).toBe(total);
  expect(rules['known value']).toBe(4);
  expect(
    JSON.stringify(bundle) +
      bundleText({file: 'a.zip', ...bundle}, {hasColor: false, columns: undefined}),
  ).not.toContain(SECRET);
});

test('a variable that is redacted by its name counts for its file', async () => {
  const spec = {containers: [{name: 'agent', env: [{name: 'DB_PASSWORD', value: 'abc'}]}]};
  const {text} = await written({
    texts: (hideIn) =>
      objectFiles([{...pod, spec} as KubernetesObject], hideIn, (name) => `gone/${name}`),
  });
  expect(JSON.parse(text('redactions.json')).files['gone/objects/pod/agent-1.json']).toEqual({
    variable: 1,
  });
  expect(text('gone/objects/pod/agent-1.json')).toContain('"value": "[redacted:');
});

test('a file name does not redact the reason after it', async () => {
  const {summary, text} = await written();
  expect(summary).toContain(
    '- logs/agent-1/token.log (NOT_COLLECTED): etcdserver: request timed out\n',
  );
  expect(JSON.parse(text('errors.json'))).toMatchObject([
    {subject: {object: 'logs/agent-1/token.log'}, message: 'etcdserver: request timed out'},
    {isMinor: true},
  ]);
});

test('a line number refers to the bundle, after redaction and cuts', async () => {
  const filler = Array.from({length: 3000}, (_, index) => `${index} ${'x'.repeat(60)}`).join('\n');
  const lines = `${PEM}\n${filler}\nInvalid agent token\n${'fine\n'.repeat(20)}`;
  const {bundle, text} = await written({}, lines, 40_000);
  const found = bundle.findings.find(({code}) => code === 'TOKEN_REJECTED');
  const kept = text('logs/agent-1/agent.log').split('\n');
  expect(kept.join()).toContain('bytes omitted');
  expect(kept.length).toBeLessThan(3000);
  expect(kept[(found?.evidence?.line ?? 0) - 1]).toBe('Invalid agent token');
});

test('no line number is given when redaction moved the line', async () => {
  const objects = [claim, event];
  const texts =
    (text: (file: {name: string; text: string}) => string): PreparedBundle['texts'] =>
    (hide) =>
      objectFiles(objects, hide).map((file) => ({...file, text: text(file)}));
  const scope = {objects, pods: []};
  const [found] = (await written({scope, texts: texts((file) => `\n\n${file.text}`)})).bundle
    .findings;
  expect(found).toMatchObject({evidence: {file: 'events.txt', line: 3}});
  const [moved] = (await written({scope, texts: texts((file) => `${PEM}\n${file.text}`)})).bundle
    .findings;
  expect(moved).toMatchObject({evidence: {file: 'events.txt'}});
  expect(moved?.evidence).not.toHaveProperty('line');
});

test('a token of the user for the API of Scalr is redacted, whatever its form', async () => {
  const userToken = 'Qm7xKd20vTzW4hLb';
  const {text} = await written({}, `Configured ${userToken} by mistake\n`, 1e6, [
    new Secret(userToken),
  ]);
  expect(text('logs/agent-1/agent.log')).toMatch(
    /^Configured \[redacted:user-token:\w+\] by mistake\n$/,
  );
});

test('a value that equals the names of objects is hidden in them, also in names of files', async () => {
  const {bundle, text} = await written(
    {knownSecrets: [{kind: 'workload', value: new Secret('agent-1')}]},
    'Invalid agent token\nagent-1 is ready\n',
  );
  expect(bundle.withheld).toEqual([]);
  const {entries} = JSON.parse(text('manifest.json')) as {entries: {name: string}[]};
  const names = entries.map(({name}) => name.replace(/[0-9a-f]{8}/, 'NAME'));
  expect(names).toContain('logs/redacted-workload-NAME/agent.log');
  expect(names).toContain('objects/pod/redacted-workload-NAME.json');
  for (const {name} of [...entries, {name: 'manifest.json'}])
    expect([name, text(name)]).toEqual([name, expect.not.stringContaining('agent-1')]);
  expect(text('SUMMARY.md')).toMatch(/see: logs\/redacted-workload-\w{8}\/agent\.log/);
});

test('values that equal words of the program, or the name of their key, do not prevent a bundle', async () => {
  const values = [
    'collect-logs',
    'schemaVersion',
    'client-secret',
    'known value',
    'manifest.json',
    'findings.json',
    'errors.json: findings',
  ];
  const {bundle} = await written(
    {knownSecrets: values.map((value) => ({kind: value, value: new Secret(value)}))},
    'client-secret\n',
  );
  expect(bundle.bytes).toBeGreaterThan(0);
});

/** Every run proves that the search is fast, the weekly one that its limits are not reached. */
const MANY = isExhaustive ? 100_000 : 10_000;

test(`${MANY} values of Secrets, and a Secret of 1 MiB, do not prevent a bundle`, {
  timeout: 240_000,
}, async () => {
  const many = Array.from({length: MANY}, (_, index) => ({
    kind: `key-${index}`,
    value: new Secret(`value-${index * 7919}-of-it`),
  }));
  const large = {kind: 'large', value: new Secret('0123456789abcdef'.repeat(65_536))};
  const {bundle, text} = await written(
    {knownSecrets: [...many, large]},
    'got value-791900-of-it and value-12-of-it\n',
  );
  expect(bundle.withheld).toEqual([]);
  expect(text('logs/agent-1/agent.log')).toMatch(
    /^got \[redacted:key-100:\w{8}\] and value-12-of-it\n$/,
  );
});
