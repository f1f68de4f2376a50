import {describe, expect, test} from 'vitest';
import type {Check} from '../../../../src/checks/preflight/checks/check.ts';
import type {CheckStatus} from '../../../../src/checks/preflight/checks/check-result.ts';
import type {PreflightContext} from '../../../../src/checks/preflight/facts/context.ts';
import type {FakeCluster} from '../../../cluster/platform/fake-cluster.ts';
import type {RawFlags} from '../../../support/settings-from.ts';
import {preflightContext, saidBy} from '../context.ts';

export interface Case {
  id: string;
  /** `nothing` where the check has nothing to look at. */
  is: CheckStatus | 'nothing';
  /** What is special about it. */
  when: string;
  flags?: RawFlags;
  cluster?: FakeCluster;
  but?: Partial<PreflightContext>;
}

/** Every case, with what operators read in a file of its own; and that every check passes, objects and steps back somewhere. */
export function prove(group: string, checks: readonly Check[], cases: readonly Case[]): void {
  const said = async ({id, flags, cluster, but}: Case): Promise<string> =>
    saidBy(checks, id, await preflightContext(flags, cluster, but)) ?? 'nothing';

  describe(group, () => {
    test.each(cases)('$id: $is when $when', async (each) => {
      expect((await said(each)).split(':')[0]).toBe(each.is);
    });

    test('what is said', async () => {
      const lines = await Promise.all(
        cases.map(async (each) => `${each.id}, ${each.when}\n  ${await said(each)}\n`),
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
  });
}
