import {policyMissesRuns} from '../charts/releases/target.ts';
import type {Choice} from '../ground/system/system.ts';
import {count} from '../ground/text.ts';
import {token, tokenSecret} from '../settings/agent.ts';
import {cacheClaim, cacheStorageClass} from '../settings/cache.ts';
import {catalog} from '../settings/catalog.ts';
import {allowClearText} from '../settings/chart-values.ts';
import type {Setting} from '../settings/define.ts';
import {serviceAccountName} from '../settings/identity.ts';
import {metadataService, workloadIdentity} from '../settings/network.ts';
import {nodeSelector, toleration} from '../settings/placement.ts';
import {concurrency} from '../settings/purpose.ts';
import {type Answer, Settings} from '../settings/settings.ts';
import {sizing} from '../values/sizing.ts';
import {type AskOptions, ask} from './ask.ts';
import {CHART_MEANINGS} from './ask-chart.ts';
import {workloadIdentityOf} from './ask-role.ts';
import type {Asking} from './asking.ts';
import {CONSENT_QUESTION, needsConsent} from './clear-text.ts';
import {decided} from './decisions.ts';
import {type KnownFacts, requirementsOf} from './gathered-facts.ts';
import {ofMachine} from './machine-proxy.ts';
import {freeText, nodesOfRuns} from './node-room.ts';
import {hostOf} from './place.ts';
import {
  chartDefaultOf,
  defaultWord,
  emptyOnHost,
  hostWording,
  likelyTarget,
  whyExcluded,
} from './possible-answers.ts';
import type {Reply} from './reply.ts';
import {questionFor} from './setting-questions.ts';
import {classChoices, defaultClassRow, whyNotInCluster} from './shared-cache.ts';
import type {WizardState} from './wizard-state.ts';

/** Asks for one setting of the catalog. */
export async function askSetting(id: string, asking: Asking): Promise<Reply> {
  const {state, known, deps} = asking;
  const setting = catalog.find((each) => each.id === id) as Setting;
  const view = decided(state, known);
  const options = optionsOf(setting, view, asking);
  const {hides} = questionFor(setting);
  const askOnce = (): Promise<Answer | undefined> =>
    ask(hostWording(view, setting), options, view.answers.get, {
      ...deps,
      hidesExcluded: hostOf(state) !== undefined,
      isHidden: (value) => hides?.(value, view.answers.get) ?? false,
      whyExcluded: (of, value) =>
        whyNotInCluster(of, value, view, known) ??
        whyExcluded(of, value, view, requirementsOf(known)),
      offers: (of) => offersFor(of, view, known),
      consequence: (of, value) => consequenceOf(of, value, view, known),
    });
  let answer = await askOnce();
  let agrees = false;
  while (needsConsent(answer, state) && !agrees) {
    agrees = await deps.prompter.confirm(CONSENT_QUESTION);
    if (!agrees) answer = await askOnce();
  }
  // A secret is not shown, so an empty answer keeps it.
  const isKept = answer === undefined && setting.kind.isSecret === true;
  // It has a token already.
  const isExisting = id === tokenSecret.id && isOtherSecret(answer, asking);
  return {
    question: id,
    alsoAsked: isExisting ? [token.id] : [],
    answers: [
      ...(isKept ? [] : [[setting, answer] as const]),
      ...(isExisting ? [[token as Setting, undefined] as const] : []),
      ...(agrees ? [[allowClearText, {value: true, source: 'prompt'}] as const] : []),
    ],
  };
}

const isOtherSecret = (answer: Answer | undefined, {state, known}: Asking): boolean =>
  answer?.value !== state.answers.get(tokenSecret) &&
  (known.objects?.secrets ?? []).some((name) => name === answer?.value);

const WHERE_TOKEN = 'In Scalr: account → Agent pools → your pool → Add agent.';
const poolProblem = ({pools}: KnownFacts): string[] =>
  pools?.problem === undefined
    ? []
    : [`The agent pools of ${pools.host} cannot be read: ${pools.problem}`];

const COMPLETE = 'The user name and password were not saved: replace the placeholders.';

/** How to ask: the default, the preselected row and the answer to edit. */
function optionsOf(
  setting: Setting,
  view: WizardState,
  {state, known, frame, deps}: Asking,
): AskOptions {
  const {orElse, hasChartDefault, suggested, example, meaning} = questionFor(setting);
  const machine = ofMachine(setting, view, deps.env);
  const kept = state.missingSecrets.get(setting.id);
  const isSame = machine !== undefined && setting.kind.format(machine.value)[0] === kept;
  const draft = isSame ? undefined : kept;
  const sizes = setting === (concurrency as Setting) ? sizeNote(view, known) : undefined;
  return {
    ...frame,
    heading: [
      ...frame.heading,
      ...(setting === (token as Setting) ? [...poolProblem(known), WHERE_TOKEN] : []),
      ...(sizes ? [sizes] : []),
      ...(draft ? [COMPLETE] : []),
    ],
    orElse: orElse ?? (hasChartDefault ? 'Chart default' : undefined),
    suggested: suggestionFor(setting, view, known) ?? suggested,
    ...(hostOf(view) === undefined ? {} : emptyOnHost(setting)),
    ...(setting === (cacheStorageClass as Setting) ? defaultClassRow(view, known) : {}),
    byDefault: hasChartDefault ? chartDefaultOf(setting, view, requirementsOf(known)) : undefined,
    defaultOf: defaultWord(view),
    current: draft ? view.answers.answer(setting) : (machine ?? currentOf(setting, view)),
    draft: draft ?? recommendedFor(setting, state),
    example,
    meaning,
  };
}

