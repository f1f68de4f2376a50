import type {KeyFinding} from '../../src/ground/finding.ts';
import {findingDocument, findingsText} from '../../src/ui/findings.ts';
import {readFiles} from '../../src/values/embedded/read-files.ts';
import {findingsOf} from '../../src/values/validate/check-files.ts';
import {validate} from '../../src/values/validate/validate.ts';
import {CASES, type Named, targetOf} from '../values/validate/rule-cases.ts';
import {codesPage} from './codes-page.ts';

const AGENT = 'agent: {url: "https://acme.scalr.io", tokenExistingSecret: {name: a}';
const TOKEN = 'agent: {token: abc';

/** Files that are wrong in ways which the pairs of the rules do not show: as files, and as settings that do not fit together. */
const MORE: readonly (readonly [Named, string])[] = [
  ['local 0.6.5', ''],
  ['local 0.6.5', '- a'],
  ['local 0.6.5', 'apiVersion: v1\nkind: Secret'],
  ['local 0.6.5', 'agent-local: {agent: {token: abc}}'],
  ['local 0.6.5', 'a: 1\n---\nb: 2'],
  ['local 0.6.5', '%YAML 1.1\n---\na: 1'],
  ['local 0.6.5', '--- {a: 1}'],
  ['local 0.6.5', '  a: 1\nb: 2'],
  ['local 0.6.5', 'a: b: c'],
  ['local 0.6.5', 'a: {{ .Values.x }}'],
  ['local 0.6.5', 'a: .inf'],
  ['local 0.6.5', 'null: a'],
  ['local 0.6.5', 'a: {ON: 1}'],
  ['local 0.6.5', 'a: 1\na: 2'],
  ['local 0.6.5', 'x: &x {b: 1}\na: {b: 2, <<: *x}'],
  ['local 0.6.5', 'a: 010'],
  ['local 0.6.5', 'a: x\u0007'],
  ['local 0.6.5', 'a: \uFFFD'],
  ['local 0.6.5', 'a: x\u2028y'],
  [
    'local 0.6.5',
    `a0: &a0 x\n${Array.from({length: 40}, (_, at) => `a${at + 1}: &a${at + 1} [${Array(9).fill(`*a${at}`).join(', ')}]\n`).join('')}`,
  ],
  ['local 0.6.5', `a: ${'['.repeat(20_000)}`],
  ['local 0.6.5', `${AGENT}, shutdownMode: drain}\nterminationGracePeriodSeconds: 600`],
  ['local 0.6.5', `${AGENT}}\nterminationGracePeriodSeconds: 20`],
  [
    'local 0.6.5',
    `${AGENT}}\nreplicaCount: 2\npersistence: {cache: {enabled: true, persistentVolumeClaim: {accessMode: ReadWriteOnce}}}`,
  ],
  [
    'local 0.6.5',
    `${AGENT}}\nreplicaCount: 2\npersistence: {cache: {enabled: true, persistentVolumeClaim: {accessMode: ReadWriteMany}}}`,
  ],
  [
    'local 0.6.5',
    `${AGENT}}\nreplicaCount: 2\npersistence: {cache: {enabled: true, persistentVolumeClaim: {claimName: a}}}`,
  ],
  ['local 0.6.5', `${AGENT}}\nreplicaCount: 2\npersistence: {data: {enabled: true}}`],
  [
    'local 0.6.5',
    `${AGENT}}\nstrategy: {type: RollingUpdate}\npersistence: {cache: {enabled: true, persistentVolumeClaim: {accessMode: ReadWriteOnce}}}`,
  ],
  [
    'job 0.6.5',
    `${TOKEN}}\npersistence: {cache: {enabled: true, persistentVolumeClaim: {accessMode: ReadWriteOnce}}}`,
  ],
  ['job 0.6.5', `${TOKEN}}\npersistence: {data: {enabled: true}}`],
  [
    'job 0.6.5',
    `${TOKEN}}\npersistence: {cache: {enabled: true, persistentVolumeClaim: {accessMode: ReadWriteMany, storage: 2Gi}}}`,
  ],
  ['local 0.6.5', `${AGENT}}\nresources: {requests: {memory: 2Gi}, limits: {memory: 1Gi}}`],
  ['local 0.6.5', `${AGENT}}\nextraEnv: {HTTPS_PROXY: "http://p:1"}`],
  [
    'job 0.6.5',
    `${TOKEN}, podDisruptionBudget: {enabled: true, minAvailable: 1, maxUnavailable: 1}}`,
  ],
  [
    'job 0.6.5',
    `${TOKEN}}\ntask: {podLabels: {team: "a b"}, sidecars: [{name: My_Sidecar, image: a}], extraVolumes: [{name: a, emptyDir: {sizeLimit: 5m}}]}`,
  ],
  ['job 0.6.5', `${TOKEN}}\nglobal: {imagePullSecrets: [{name: a}, {name: a}]}`],
  ['job 0.6.5', `${TOKEN}, topologySpreadConstraints: [{maxSkew: 1, topologyKey: a}]}`],
  ['job 0.6.5', `${TOKEN}, resources: {requests: {cpu: 500}}}`],
  ['job 0.6.5', `${TOKEN}, resources: {limits: {cpu: null}}}`],
];

