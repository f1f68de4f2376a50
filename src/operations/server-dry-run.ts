import {dryRunDelete} from '../cluster/kubernetes/dry-runs.ts';
import {groupVersionOf} from '../cluster/kubernetes/kinds.ts';
import {refText} from '../cluster/kubernetes/object-refs.ts';
import type {KubernetesObject} from '../cluster/kubernetes/objects.ts';
import {untriedBecause} from '../cluster/kubernetes/trial-objects.ts';
import type {Call} from '../ground/call.ts';
import type {ClusterTarget, ProcessResult} from '../ground/command-line.ts';
import type {ExpectedError} from '../ground/errors.ts';
import {type SettingFinding, warningOf} from '../ground/finding.ts';
import type {Processes} from '../ground/system/system.ts';
import {groupsOf, sentences} from '../ground/text.ts';
import {type ToolFailure, toolFailure} from '../ground/tool-errors.ts';
import {whileTemporary} from './repeat-call.ts';
import type {RemovedObject} from './step.ts';

/** One request that the API server validates without making the change. */
export interface Trial {
  /** For a person: Pod of Deployment scalr-agent */
  what: string;
  call: Call;
  /** Why a rejection says nothing about the plan; undefined if it does. */
  excuses?(stderr: string): string | undefined;
}

/** Several requests in one call; if it fails, each of them is made alone. */
export interface TrialBatch {
  call: Call;
  trials: readonly Trial[];
}

/** A request that could not be tried, and why. */
export interface NotChecked {
  what: string;
  reason: string;
}

type Run = Pick<Processes, 'run'>;

/** Tries all requests. Returns those that could not be tried. @throws ExpectedError that lists every rejected one */
export async function requireAccepted(
  batches: readonly TrialBatch[],
  processes: Run,
): Promise<NotChecked[]> {
  const verdicts = (await Promise.all(batches.map((each) => verdictsOn(each, processes)))).flat();
  const rejected = verdicts.filter((each): each is Rejected => 'failure' in each);
  if (rejected.length > 0) throw rejection(rejected);
  return verdicts.filter((each): each is NotChecked => 'reason' in each);
}

/** The same for deletions. Objects that do not exist count as deleted. @throws ExpectedError that lists every deletion that is rejected */
export const requireDeletable = (
  objects: readonly RemovedObject[],
  kubeTarget: ClusterTarget,
  processes: Run,
): Promise<NotChecked[]> => requireAccepted(deletionBatches(objects, kubeTarget), processes);

/** One batch per namespace, because kubectl accepts only objects of one. */
export function deletionBatches(
  objects: readonly RemovedObject[],
  kubeTarget: ClusterTarget,
): TrialBatch[] {
  const unique = [...new Map(objects.map((each) => [JSON.stringify(each), each])).values()];
  return groupsOf(unique, ({namespace = kubeTarget.namespace}) => namespace).map((group) => {
    const target = {...kubeTarget, namespace: group[0].namespace ?? kubeTarget.namespace};
    return {
      call: dryRunDelete(target, group.map(manifestOf)),
      trials: group.map((each) => ({
        what: `Deletion of ${refText(each)}`,
        call: dryRunDelete(target, [manifestOf(each)]),
        excuses: (stderr) => (NO_SUCH_KIND.test(stderr) ? '' : undefined),
      })),
    };
  });
}

const manifestOf = ({kind, name, namespace, groupVersion}: RemovedObject): KubernetesObject => ({
  apiVersion: groupVersion ?? groupVersionOf(kind),
  kind,
  metadata: namespace === undefined ? {name} : {name, namespace},
});

/** Without its CRD, no object of the kind exists. */
const NO_SUCH_KIND = /no matches for kind/;

/** For --json and before the confirmation. */
export const notCheckedWarnings = (notChecked: readonly NotChecked[]): SettingFinding[] =>
  groupsOf(notChecked, ({reason}) => reason).map((same) =>
    warningOf(
      'NOT_CHECKED',
      `Not checked with a dry run: ${same.map(({what}) => what).join(', ')} (${same[0].reason}).`,
    ),
  );

interface Rejected {
  what: string;
  failure: ToolFailure;
}

type Verdict = {what: string} | NotChecked | Rejected;

async function verdictsOn({call, trials}: TrialBatch, processes: Run): Promise<Verdict[]> {
  const outcome = await attempt(call, processes);
  if (outcome.exitCode === 0) return trials.map(({what}) => ({what}));
  const [only] = trials;
  if (only !== undefined && trials.length === 1) return verdictOn(only, outcome);
  const verdicts: Verdict[] = [];
  for (const trial of trials)
    verdicts.push(...verdictOn(trial, await attempt(trial.call, processes)));
  return verdicts;
}

const attempt = (call: Call, processes: Run): Promise<ProcessResult> =>
  whileTemporary(() => processes.run(call), {signal: new AbortController().signal});

function verdictOn({what, call, excuses}: Trial, outcome: ProcessResult): Verdict[] {
  if (outcome.exitCode === 0) return [{what}];
  const excuse = excuses?.(outcome.stderr) ?? untriedBecause(outcome.stderr);
  if (excuse === '') return [{what}];
  return [
    excuse === undefined ? {what, failure: toolFailure(call, outcome)} : {what, reason: excuse},
  ];
}

/** What kubectl puts before the message of the API server. */
const PREFIX = /^(?:Error from server(?: \(\w+\))?: )?(?:error when \w+ "STDIN": )?/;

function rejection(rejected: readonly Rejected[]): ExpectedError {
  const temporary = rejected.find(({failure}) => failure.code === 'CLUSTER_UNREACHABLE')?.failure;
  if (temporary !== undefined)
    return temporary.with(
      sentences(temporary.message, 'Nothing was changed.'),
      temporary.suggestions,
    );
  const lines = rejected.map(
    ({what, failure}) => `× ${what}: ${failure.reason.replace(PREFIX, '')}`,
  );
  const [first] = rejected.map(({failure}) => failure) as [ToolFailure];
  return first.with(
    ['The API server rejected the plan. Nothing was changed.', ...lines].join('\n'),
    [...new Set(rejected.flatMap(({failure}) => failure.suggestions))],
  );
}