/** A recommended part of a list is no answer. */
const recommendedFor = ({id, kind}: Setting, {opened}: WizardState): string | undefined =>
  opened?.questions[0] === id && kind.list === undefined ? opened.recommended : undefined;

const currentOf = (setting: Setting, view: WizardState): Answer | undefined =>
  view.answers.answer(setting) ??
  (setting === (workloadIdentity as Setting)
    ? {value: workloadIdentityOf(view), source: 'prompt'}
    : undefined);

/** Values that exist in the cluster. */
function offersFor(setting: Setting, view: WizardState, known: KnownFacts): readonly Choice[] {
  const {claims = [], secrets = [], serviceAccounts = []} = known.objects ?? {};
  const named = (name: string): Choice => ({value: name, label: name});
  if (setting === (cacheStorageClass as Setting)) return classChoices(view, known);
  if (setting === (cacheClaim as Setting))
    return claims
      .toSorted(sharedFirst)
      .map((each) => ({...each, value: each.name, label: each.name}));
  if (setting === (nodeSelector as Setting)) return poolChoices(known);
  if (setting === (toleration as Setting)) return taintChoices(known);
  if (setting === (tokenSecret as Setting)) return secrets.map(named);
  if (setting === (serviceAccountName as Setting)) return serviceAccounts.map(named);
  return [];
}

const SHARED = /ReadWriteMany/;

const sharedFirst = (one: {description: string}, other: {description: string}): number =>
  Number(SHARED.test(other.description)) - Number(SHARED.test(one.description));

const poolChoices = ({cluster}: KnownFacts): Choice[] =>
  (cluster?.nodePools ?? []).map(({label, nodes, taints}) => ({
    value: label,
    label,
    description: [count(nodes, 'node'), ...taints.map((each) => `taint ${each}`)].join(', '),
  }));

function taintChoices({cluster}: KnownFacts): Choice[] {
  const pools = cluster?.nodePools ?? [];
  return [...new Set(pools.flatMap(({taints}) => taints))].map((taint) => ({
    value: taint,
    label: taint,
    description: `pool ${pools
      .filter(({taints}) => taints.includes(taint))
      .map(({name}) => name)
      .join(', ')}`,
  }));
}

/** An installed release keeps what it has, until the user chooses something else. */
const suggestionFor = (
  setting: Setting,
  view: WizardState,
  known: KnownFacts,
): string | undefined => {
  if (setting === (toleration as Setting)) return taintOfPool(view, known);
  const today =
    view.installed === undefined ? undefined : chartDefaultOf(setting, view, requirementsOf(known));
  return today === undefined ? undefined : setting.kind.format(today)[0];
};

/** The taint of the node pool that the node selector selects. */
function taintOfPool({answers}: WizardState, {cluster}: KnownFacts): string | undefined {
  const selected = Object.entries(answers.get(nodeSelector) ?? {}).map((pair) => pair.join('='));
  return cluster?.nodePools.find(({label}) => selected.includes(label))?.taints[0];
}

/** What else a value changes, or what it does not do: another chart, or runs that a policy misses. */
function consequenceOf(
  setting: Setting,
  value: unknown,
  view: WizardState,
  known: KnownFacts,
): string | undefined {
  const facts = requirementsOf(known);
  const now = likelyTarget(view, facts);
  if (setting === (metadataService as Setting) && value === 'block')
    return now && policyMissesRuns(now) ? `${now.chart} blocks it for the agent only` : undefined;
  const answers = view.answers.with(setting, {value, source: 'prompt'});
  const after = likelyTarget({...view, answers}, facts)?.chart;
  return after === undefined || after === now?.chart
    ? undefined
    : `changes the chart to ${after}: ${CHART_MEANINGS[after]}`;
}

/** What one run requests, and what the nodes offer. */
function sizeNote(view: WizardState, known: KnownFacts): string | undefined {
  const target = likelyTarget(view, requirementsOf(known));
  if (target === undefined) return undefined;
  const one = new Settings(new Map([[concurrency.id, {value: 1, source: 'default'}]]));
  const {cpuRequested, memoryRequested} = sizing(one, target.chart);
  const run = `One run reserves ${cpuRequested} CPU and ${memoryRequested} memory.`;
  return [run, nodesText(view, known)].filter(Boolean).join(' ');
}

function nodesText(view: WizardState, known: KnownFacts): string | undefined {
  const addsNodes = known.cluster?.addsNodes;
  if (addsNodes !== undefined) return `${addsNodes}.`;
  const nodes = nodesOfRuns(view, known);
  if (nodes === undefined) return undefined;
  if (nodes.length === 0) return 'No node is ready now.';
  const who = nodes.length === 1 ? 'The node has' : `The ${nodes.length} nodes have`;
  const {cpu, memory, isFree} = freeText(nodes, known.requested);
  return `${who} ${cpu} CPU and ${memory} ${isFree ? 'free' : 'in total'}.`;
}