/** A finding, and the file that it is about. */
interface Found {
  finding: KeyFinding;
  file: string;
  text: string;
}

/** Every code, with the first thing that is said under it. */
export const FOUND = new Map<string, Found>();

function collect(findings: readonly KeyFinding[], file: string, text: string): void {
  for (const finding of findings)
    if (!FOUND.has(finding.code)) FOUND.set(finding.code, {finding, file, text});
}

for (const [name, text] of [...CASES.map(([name, wrong]) => [name, wrong] as const), ...MORE])
  collect(validate(text, targetOf(name)), 'values.yaml', text);

/** A file of Flux with every problem of a file around values. */
const FLEET = `kind: HelmRelease
metadata: {namespace: agents}
spec:
  chart: {spec: {chart: agent-k8s, version: 0.6.x}}
  driftDetection: {mode: enabled}
---
kind: HelmRelease
metadata: {namespace: agents}
spec: {chart: {spec: {chart: agent-k8s, version: 0.6.5}}}
---
kind: HelmRelease
spec: {chart: {spec: {chart: agent-job, version: 0.6.5}}}
---
kind: HorizontalPodAutoscaler
---
kind: HelmRepository
spec: {url: oci://scalr.github.io/agent-helm}
---
kind: Secret
stringData: {token: eyJhbGciOiJub25lIn0.eyJqdGkiOiJ4In0.c2lnbmF0dXJl}
`;
const VARIABLE = `kind: HelmRelease
metadata: {name: a, namespace: agents}
spec:
  chart: {spec: {chart: agent-local, version: 0.6.5}}
  values: {replicaCount: "\${REPLICAS}"}
`;
const TERRAFORM = 'resource "helm_release" "agent" {\n  chart = "scalr/agent-local"\n}\n';
const read = await readFiles(
  [
    {file: 'flux.yaml', text: FLEET},
    {file: 'variable.yaml', text: VARIABLE},
    {file: 'main.tf', text: TERRAFORM},
  ],
  async () => undefined,
);
for (const group of read.flat()) {
  const {around = [], release, files} = group;
  const {file, text} = files[0] as (typeof files)[number];
  const ofValues = release === undefined ? [] : findingsOf(group, targetOf('local 0.6.5'));
  collect([...around, ...(release?.around ?? []), ...ofValues], file, text);
}

export const FOUND_CODES: readonly string[] = [...FOUND.keys()].toSorted();

/** What `validate` says about the example of a code, as the terminal shows it. */
export const exampleOf = (code: string): string | undefined => {
  const found = FOUND.get(code);
  if (found === undefined) return undefined;
  const {finding, file, text} = found;
  // Some lines are thousands of characters long, or have signs that not every terminal shows.
  const readable = text.replace(/^.*[^\n\t -~].*$|.{200,}/gm, '');
  const shown = findingsText(
    [{files: [{file, text: readable}], areLayers: false, findings: [finding]}],
    {
      hasColor: false,
      columns: 78,
    },
  );
  // Without the totals.
  return shown.slice(0, shown.lastIndexOf('\n\n'));
};

/** docs/findings.md: every code of validate, with its severity and its JSON. */
export const findingsPage = (): string =>
  codesPage('findings.md', (code) => {
    const found = FOUND.get(code);
    if (found === undefined) return [];
    const json = JSON.stringify(findingDocument(found.finding), null, 2);
    return [`Severity: ${found.finding.verdict}.`, `\`\`\`json\n${json}\n\`\`\``];
  });
