import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, describe, expect, test} from 'vitest';
import {stringify} from 'yaml';
import {resolveAnswers} from '../../../src/answers/resolve.ts';
import {fromFlags} from '../../../src/answers/sources.ts';
import type {ProbePlan} from '../../../src/checks/preflight/facts/probe.ts';
import {planProbe} from '../../../src/checks/preflight/probe/plan-probe.ts';
import {SCRIPT} from '../../../src/checks/preflight/probe/script.ts';
import {readMirror} from '../../../src/checks/preflight/read-mirror.ts';
import type {KubernetesObject} from '../../../src/cluster/kubernetes/objects.ts';
import {podTemplates} from '../../../src/cluster/kubernetes/pod-specs.ts';
import {release} from '../../../src/settings/release.ts';
import {generate} from '../../../src/values/generate.ts';
import {effectiveGet, effectiveValues} from '../../../src/values/reading/read-values.ts';
import {certificates} from '../../support/certificates.ts';
import {memoryFiles} from '../../support/memory-files.ts';
import {type RawFlags, TODAY} from '../../support/settings-from.ts';
import {directoryOf, REAL, targets} from './charts-under-test.ts';
import {findHelm} from './find-helm.ts';
import {render} from './render.ts';

const [helm] = await findHelm();
const scratch = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
afterAll(() => rmSync(scratch, {recursive: true, force: true}));

const URLS = ['https://gitlab.example.com/'];

/** Objects of the probe for these settings, with these existing objects. */
async function planned(flags: RawFlags, there: readonly string[] = []) {
  if (helm === undefined) throw new Error('There is no helm.');
  const given = {'chart-version': '0.6.5', url: 'https://acme.scalr.io', ...flags};
  const files = memoryFiles({'ca.pem': certificates['ca.pem'] as Buffer});
  const generated = generate(await resolveAnswers([fromFlags(given)], {files, now: TODAY}));
  const {objects} = await render(helm, await directoryOf(generated.target, scratch), generated);
  const manifest = objects as unknown as KubernetesObject[];
  const name = {
    release: generated.settings.get(release) as string,
    kubeTarget: {namespace: 'scalr-agent'},
  };
  const get = effectiveGet(generated.settings, generated.effective);
  const registries = {manifest: async () => ({state: 'missing'}) as const};
  const mirror = await readMirror(generated, {registries, signal: AbortSignal.timeout(1000)});
  const values = effectiveValues(generated.values, generated.target);
  const context = {
    name,
    get,
    values,
    target: generated.target,
    now: TODAY,
    ...(mirror ? {mirror} : {}),
  };
  const plan = planProbe(context, manifest, {existing: new Set(there), seconds: 180, urls: URLS});
  return {plan: plan as ProbePlan, manifest};
}

const PROXIED = {
  'https-proxy': 'http://ann:secret@proxy.example.com:3128',
  'allow-clear-text': true,
  'ca-file': 'ca.pem',
  'metadata-service': 'block',
};
const PLACED = {
  toleration: ['dedicated=ci:NoSchedule'],
  'node-selector': ['pool=runs'],
  'image-pull-secret': ['mirror'],
};

const RUNNER = {'runner-image': 'registry.example.com/runner:1'};

const CASES: readonly [name: string, flags: RawFlags, there?: readonly string[]][] = [
  ['agent-k8s-proxy', {chart: 'agent-k8s', cloud: 'gke', ...PROXIED}],
  [
    'agent-k8s-placed',
    {chart: 'agent-k8s', cloud: 'eks', 'node-os': 'al2023', ...PLACED},
    ['serviceaccounts/scalr-agent-agent-k8s'],
  ],
  ['agent-local-first-install', {chart: 'agent-local', cache: 'pvc', ...PROXIED}],
  [
    'agent-local-again',
    {chart: 'agent-local', cache: 'pvc', ...PROXIED},
    ['persistentvolumeclaims/scalr-agent-agent-local-cache'],
  ],
  ['agent-local-ca-secret', {chart: 'agent-local', 'ca-secret': 'roots'}, ['secrets/roots']],
  ['agent-local-without-ca-secret', {chart: 'agent-local', 'ca-secret': 'roots'}],
  ['agent-job-proxy', {chart: 'agent-job', cache: 'pvc', ...PROXIED}],
  [
    'agent-job-hostpath',
    {chart: 'agent-job', cache: 'hostpath', 'cache-path': '/var/lib/scalr-agent/cache', ...PLACED},
  ],
  ['agent-job-runner-image', {chart: 'agent-job', ...RUNNER, ...PROXIED}],
  [
    'agent-job-mirror',
    {chart: 'agent-job', 'image-registry': 'mirror.example.com', 'service-account-name': 'own'},
  ],
];

// The stand-in charts have other paths than the released ones.
describe.runIf(REAL === undefined)('a probe of the chart', () => {
  test.each(CASES)('%s', async (name, flags, there) => {
    const {plan} = await planned(flags, there);
    const text = stringify(
      {...plan, objects: plan.objects},
      {lineWidth: 0, aliasDuplicateObjects: false},
    );
    expect(text).toContain(SCRIPT.split('\n')[0]);
    const short = text.replaceAll(
      /^( *)- \|-\n\1 {2}say\(\)[\s\S]*?\n\1 {2}say done\n/gm,
      '$1- (the script)\n',
    );
    await expect(
      short.replaceAll(/-----BEGIN[\s\S]*?END CERTIFICATE-----/g, '(certificates)'),
    ).toMatchFileSnapshot(`probes/${name}.yaml`);
  });
});

interface Selecting extends KubernetesObject {
  spec?: {selector?: {matchLabels?: object} | object; podSelector?: {matchLabels?: object}};
}

describe.each(targets)('$chart $version', (target) => {
  test.each([
    {},
    PROXIED,
    PLACED,
  ])('schedules the probe where runs go, and outside every selector of the release (%o)', async (more) => {
    const flags: RawFlags = {
      chart: target.chart,
      'chart-version': target.version,
      cloud: 'gke',
      ...more,
    };
    const {plan, manifest} = await planned(flags).catch((error: Error) => ({
      plan: undefined,
      manifest: error,
    }));
    // Old versions do not support some of the settings.
    if (plan === undefined) return expect(String(manifest)).toMatch(/ExpectedError/);
    const pod = plan.objects.at(-1) as KubernetesObject & {spec: Record<string, unknown>};
    const templates = (manifest as KubernetesObject[]).flatMap(podTemplates).map(({spec}) => spec);
    const place = ({nodeSelector, tolerations}: Record<string, unknown>) => ({
      nodeSelector: nodeSelector ?? {},
      tolerations: tolerations ?? [],
    });
    expect(templates.map(place)).toContainEqual(place(pod.spec));
    const labels = Object.entries(pod.metadata.labels ?? {});
    const selected = (manifest as Selecting[]).filter(({spec}) => {
      const selector = spec?.podSelector ?? spec?.selector;
      const desired = Object.entries(
        selector && 'matchLabels' in selector ? (selector.matchLabels ?? {}) : (selector ?? {}),
      );
      return (
        desired.length > 0 &&
        desired.every(([key, value]) => labels.some((each) => each[0] === key && each[1] === value))
      );
    });
    expect(selected).toEqual([]);
    const said = JSON.stringify(plan.objects);
    expect(said).not.toMatch(/SCALR_AGENT_TOKEN|scalr-agent-token|PRIVATE KEY/);
    expect(pod.spec).toMatchObject({
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      activeDeadlineSeconds: 180,
    });
  });
});
