import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, expect, test} from 'vitest';
import {checkDocument, runChecks} from '../../../src/checks/preflight/checks/check.ts';
import type {PreflightContext} from '../../../src/checks/preflight/facts/context.ts';
import {CHECKS} from '../../../src/checks/preflight/run-preflight.ts';
import type {KubernetesObject} from '../../../src/cluster/kubernetes/objects.ts';
import {known} from '../../../src/ground/fact.ts';
import {
  desired,
  node,
  ORDINARY,
  preflightContext,
  withNodes,
} from '../../checks/preflight/context.ts';
import type {RawFlags} from '../../support/settings-from.ts';
import {directoryOf} from './charts-under-test.ts';
import {findHelm} from './find-helm.ts';
import {render} from './render.ts';

const [helm] = await findHelm();
const scratch = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
afterAll(() => rmSync(scratch, {recursive: true, force: true}));

const summary = (about: PreflightContext): string[] =>
  runChecks(CHECKS, about)
    .map(checkDocument)
    .map(({id, status}) => `${id}: ${status}`);

const NODES = withNodes(
  node('one', {
    labels: {pool: 'runs'},
    taints: [{key: 'dedicated', value: 'ci', effect: 'NoSchedule'}],
  }),
  node('two'),
  node('win', {os: 'windows'}),
);

const CASES: readonly [flags: RawFlags, cluster?: typeof ORDINARY][] = [
  [{}],
  [{chart: 'agent-k8s'}],
  [{chart: 'agent-local'}],
  [{'node-selector': ['pool=runs']}, NODES],
  [
    {
      'node-selector': ['pool=runs'],
      toleration: ['dedicated=ci:NoSchedule'],
      'controller-node-selector': ['pool=web'],
    },
    NODES,
  ],
  [{chart: 'agent-k8s', 'node-selector': ['kubernetes.io/os=linux']}, NODES],
  [{chart: 'agent-local', 'node-selector': ['pool=runs'], concurrency: '30'}, NODES],
  [{'run-cpu-request': '8', 'run-cpu-limit': '8', concurrency: '40'}],
  [{cache: 'pvc', 'cache-storage-class': 'azurefile-csi'}],
  [{cache: 'pvc', 'cache-storage-class': '-'}],
  [{chart: 'agent-local', cache: 'pvc'}],
  [{cache: 'existing-pvc', 'cache-claim': 'mine'}],
  [{cache: 'hostpath'}],
  [{chart: 'agent-k8s', cloud: 'eks', cache: 'efs', 'efs-handle': 'fs-0123456789abcdef0'}],
];

test.each(
  CASES,
)('gives the same check results for the rendered chart as in the tests of the checks: %o', async (flags, cluster = ORDINARY) => {
  if (helm === undefined) throw new Error('There is no helm.');
  const {generated} = await desired(flags, cluster);
  const {objects} = await render(helm, await directoryOf(generated.target, scratch), generated);
  const about = await preflightContext(flags, cluster);
  expect(
    summary({...about, manifest: known(objects as unknown as KubernetesObject[], 'helm template')}),
  ).toEqual(summary(about));
});
