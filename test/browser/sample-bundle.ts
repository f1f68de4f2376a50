const NOON = Date.parse('2026-11-21T12:00:00Z');
export const at = (second: number): string => new Date(NOON + second * 1000).toISOString();
/** Lines that must stay text. */
export const RISKY = [
  '<script>document.title="hacked"</script><img src=x onerror=alert(1)>',
  '</script><script>document.title="hacked"</script><!--',
  'line\u2028separator\u2029and bidi \u202egnp.exe and null \0 byte',
  '\u001b[31mred\u001b[0m and \u001b]0;title\u0007 and \u001b[2J',
  '{"event":"</script><script>document.title=1</script>","level":"error","key":"<b>x</b>"}',
  `long ${'x'.repeat(1024 * 1024)} end of long`,
];
const log = (lines: readonly string[]): string =>
  lines.map((line, index) => `${at(index)} ${line}\n`).join('');
const AGENT = Array.from({length: 900}, (_, index) =>
  index % 100 === 42
    ? `ERROR cannot reach host ${index}`
    : index % 50 === 7
      ? `WARN slow ${index}`
      : `INFO line ${index}`,
);
const pod = (name: string, status: object) =>
  JSON.stringify({kind: 'Pod', metadata: {name}, status: {startTime: at(0), ...status}});
/** A small bundle: findings, logs, events, a gap in the recording, a pod with an OOM kill, and a release. */
export const FILES: Readonly<Record<string, string>> = {
  'SUMMARY.md': `# Support bundle of namespace <agents>

**1 error, 1 warning. Start with pod/agent-1 (CRASH_LOOP).**

The bundle is incomplete: 1 part could not be read.

Created ${at(1000)} by scalr-agent collect-logs. Containers: 2.

## Not included

- Role objects: may not list them

## Releases

- mine: agent-job 0.6.5, deployed
`,
  'TICKET.md': '# Support ticket\n',
  'findings.json': JSON.stringify([
    {
      verdict: 'error',
      code: 'CRASH_LOOP',
      subject: {object: 'pod/agent-1'},
      message: 'exits <b>at once</b>',

      remedies: [{text: 'Read the log: kubectl logs agent-1 --previous'}],
      evidence: {file: 'logs/agent-1/agent.log', line: 643},
    },
    {
      verdict: 'warning',
      code: 'CHANGED_IN_CLUSTER',
      subject: {object: 'deployment/mine'},
      message: 'changed (spec.replicas)',
      remedies: [{text: 'Restore it'}],
    },
    {
      verdict: 'warning',
      code: 'PENDING',
      subject: {object: 'pvc/cache'},
      message: 'no class',
      remedies: [{text: 'Fix it'}],
      evidence: {file: 'events.txt', line: 2},
    },
  ]),
  'errors.json': JSON.stringify([
    {
      subject: {object: 'logs/risky/agent.log'},
      kind: 'server',
      message: 'incomplete: timed out',
      at: at(800),
    },
  ]),
  'events.txt': [
    `${at(30)}  Warning  Pod/agent-1  Unhealthy  probe failed`,
    `${at(20)}  Warning  PersistentVolumeClaim/cache  ProvisioningFailed  no class <i>`,
    `${at(10)}  Normal  Pod/agent-1  Pulled  pulled`,
    '',
  ].join('\n'),
  'logs/agent-1/agent.log': log(AGENT),
  'logs/risky/agent.log': log(RISKY),
  'objects/pod/agent-1.json': pod('agent-1', {
    containerStatuses: [
      {
        name: 'agent',
        restartCount: 3,
        lastState: {terminated: {reason: 'OOMKilled', exitCode: 137, finishedAt: at(600)}},
      },
    ],
  }),
  'objects/node/node-1.json': JSON.stringify({kind: 'Node', metadata: {name: 'node-1'}}),
  'objects/pod/risky.json': JSON.stringify({
    kind: 'Pod',
    metadata: {name: 'risky'},
    spec: {nodeName: 'node-1'},
    status: {},
  }),
  'releases/mine/values.json': '{"agent": {"token": "</script>"}}',
  'releases/mine/differences.json': JSON.stringify({
    values: {},
    inCluster: [{object: 'Deployment mine', problem: 'changed'}],
  }),
  'releases/mine/history.json': JSON.stringify([
    {revision: 1, updated: at(-60), chart: 'agent-job-0.6.5', status: 'deployed'},
  ]),
};
