import {mkdtemp, rm} from 'node:fs/promises';
import {devNull, tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {afterAll, beforeAll, expect, test} from 'vitest';
import type {ChartName} from '../../../src/charts/releases/chart-name.ts';
import type {Target} from '../../../src/charts/releases/target.ts';
import {newestOf} from '../../../src/charts/releases/target.ts';
import {valuesDocument} from '../../../src/values/document.ts';
import {generateChecked} from '../../../src/values/validate/validate.ts';
import {settingsFrom} from '../../support/settings-from.ts';
import {directoryOf} from './charts-under-test.ts';
import {findHelm} from './find-helm.ts';

/** `--set` examples of the chart READMEs; `helm` is the argument after shell quoting, if different. */
interface Assignments {
  chart: ChartName;
  set: readonly string[];
  helm?: readonly string[];
}

const taint = (key: string): string =>
  `${key}[0].operator=Equal,${key}[0].effect=NoSchedule,${key}[0].key=dedicated,${key}[0].value=scalr-agent-worker-pool`;

const CASES: readonly Assignments[] = [
  {chart: 'agent-k8s', set: [taint('workerTolerations')]},
  {chart: 'agent-k8s', set: [taint('controllerTolerations'), taint('workerTolerations')]},
  {chart: 'agent-k8s', set: ['controllerNodeSelector.kubernetes\\.io\\/hostname=node-1']},
  {
    chart: 'agent-k8s',
    set: ['workerNodeSelector."cloud\\\\.google\\\\.com\\\\/gke-nodepool"=pool-1'],
    helm: ['workerNodeSelector.cloud\\.google\\.com\\/gke-nodepool=pool-1'],
  },
  {
    chart: 'agent-k8s',
    set: ['workerNodeSelector."cloud.google.com/gke-nodepool"=pool-1'],
    helm: ['workerNodeSelector.cloud\\.google\\.com/gke-nodepool=pool-1'],
  },
  {
    chart: 'agent-k8s',
    set: [
      'agent.data_home=/var/lib/scalr,restrictMetadataService=true,resources.requests.cpu=500m',
    ],
  },
  {chart: 'agent-k8s', set: ['efsVolumeHandle=fs-582a03f3::fsap-01e050b7d9a3109d5']},
  {chart: 'agent-local', set: ['replicaCount=3,resources.limits.memory=4Gi']},
  {
    chart: 'agent-local',
    set: ['tolerations[0].key=a,tolerations[0].operator=Exists', 'tolerations[1].operator=Exists'],
  },
  {chart: 'agent-local', set: ['extraEnv.TF_LOG=DEBUG,extraEnv.LIST=a\\,b', 'extraEnv.NUMBER=007']},
  {
    chart: 'agent-local',
    set: ['podAnnotations.example\\.com/a=x y', 'podAnnotations."example\\.com/b"=yes'],
    helm: ['podAnnotations.example\\.com/a=x y', 'podAnnotations.example\\.com/b=yes'],
  },
  {
    chart: 'agent-job',
    set: ['agent.nodeSelector."node-type"=agent-controller'],
    helm: ['agent.nodeSelector.node-type=agent-controller'],
  },
  {chart: 'agent-job', set: [taint('task.tolerations'), taint('agent.tolerations')]},
  {
    chart: 'agent-job',
    set: [
      'task.runner.image.repository=registry.example.com/custom-runner',
      'task.runner.image.tag=v1.2.3',
    ],
  },
  {chart: 'agent-job', set: ['agent.debug=1,task.job.ttlSecondsAfterFinished=600']},
  {
    chart: 'agent-job',
    set: ['global.imagePullSecrets[0].name=a,global.imagePullSecrets[1].name=b'],
  },
  {
    chart: 'agent-job',
    set: [
      'task.extraVolumes[0].name=tools,task.extraVolumes[0].emptyDir.sizeLimit=1Gi',
      'task.runner.extraVolumeMounts[0].name=tools,task.runner.extraVolumeMounts[0].mountPath=/tools',
    ],
  },
  {
    chart: 'agent-job',
    set: [
      'task.sidecars[0].command={sleep,inf},task.sidecars[0].name=a,task.sidecars[0].image=b',
      'agent.replicaCount=2',
    ],
  },
];

let helm = '';
let scratch = '';
beforeAll(async () => {
  [{path: helm} = {path: ''}] = await findHelm();
  scratch = await mkdtemp(join(tmpdir(), 'set-as-helm-'));
}, 120_000);
afterAll(() => rm(scratch, {recursive: true, force: true}));

async function manifest(
  target: Target,
  values: string,
  assignments: readonly string[],
): Promise<string> {
  const args = [
    'template',
    'r',
    await directoryOf(target, scratch),
    '--kube-version',
    '1.35.4',
    '--values',
    '-',
  ];
  const env = {PATH: process.env['PATH'] ?? '', HOME: '/nowhere', KUBECONFIG: devNull};
  const {stdout} = await execa(helm, [...args, ...assignments.flatMap((each) => ['--set', each])], {
    input: values,
    extendEnv: false,
    env,
  });
  return stdout;
}

test.each(CASES)('$chart --set $set renders as with helm --set', {timeout: 60_000}, async ({
  chart,
  set,
  helm: shelled = set,
}) => {
  const target = {chart, version: newestOf(chart)};
  const flags = {url: 'https://acme.scalr.io', chart, 'chart-version': target.version};
  const plain = valuesDocument(generateChecked(await settingsFrom(flags)));
  const ours = valuesDocument(generateChecked(await settingsFrom({...flags, set})));
  const rendered = await manifest(target, ours, []);
  expect(rendered).toBe(await manifest(target, plain, shelled));
  expect(ours).not.toBe(plain);
});
