import {describe, expect, test} from 'vitest';
import {
  type Check,
  type CheckDocument,
  runChecks,
} from '../../../../src/checks/preflight/checks/check.ts';
import type {PreflightContext} from '../../../../src/checks/preflight/facts/context.ts';
import {catalog} from '../../../../src/settings/catalog.ts';
import type {FakeCluster} from '../../../cluster/platform/fake-cluster.ts';
import type {RawFlags} from '../../../support/settings-from.ts';
import {preflightContext, saidBy} from '../context.ts';
import {shown} from '../shown.ts';
import {factsRead, withUnknown} from './unreadable-facts.ts';

export interface Case {
  id: string;
  /** `nothing` where the check has nothing to look at. */
  is: CheckDocument['status'] | 'nothing';
  /** What is special about it. */
  when: string;
  flags?: RawFlags;
  cluster?: FakeCluster;
  but?: Partial<PreflightContext>;
}

const SETTINGS_TELL_NODES = {
  manifest: 'the settings have a node selector and tolerations too',
};

/** Facts that a check can do without, with the reason. */
const OPTIONAL: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'host-path': {manifest: 'the settings tell whether node directories are mounted'},
  'workload-identity': SETTINGS_TELL_NODES,
  'metadata-identity': SETTINGS_TELL_NODES,
  'node-versions': SETTINGS_TELL_NODES,
  'node-architecture': SETTINGS_TELL_NODES,
  'lasting-nodes': SETTINGS_TELL_NODES,
  quota: {'readings.resources': 'only tells the plural of custom kinds'},
};

/** Every case, with what operators read in a file of its own; and that every check passes, objects and steps back somewhere. */
export function prove(group: string, checks: readonly Check[], cases: readonly Case[]): void {
  const contextOf = ({flags, cluster, but}: Case) => preflightContext(flags, cluster, but);
  const said = async (each: Case): Promise<string> =>
    saidBy(checks, each.id, await contextOf(each)) ?? 'nothing';
  const shownBy = async (each: Case): Promise<string> =>
    shown(runChecks([checkOf(each)], await contextOf(each))[0]);
  const checkOf = ({id}: Case): Check => checks.find((each) => each.id === id) as Check;

  describe(group, () => {
    test.each(cases)('$id: $is when $when', async (each) => {
      expect((await said(each)).split(':')[0]).toBe(each.is);
    });

    test('what is said', async () => {
      const lines = await Promise.all(
        cases.map(async (each) => `${each.id}, ${each.when}\n${await shownBy(each)}`),
      );
      await expect(lines.join('\n')).toMatchFileSnapshot(`messages/${group}.txt`);
    });

    test.each(checks.map(({id}) => id))('%s passes, warns or fails, and is skipped', (id) => {
      const statuses = new Set(
        cases.filter((each) => each.id === id).map(({is}) => (is === 'fail' ? 'warn' : is)),
      );
      expect([...statuses].filter((is) => is !== 'nothing').toSorted()).toEqual([
        'pass',
        'skip',
        'warn',
      ]);
    });

    test.each(cases)('$id is unknown when a fact cannot be read: $when', async (each) => {
      const context = await contextOf(each);
      const check = checkOf(each);
      const [before] = runChecks([check], context);
      if (before === undefined || before.verdict === 'unknown') return;
      const silent = factsRead(context, (tracked) => check.run(tracked))
        .filter((path) => OPTIONAL[each.id]?.[path] === undefined)
        .filter((path) => {
          const verdict = check.run(withUnknown(context, path))?.verdict ?? 'silence';
          return !['unknown', 'warning', 'error'].includes(verdict);
        });
      expect(silent).toEqual([]);
    });

    test.each(cases)('$id names settings as data, not as flags: $when', async (each) => {
      const [found] = runChecks([checkOf(each)], await contextOf(each)).filter(
        ({verdict}) => verdict !== 'passed',
      );
      const namesFlag = (text: string): boolean =>
        catalog.some(({id}) =>
          new RegExp(`^(?!.*(kubectl|oc|helm|scalr-agent) ).*--${id}(?![\\w-])`).test(text),
        );
      const texts = (found?.remedies ?? []).flatMap(({text, parts = [text]}) =>
        parts.filter((part) => typeof part === 'string'),
      );
      expect([found?.message ?? '', ...texts].filter(namesFlag)).toEqual([]);
    });
  });
}
