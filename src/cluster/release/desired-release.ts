import {chartFor} from '../../charts/chart-version.ts';
import {CHART_NAMES} from '../../charts/releases/chart-name.ts';
import type {ChartReference} from '../../ground/call.ts';
import type {ReleaseName} from '../../ground/command-line.ts';
import {ExpectedError, failed, onFailure} from '../../ground/errors.ts';
import {type Fact, known, unknown} from '../../ground/fact.ts';
import {changing, type Remedy} from '../../ground/finding.ts';
import {Secret} from '../../ground/secret.ts';
import type {Processes} from '../../ground/system/system.ts';
import {ToolFailure, toolFailure} from '../../ground/tool-errors.ts';
import type {Path, Tree, Values} from '../../ground/tree.ts';
import {
  HOW_TO_GIVE_TOKEN,
  secretAnnotation,
  secretLabel,
  token,
  tokenFile,
  tokenSecret,
  tokenSecretKey,
} from '../../settings/agent.ts';
import {cache} from '../../settings/cache.ts';
import type {Get, Setting} from '../../settings/define.ts';
import {metadataService} from '../../settings/network.ts';
import {chartSource} from '../../settings/release.ts';
import {clientCertFile, clientCertSecret, clientKeyFile} from '../../settings/tls.ts';
import type {GeneratedValues} from '../../values/generate.ts';
import {effectiveValues} from '../../values/reading/read-values.ts';
import {template} from '../helm/chart-calls.ts';
import {objectsIn} from '../helm/release-record.ts';
import type {Container, KubernetesObject} from '../kubernetes/objects.ts';
import {pairsBelow} from '../kubernetes/pod-specs.ts';
import {type AccountToken, accountAnnotations} from './account-token.ts';
import type {InstallFacts} from './read-release.ts';

export interface DesiredRelease {
  name: ReleaseName;
  chart: ChartReference;
  values: Values;
  /** With the defaults of the chart. */
  effective: Values;
  /** Keys of the values that come from explicit settings, not from defaults. */
  explicitPaths: readonly Path[];
  yaml: string;
  secrets: readonly DesiredSecret[];
}

export interface RenderedRelease extends DesiredRelease {
  /** The objects of the rendered chart, CRDs included. */
  manifest: readonly KubernetesObject[];
}

export type SecretMetadata = Readonly<
  Record<'labels' | 'annotations', Readonly<Record<string, string>>>
>;

/** A Secret that the values reference. */
export interface DesiredSecret {
  name: string;
  type: 'Opaque' | 'kubernetes.io/tls';
  /** Given by the user; absent if the command has no flags for it, and existing ones remain. */
  metadata?: SecretMetadata;
  /** Of this program. */
  annotations?: Readonly<Record<string, string>>;
  /** Required keys, with their content if given. */
  data: Readonly<Record<string, Secret | undefined>>;
  howToGive: Remedy;
  /** It names the Secret. */
  setting: Setting<string>;
}

/** Shaped like a token, without content: for a plan, until it is confirmed. */
export const PLACEHOLDER = new Secret('e30.e30.placeholder');

/** The release that settings ask for; `made` is a token that was created for it. */
export function desiredRelease(
  {target, settings, values, origins}: GeneratedValues,
  yaml: string,
  name: ReleaseName,
  made?: AccountToken,
): DesiredRelease {
  return {
    name,
    chart: {...target, source: settings.get(chartSource)},
    values,
    effective: effectiveValues(values, target),
    explicitPaths: [
      ...origins
        .filter(({setting, isDerived}) => !isDerived && settings.isExplicit(setting))
        .map(({path}) => path),
      ...pathsAsked(target, settings),
    ],
    yaml,
    secrets: [tokenSecretOf(settings, made), ...clientCertificateOf(settings)],
  };
}

type Settings = GeneratedValues['settings'];

/** The keys of explicit settings, including those with the default value, which the values leave out. */
const pathsAsked = (target: GeneratedValues['target'], settings: Settings): Path[] =>
  chartFor(target).rows.flatMap(({setting, paths}) =>
    settings.isExplicit(setting) ? [...paths] : [],
  );

const metadataOf = (settings: Settings): SecretMetadata => ({
  labels: settings.get(secretLabel) ?? {},
  annotations: settings.get(secretAnnotation) ?? {},
});

const tokenSecretOf = (settings: Settings, made: AccountToken | undefined): DesiredSecret => ({
  name: settings.get(tokenSecret) as string,
  type: 'Opaque',
  metadata: metadataOf(settings),
  ...(made === undefined ? {} : {annotations: accountAnnotations(made)}),
  data: {[settings.get(tokenSecretKey) as string]: settings.get(token) ?? settings.get(tokenFile)},
  howToGive: HOW_TO_GIVE_TOKEN,
  setting: tokenSecret,
});

function clientCertificateOf(settings: Settings): DesiredSecret[] {
  const name = settings.get(clientCertSecret);
  if (name === undefined) return [];
  return [
    {
      name,
      type: 'kubernetes.io/tls',
      metadata: metadataOf(settings),
      data: {'tls.crt': settings.get(clientCertFile), 'tls.key': settings.get(clientKeyFile)},
      howToGive: changing`Set the client certificate with ${clientCertFile} and ${clientKeyFile}, or use an existing Secret with ${clientCertSecret}`,
      setting: clientCertSecret,
    },
  ];
}

/** What a chart is rendered with. */
type ChartInput = Pick<DesiredRelease, 'name' | 'chart' | 'yaml'>;

