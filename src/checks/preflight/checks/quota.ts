import {kubectlCommand} from '../../../ground/command-line.ts';
import {isKnown, isUnread, knownValue} from '../../../ground/fact.ts';
import {changing} from '../../../ground/finding.ts';
import {groupsOf} from '../../../ground/text.ts';
import {getAt} from '../../../ground/tree.ts';
import {set} from '../../../settings/chart-values.ts';
import {withValue} from '../../../settings/spelling.ts';
import {spellAmount} from '../facts/amounts.ts';
import type {PreflightContext} from '../facts/context.ts';
import {liveFact} from '../facts/live-objects.ts';
import {maxRuns, podGroups} from '../facts/pod-groups.ts';
import {fewerRuns} from './capacity.ts';
import {check} from './check.ts';
import {type CheckResult, fail, ifKnown, pass, unreadable, warn} from './check-result.ts';
import {type QuotaUsage, quotaUsage} from './quota-usage.ts';

export const quota = check('Namespace', 'quota', 'ResourceQuota', {
  ref: 'https://kubernetes.io/docs/concepts/policy/resource-quotas/',
  run: (context) =>
    ifKnown(context.live.quotas, 'list ResourceQuotas', (quotas): CheckResult => {
      const {limitRanges, pods} = context.live;
      if (quotas.length === 0)
        return pass(`${context.name.kubeTarget.namespace} has no ResourceQuota`);
      if (!isKnown(limitRanges)) return unreadable(limitRanges, 'list LimitRanges');
      if (!isKnown(pods)) return unreadable(pods, 'list pods');
      return ifKnown(podGroups(context), 'render the chart', (groups) => {
        const objects = knownValue(context.manifest) ?? [];
        const unread = objects.map((each) => liveFact(each, context)).find(isUnread);
        if (unread !== undefined) return unreadable(unread, 'read the objects of the release');
        const load = {objects, groups, pods: pods.value, ranges: limitRanges.value};
        return quotaResult(
          quotas.flatMap((each) => quotaUsage(each, load, context)),
          context,
        );
      });
    }),
});

function quotaResult(uses: readonly QuotaUsage[], context: PreflightContext): CheckResult {
  const needed = uses.filter(({need}) => need > 0n);
  const short = needed.filter(({need, free}) => need > free);
  if (short.length > 0) return tooSmall(short, context);
  const tight = uses
    .filter(({surge, need, free}) => surge > 0n && need + surge > free)
    .map((use) => ({...use, need: use.need + use.surge}));
  if (tight.length > 0) return tooSmallForUpdate(tight, context);
  return pass(
    needed.length > 0 ? usesText(needed) : 'No ResourceQuota applies to the objects of the install',
  );
}

const usesText = (uses: readonly QuotaUsage[]): string =>
  uses
    .map(({quota, key, free, hard, need}) => {
      const left = spellAmount(key, free > 0n ? free : 0n);
      return `${quota.metadata.name} has ${left} of ${spellAmount(key, hard)} ${key} left, required: ${spellAmount(key, need)}`;
    })
    .join('; ');

function tooSmall(short: readonly QuotaUsage[], context: PreflightContext): CheckResult {
  const runs = maxRuns(context);
  const possible = short
    .map(({free, fixed, perRun}) => (perRun === 0n || free < fixed ? 0n : (free - fixed) / perRun))
    .reduce((one, other) => (one < other ? one : other));
  const first =
    possible > 0n
      ? changing`${fewerRuns(context, possible)}, or increase the quota:`
      : {text: 'Increase the quota:'};
  return fail(
    `${usesText(short)}${runs > 1 ? ` for ${runs} concurrent runs` : ''}`,
    changing`${first}\n${raiseCommands(short, context).join('\n')}`,
  );
}

function tooSmallForUpdate(tight: readonly QuotaUsage[], context: PreflightContext): CheckResult {
  const isChoosable = getAt(context.values, ['strategy', 'type']) !== undefined;
  const first = isChoosable
    ? changing`Stop old pods first with ${withValue(set, 'strategy.type=Recreate')}, or increase the quota:`
    : {text: 'Increase the quota:'};
  return warn(
    `A rolling update starts new pods before it stops old ones: ${usesText(tight)}`,
    changing`${first}\n${raiseCommands(tight, context).join('\n')}`,
  );
}

/** Commands that increase the quotas to the required amounts. */
const raiseCommands = (
  uses: readonly QuotaUsage[],
  {name: {kubeTarget}}: PreflightContext,
): string[] =>
  groupsOf(uses, ({quota}) => quota.metadata.name).map((same) => {
    const hard = Object.fromEntries(
      same.map(({key, hard, free, need}) => [key, spellAmount(key, hard - free + need)]),
    );
    return kubectlCommand(
      kubeTarget,
      'patch',
      'resourcequota',
      same[0].quota.metadata.name,
      '--namespace',
      kubeTarget.namespace,
      '--type=merge',
      `--patch=${JSON.stringify({spec: {hard}})}`,
    );
  });
