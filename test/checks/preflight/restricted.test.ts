import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {afterAll, expect, test} from 'vitest';
import {within} from '../../../src/charts/releases/versions.ts';
import {RESTRICTED, violations} from '../../../src/checks/preflight/checks/namespace.ts';
import {objectsIn} from '../../../src/cluster/helm/release-record.ts';
import {podSpecs} from '../../../src/cluster/kubernetes/pod-specs.ts';
import {directoryOf, REAL, targets} from '../../cluster/helm/charts-under-test.ts';
import {findHelm} from '../../cluster/helm/find-helm.ts';

const scratch = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
afterAll(() => rmSync(scratch, {recursive: true, force: true}));
const [{path: helm} = {path: 'helm'}] = await findHelm();

/** The options as helm takes them: lists in JSON have a flag of their own there. */
const helmOptions = (options: readonly string[]): string[] =>
  options.flatMap((each) => {
    const assignment = each.replace(/^--set /, '').replaceAll("'", '');
    return [assignment.includes('[') ? '--set-json' : '--set', assignment];
  });

const cases = targets.flatMap((target) =>
  RESTRICTED.filter((row) => row.chart === target.chart && within(target.version, row.in)).map(
    (row) => ({
      ...target,
      options: row.options,
    }),
  ),
);

// The stand-ins render no security context of the worker.
test.skipIf(REAL === undefined).each(cases)(
  '$chart $version keeps the level restricted with the options that preflight offers',
  async (target) => {
    const own = ['--set', 'agent.url=https://acme.scalr.io,agent.tokenExistingSecret.name=x'];
    const argv = [
      'template',
      'scalr-agent',
      await directoryOf(target, scratch),
      '--kube-version',
      '1.36.0',
      ...own,
    ];
    const found = async (options: readonly string[]): Promise<string[]> => {
      const {stdout} = await execa(helm, [...argv, ...helmOptions(options)]);
      return objectsIn(stdout)
        .flatMap(podSpecs)
        .flatMap((pod) => violations(pod, 'restricted'));
    };
    expect(await found(target.options)).toEqual([]);
    expect(await found([])).not.toEqual([]);
  },
);