/** Renders the chart with the user's own helm, and checks its objects against the settings. @throws ExpectedError */
export async function renderChart(
  {name, chart, yaml}: ChartInput,
  {serverVersion}: Pick<InstallFacts, 'serverVersion'>,
  get: Get,
  processes: Pick<Processes, 'run'>,
): Promise<KubernetesObject[]> {
  const call = template(name, chart, yaml, serverVersion);
  const outcome = await processes.run(call);
  if (outcome.exitCode !== 0) throw toolFailure(call, outcome);
  const manifest = objectsIn(outcome.stdout);
  requireSameChart(manifest, chart);
  const problems = [
    ...droppedValues(outcome.stderr).map((line) => `Helm drops a value: ${line}`),
    ...renderMismatches(manifest, get),
  ];
  if (problems.length > 0) {
    throw failed(
      'RENDER_MISMATCH',
      `The rendered chart does not match the settings:\n${problems.join('\n')}`,
      [
        'Nothing was changed. Correct the value if you set it yourself, for example with --set',
        'Otherwise, report this bug with the output of: scalr-agent values --explain',
      ],
    );
  }
  return manifest;
}

/** A directory or an archive may hold another chart or version. @throws ExpectedError */
function requireSameChart(
  manifest: readonly KubernetesObject[],
  {chart, version, source}: ChartReference,
): void {
  const desired = `${chart}-${version}`;
  const labels = manifest.flatMap(({metadata}) => metadata?.labels?.['helm.sh/chart'] ?? []);
  // A chart can have dependencies with labels of their own.
  const found = labels.filter((label) => CHART_NAMES.some((name) => label.startsWith(`${name}-`)));
  const isSame = found.length === 0 || found.includes(desired.replace('+', '_'));
  if (source === undefined || isSame) return;
  throw failed(
    'CONFLICTING_SETTINGS',
    `--chart-source contains ${found[0]}, but the values are for ${desired}.`,
    [`Set --chart-source to ${desired}`],
  );
}

export interface RenderedChart {
  manifest: Fact<readonly KubernetesObject[]>;
  /** Helm's message if this server is too old for the chart; the manifest is then rendered for a newer version. */
  refusal?: string;
}

/** The manifest for this server; for the oldest one that the chart supports where this one is older, as other checks need a manifest. */
export async function renderManifest(
  desired: ChartInput,
  serverVersion: string | undefined,
  get: Get,
  processes: Pick<Processes, 'run'>,
): Promise<RenderedChart> {
  const on = (version: string): Promise<RenderedChart | ExpectedError> =>
    renderChart(desired, {serverVersion: version}, get, processes)
      .then((manifest) => ({manifest: known(manifest, RENDERED_BY)}))
      .catch(onFailure((failure) => failure));
  const first = await on(serverVersion ?? '');
  if (!(first instanceof ExpectedError)) return first;
  const stderr = first instanceof ToolFailure ? first.outcome.stderr : '';
  const floor = FLOOR.exec(stderr)?.[1];
  const second = floor === undefined ? first : await on(floor);
  if (second instanceof ExpectedError) {
    const isTimedOut = second instanceof ToolFailure && second.outcome.isTimedOut === true;
    return {manifest: unknown(isTimedOut ? 'timed-out' : 'failed', second.message)};
  }
  // Without a server version helm used its own default, so its error does not apply to this cluster.
  return serverVersion === undefined ? second : {...second, refusal: first.message};
}

/** chart requires kubeVersion: >=1.35.0-0 which is incompatible with Kubernetes v1.34.1 */
const FLOOR = /requires kubeVersion: [^\n]*?>=\s*v?(\d+\.\d+(?:\.\d+)?)[^\n]* incompatible with/;

export const RENDERED_BY = 'helm template';

const IMAGE = /^[\w.-]+(:\d+)?(\/[\w.-]+)*(:[\w][\w.-]{0,127})?(@sha256:[0-9a-f]{64})?$/;

/** The only harmless warning of Helm: a list replaces the empty map that is the default of agent-job. */
const HARMLESS = /topologySpreadConstraints/;

/** Helm's warnings about values that it drops. */
export const droppedValues = (stderr: string): string[] =>
  stderr
    .split('\n')
    .filter(
      (line) =>
        /warning: (cannot overwrite|destination for|skipped value)/i.test(line) &&
        !HARMLESS.test(line),
    )
    .map((line) => line.replace(/^.*?warning: /i, '').trim());

/** Where the rendered chart contradicts the settings. Pure. */
export function renderMismatches(objects: readonly KubernetesObject[], get: Get): string[] {
  const containers = objects.flatMap(containersIn);
  const has = (kind: string): boolean => objects.some((object) => object.kind === kind);
  return [
    ...containers.flatMap(({name, env}) => {
      const names = (env ?? []).map((each) => each.name);
      return names
        .filter((each, index) => names.indexOf(each) !== index)
        .map((each) => `Container ${name} sets ${each} twice.`);
    }),
    ...containers.flatMap(({name, image = ''}) =>
      IMAGE.test(image) ? [] : [`Invalid image reference in container ${name}: ${image}`],
    ),
    ...(get(metadataService) === 'block' && !has('NetworkPolicy')
      ? ['The chart creates no NetworkPolicy to block the metadata service.']
      : []),
    ...(get(cache) === 'pvc' && !has('PersistentVolumeClaim')
      ? ['The chart creates no PVC for the cache.']
      : []),
  ];
}

/** Containers anywhere in an object, such as in the Job templates of custom resources. */
const containersIn = (object: KubernetesObject): Container[] =>
  pairsBelow(object as unknown as Tree).flatMap(([key, below]) =>
    (key === 'containers' || key === 'initContainers') && Array.isArray(below)
      ? (below as unknown as Container[])
      : [],
  );
