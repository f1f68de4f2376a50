import {policyMissesRuns, type Target} from '../charts/releases/target.ts';
import {hasKey, supports} from '../charts/support.ts';
import {type Amounts, amountsOf, MILLI_PER_UNIT} from '../checks/preflight/facts/amounts.ts';
import {type RequestedOn, roomOn} from '../checks/preflight/facts/node-load.ts';
import type {NodeCapacity} from '../cluster/platform/capacity.ts';
import {hostInToken} from '../ground/secret.ts';
import {url} from '../settings/agent.ts';
import {cloud} from '../settings/cluster.ts';
import type {Setting} from '../settings/define.ts';
import {milliOf} from '../settings/kinds/quantities.ts';
import {httpsProxy, metadataService, noProxy, workloadIdentity} from '../settings/network.ts';
import {controllerNodeSelector, nodeSelector} from '../settings/placement.ts';
import {concurrency, purpose} from '../settings/purpose.ts';
import {chart} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import {type Sizing, sizing} from '../values/sizing.ts';
import {type KnownFacts, requirementsOf} from './gathered-facts.ts';
import {allocatable, nodesOfRuns} from './node-room.ts';
import {hostOf} from './place.ts';
import {likelyTarget} from './possible-answers.ts';
import type {WizardState} from './wizard-state.ts';

/** What the wizard decides where nobody has, and why. */
interface Decision {
  setting: Setting;
  value: unknown;
  because?: string | undefined;
}

/** What support recommends as a start. */
const RUNS = 5;

/** The state with what the cluster answers and what the wizard decides; both count as answers of the cluster. */
export function decided(state: WizardState, known: KnownFacts): WizardState {
  const found = {...state, answers: state.answers.withCluster(known.cluster?.answers)};
  const answers = [...account(found, known), ...decisionsFor(found, known)].reduce(
    (all, {setting, value, because}) => all.with(setting, {value, source: 'cluster', because}),
    found.answers,
  );
  return {...found, answers};
}

/** The Scalr URL in the token of the chosen Secret. */
export const hostHeld = ({held}: KnownFacts): string | undefined =>
  held?.token && hostInToken(held.token);

/** A pasted token answers this itself. */
const account = ({answers}: WizardState, known: KnownFacts): Decision[] => {
  const value = hostHeld(known);
  return value === undefined || answers.get(url) !== undefined
    ? []
    : [{setting: url, value, because: 'from the token'}];
};

/** The decisions for a new install, or for another chart; an installed release keeps what it has. */
function decisionsFor(state: WizardState, known: KnownFacts): Decision[] {
  const target = likelyTarget(state, requirementsOf(known));
  const {answers, installed} = state;
  if (hostOf(state) !== undefined || target === undefined) return [];
  if (installed?.settings.get(chart.id) === target.chart) return [];
  const decisions = [
    ...proxyOf(known),
    ...placement(known),
    ...(answers.get(purpose) === 'runs' ? [runs(target, state, known)] : []),
    ...(answers.get(purpose) === 'runs' ? [metadata(target, state, known)] : []),
  ];
  return decisions.filter(
    (each): each is Decision =>
      each !== undefined &&
      answers.answer(each.setting) === undefined &&
      supports(target, each.setting, settingsWith(answers.unchecked(), each)),
  );
}

const settingsWith = (settings: Settings, {setting, value}: Decision): Settings =>
  settings.with(setting, {value, source: 'prompt'});

/** As many runs as take half of what the nodes offer and fit beside other pods, at most five. */
function runs(target: Target, state: WizardState, known: KnownFacts): Decision | undefined {
  if (!hasKey(target, concurrency)) return undefined;
  const nodes = nodesOfRuns(state, known);
  const oneRun = state.answers.unchecked().with(concurrency, {value: 1, source: 'prompt'});
  const request = sizing(oneRun, target.chart);
  const onNodes = nodes && reasonForRuns(request, nodes, known.requested);
  const {value, because} = onNodes ?? {value: RUNS};
  const allowed = roomInQuotas(request, known);
  if (allowed < 1 || allowed >= value) return {setting: concurrency, value, because};
  return {setting: concurrency, value: allowed, because: 'as many as the quota allows'};
}

/** How many pods with this request the quotas of the namespace allow. */
function roomInQuotas(
  {cpuRequested, memoryRequested, cpuLimit, memoryLimit}: Sizing,
  {objects}: KnownFacts,
): number {
  const {
    cpu = 0n,
    memory = 0n,
    ...limits
  } = amountsOf({
    cpu: cpuRequested,
    memory: memoryRequested,
    'limits.cpu': cpuLimit,
    'limits.memory': memoryLimit,
  });
  const needed: Amounts = {
    pods: MILLI_PER_UNIT,
    cpu,
    memory,
    'requests.cpu': cpu,
    'requests.memory': memory,
    ...limits,
  };
  const rooms = (objects?.quotas ?? []).flatMap((left) =>
    Object.entries(needed).flatMap(([key, each]) =>
      left[key] === undefined || each === 0n ? [] : [Number(left[key] / each)],
    ),
  );
  return Math.min(Number.POSITIVE_INFINITY, ...rooms);
}

function reasonForRuns(
  {cpuRequested, memoryRequested}: Sizing,
  nodes: readonly NodeCapacity[],
  requested: RequestedOn = new Map(),
): {value: number; because?: string} {
  const request = {cpu: milliOf(cpuRequested) ?? 0n, memory: milliOf(memoryRequested) ?? 0n};
  const halves = Object.entries(request)
    .filter(([, milli]) => milli > 0n)
    .map(([resource, milli]) => Number(allocatable(nodes, resource) / 2n / milli));
  const room = Number(roomOn(nodes, request, requested));
  const value = Math.max(1, Math.min(RUNS, room, ...halves));
  if (value === RUNS || room === 0) return {value};
  return {value, because: room <= value ? 'as many as fit' : 'half of what the nodes offer'};
}

/** Where nodes have an identity, runs must not get it, unless their own identity or DNS needs the same address. */
function metadata(
  target: Target,
  {answers}: WizardState,
  {cluster}: KnownFacts,
): Decision | undefined {
  const platform = answers.get(cloud);
  if (platform === undefined || platform === 'other') return undefined;
  const allowed = (because: string) => ({setting: metadataService, value: 'allow', because});
  if (policyMissesRuns(target)) return allowed(`${target.chart} cannot block it for runs`);
  if (answers.get(workloadIdentity) === 'gke') return allowed('GKE identity needs it');
  if (platform.startsWith('gke') && cluster?.usesMetadataDns !== false)
    return allowed('Cloud DNS may use its address');
  return {setting: metadataService, value: 'block', because: 'protects the node identity'};
}

/** The images are for Linux. */
const placement = ({cluster}: KnownFacts): Decision[] =>
  cluster?.hasWindows
    ? [nodeSelector, controllerNodeSelector].map((setting) => ({
        setting,
        value: {'kubernetes.io/os': 'linux'},
        because: 'the cluster has Windows nodes',
      }))
    : [];

/** The proxy that the cluster itself uses. */
function proxyOf({objects}: KnownFacts): Decision[] {
  const {proxy} = objects ?? {};
  if (proxy === undefined) return [];
  const because = 'the proxy of this OpenShift cluster';
  return [
    {setting: httpsProxy, value: proxy.https, because},
    {setting: noProxy, value: proxy.bypass, because},
  ];
}
