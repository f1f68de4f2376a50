import {describe, expect, test} from 'vitest';
import type {KubernetesObject} from '../../src/cluster/kubernetes/objects.ts';
import {inventoryOf, runsIn} from '../../src/cluster/release/inventory.ts';
import type {InventoryReadings} from '../../src/cluster/release/inventory-readings.ts';
import {requireKnownRelease} from '../../src/cluster/release/managers.ts';
import type {Call} from '../../src/ground/call.ts';
import {argumentsOf} from '../../src/ground/call-arguments.ts';
import {removalText} from '../../src/operations/removal.ts';
import {
  planUninstall,
  requireOurChart,
  type UninstallPlan,
} from '../../src/operations/uninstall.ts';
import {PURGEABLE, type Purgeable, purgeOf} from '../../src/operations/uninstall-keeps.ts';
import {claim, node, object, ours, readings, volume, writer} from './uninstall-readings.ts';

const NAME = {release: 'agent', kubeTarget: {namespace: 'scalr'}};

const planned = (
  given: InventoryReadings,
  purge: readonly Purgeable[] = [],
  drain = true,
): UninstallPlan =>
  planUninstall(NAME, inventoryOf(given), {
    purge: new Set(purge),
    drain,
    drainTimeoutSeconds: 600,
    timeoutSeconds: 300,
  });

/** The whole plan for a reader. */
function text({plan, keeps, removals, warnings, needsConfirmation}: UninstallPlan): string {
  return [
    ...plan.steps.map(
      ({call, isDestructive}) =>
        `${isDestructive ? '!' : '-'} ${call.tool} ${argumentsOf(call).slice(0, -2).join(' ')}`,
    ),
    ...removals.map((each) => `gone: ${removalText(each)}`),
    ...keeps.map(({what, why, how}) => `stays: ${what}: ${why} [${how}]`),
    ...warnings.map((each) => `warning: ${each}`),
    `confirm: ${needsConfirmation}`,
  ].join('\n');
}
const ids = ({plan}: UninstallPlan): string[] => plan.steps.map(({id}) => id);
const kept = ({keeps}: UninstallPlan): string[] => keeps.map(({what, why}) => `${what}: ${why}`);

const withClaim = (policy = 'Delete', kept = false): Partial<InventoryReadings> => ({
  manifest: [object('Deployment', 'agent-main'), object('PersistentVolumeClaim', 'agent-cache')],
  objects: [claim('agent-cache', 'disk')],
  volumes: [volume('disk', policy, {kept})],
});

test('retains the volume of a PVC before Helm deletes the PVC, and reserves it for the next one', () => {
  expect(text(planned(readings('agent-local-0.6.5', withClaim())))).toMatchInlineSnapshot(`
    "- kubectl patch persistentvolume/disk --type=merge --patch={"metadata":{"labels":{"scalr.io/kept-for":"agent"}},"spec":{"persistentVolumeReclaimPolicy":"Retain"}} --request-timeout=15s
    - kubectl scale deployment/agent-main --replicas=0 --request-timeout=15s
    - kubectl wait --for=delete pod --selector=app.kubernetes.io/instance=agent,pod-template-hash --field-selector=status.phase!=Failed,status.phase!=Succeeded --timeout=600s
    - helm uninstall agent --debug
    - kubectl wait --for=delete pod --selector=app.kubernetes.io/instance=agent,app.kubernetes.io/component!=task --timeout=300s
    - kubectl wait --for=delete persistentvolumeclaim/agent-cache --timeout=300s
    - kubectl patch persistentvolume/disk --type=merge --patch={"spec":{"claimRef":{"uid":null,"resourceVersion":null}}} --request-timeout=15s
    gone: Release agent: Deployment agent-main, PersistentVolumeClaim agent-cache
    stays: PersistentVolume disk (20Gi) with the data of PVC agent-cache: Helm deletes the PVC; the next PVC of this name in the namespace is bound to the volume [scalr-agent uninstall --release agent --namespace scalr --purge=claims]
    warning: Runs inside agent-main are interrupted and killed after 30 s. To let them finish, unassign its agent pool from the workspaces in Scalr and wait.
    confirm: false"
  `);
});

test('deletes data with --purge=claims, after confirmation', () => {
  expect(
    text(planned(readings('agent-local-0.6.5', withClaim()), ['claims'])),
  ).toMatchInlineSnapshot(`
    "- kubectl scale deployment/agent-main --replicas=0 --request-timeout=15s
    - kubectl wait --for=delete pod --selector=app.kubernetes.io/instance=agent,pod-template-hash --field-selector=status.phase!=Failed,status.phase!=Succeeded --timeout=600s
    ! helm uninstall agent --debug
    - kubectl wait --for=delete pod --selector=app.kubernetes.io/instance=agent,app.kubernetes.io/component!=task --timeout=300s
    gone: Release agent: Deployment agent-main, PersistentVolumeClaim agent-cache
    gone: All data in PVC agent-cache (20Gi)
    warning: Runs inside agent-main are interrupted and killed after 30 s. To let them finish, unassign its agent pool from the workspaces in Scalr and wait.
    confirm: true"
  `);
});

describe('volumes', () => {
  test('with reclaim policy Retain are not changed', () => {
    const given = readings('agent-local-0.6.5', withClaim('Retain'));
    expect(ids(planned(given))).not.toContain('keep-volume/disk');
    expect(ids(planned(given))).toContain('reserve-volume/disk');
    expect(kept(planned(given, ['claims']))).toEqual([
      'PersistentVolume disk (20Gi) of PVC agent-cache: its reclaim policy is Retain, so its data remains; deleting the PersistentVolume does not delete the disk',
    ]);
    expect(planned(given, ['claims']).needsConfirmation).toBe(false);
  });

  test('that an earlier uninstall retained are deleted with --purge=claims, bound again or not', () => {
    const again = planned(readings('agent-local-0.6.5', withClaim('Retain', true)), ['claims']);
    expect(ids(again)[0]).toBe('release-volume/disk');
    const left = readings(undefined, {volumes: [volume('disk', 'Retain', {kept: true, uid: ''})]});
    expect(text(planned(left, ['claims']))).toMatchInlineSnapshot(`
      "! kubectl patch persistentvolume/disk --type=merge --patch={"metadata":{"resourceVersion":"7"},"spec":{"persistentVolumeReclaimPolicy":"Delete","claimRef":{"uid":"gone"}}} --request-timeout=15s
      gone: PersistentVolume disk with the data of PVC agent-cache
      confirm: true"
    `);
    expect(ids(planned(left))).toEqual([]);
    expect(kept(planned(left))).toEqual([
      'PersistentVolume disk (20Gi) with the data of PVC agent-cache: an earlier uninstall retained it',
    ]);
  });

  test('of an interrupted uninstall are reserved by the next one', () => {
    const left = readings(undefined, {volumes: [volume('disk', 'Retain', {kept: true})]});
    expect(ids(planned(left))).toEqual(['reserve-volume/disk']);
  });

  test('of another release or namespace, or without a PVC, are ignored', () => {
    const foreign = object('PersistentVolume', 'a', {
      metadata: {labels: {'scalr.io/kept-for': 'other'}},
      spec: {claimRef: {namespace: 'scalr'}},
    });
    const elsewhere = object('PersistentVolume', 'b', {
      metadata: {labels: {'scalr.io/kept-for': 'agent'}},
      spec: {claimRef: {namespace: 'x'}},
    });
    const plan = planned(
      readings(undefined, {volumes: [foreign, elsewhere, volume('c', 'Retain')]}),
      ['claims'],
    );
    expect(text(plan)).toBe('confirm: false');
  });

  test('that cannot be read are retained by their name in the PVC', () => {
    const plan = planned(readings('agent-local-0.6.5', {...withClaim(), volumes: undefined}));
    expect(ids(plan)[0]).toBe('keep-volume/disk');
  });

  test('of EFS are deleted as objects only', () => {
    const manifest = [
      object('PersistentVolume', 'agent-k8s-efs-pv'),
      object('PersistentVolumeClaim', 'agent-k8s-efs-claim'),
    ];
    const given = readings('agent-k8s-0.6.5', {
      manifest,
      objects: [claim('agent-k8s-efs-claim', 'agent-k8s-efs-pv')],
    });
    expect(ids(planned(given))).toEqual(['release', 'gone']);
    expect(kept(planned(given, ['claims']))).toEqual([
      'Files on PersistentVolume agent-k8s-efs-pv: only the objects in the cluster are deleted, not the file system',
    ]);
    expect(planned(given, ['claims']).needsConfirmation).toBe(false);
  });
});

describe('a PVC that others mount', () => {
  const mounting = {volumes: [{persistentVolumeClaim: {claimName: 'old'}}], containers: []};
  const old = claim('old', 'disk', {annotations: {'meta.helm.sh/release-name': 'agent'}});
  const users: [kind: string, user: KubernetesObject][] = [
    ['pod', object('Pod', 'b', {spec: mounting})],
    ['Deployment with its pod', object('Deployment', 'b', {spec: {template: {spec: mounting}}})],
    [
      'custom resource',
      object('AgentTaskTemplate', 'b', {
        metadata: {namespace: 'scalr'},
        spec: {template: {spec: {template: {spec: mounting}}}},
      }),
    ],
  ];

  test.each(
    users,
  )('is kept and not offered for deletion while a %s of another release uses it', (_, user) => {
    const objects = [
      old,
      user,
      object('Pod', 'b-1', {
        metadata: {ownerReferences: [{kind: 'Deployment', name: 'b'}]},
        spec: mounting,
      }),
    ];
    const isCustom = user.kind === 'AgentTaskTemplate';
    const given = readings(undefined, {
      objects: isCustom ? [old] : user.kind === 'Pod' ? objects.slice(0, 2) : objects,
      customResources: isCustom ? [user] : [],
      volumes: [volume('disk', 'Retain', {kept: true, claimed: 'old'})],
    });
    for (const purge of [[], ['claims'], PURGEABLE] as const) {
      expect(ids(planned(given, [...purge]))).toEqual([]);
      expect(planned(given, [...purge]).keeps).toContainEqual({
        what: 'PVC old (20Gi)',
        why: `used by ${user.kind} b`,
        how: 'Keep it while it is used',
      });
    }
  });

  test('is kept while an agent-job release of others may use it in runs that cannot be listed', () => {
    const controller = object('Deployment', 'b', {
      metadata: {labels: {'helm.sh/chart': 'agent-job-0.6.5'}},
    });
    const given = readings(undefined, {objects: [old, controller], customResources: undefined});
    expect(ids(planned(given, ['claims']))).toEqual([]);
    expect(kept(planned(given, ['claims']))).toEqual(['PVC old (20Gi): used by Deployment b']);
  });

  test('stops the uninstall if Helm would delete it', () => {
    const manifest = [object('PersistentVolumeClaim', 'old')];
    const given = readings('agent-local-0.6.5', {
      manifest,
      objects: [old, object('Pod', 'b', {spec: mounting})],
    });
    expect(() => planned(given)).toThrow(
      'Helm would delete PVC old of release agent, which Pod b also mounts.',
    );
  });

  test('is deleted when only pods of the release mount it', () => {
    const pods = [
      object('Pod', 'agent-1', {
        metadata: {
          labels: {'app.kubernetes.io/instance': 'agent'},
          ownerReferences: [{kind: 'ReplicaSet', name: 'x'}],
        },
        spec: mounting,
      }),
    ];
    expect(ids(planned(readings(undefined, {objects: [old, ...pods]}), ['claims']))).toEqual([
      'claim/old',
    ]);
  });
});

test('keeps PVCs of the user, and deletes those of an older revision only with --purge=claims', () => {
  const pod = {containers: [], volumes: [{persistentVolumeClaim: {claimName: 'mine'}}]};
  const given = readings('agent-local-0.6.5', {
    manifest: [object('Deployment', 'agent-main', {spec: {template: {spec: pod}}})],
    objects: [
      claim('mine', 'a'),
      claim('old', 'b', {annotations: {'meta.helm.sh/release-name': 'agent'}}),
      claim('strange', 'c', {annotations: {'meta.helm.sh/release-name': 'other'}}),
      claim('pending'),
    ],
  });
  expect(kept(planned(given))).toEqual([
    'PVC mine (20Gi): it is not part of the release, which only mounts it',
    'PVC old (20Gi): it remains from an older revision of the release',
  ]);
  expect(ids(planned(given, ['claims']))).toContain('claim/old');
  expect(kept(planned(given, ['claims']))).toEqual([
    'PVC mine (20Gi): it is not part of the release, which only mounts it',
  ]);
});

test('does not count data as lost when the volume of an old PVC is retained', () => {
  const given = readings('agent-local-0.6.5', {
    objects: [claim('old', 'disk', {annotations: {'meta.helm.sh/release-name': 'agent'}})],
    volumes: [volume('disk', 'Retain', {claimed: 'old'})],
  });
  const plan = planned(given, ['claims']);
  expect(plan.removals.map(({what}) => what)).toEqual(['Release agent', 'PVC old (20Gi)']);
  expect(plan.keeps[0]).toMatchObject({
    what: 'PersistentVolume disk (20Gi) of PVC old',
    why: expect.stringContaining('Retain, so its data remains'),
    how: 'kubectl delete persistentvolume/disk --namespace scalr',
  });
});

test('lists a retained volume when its PVC is bound to another one', () => {
  const given = readings('agent-local-0.6.5', {
    manifest: [object('PersistentVolumeClaim', 'agent-cache')],
    objects: [claim('agent-cache', 'second')],
    volumes: [volume('first', 'Retain', {kept: true}), volume('second', 'Delete')],
  });
  expect(planned(given, ['claims']).removals.map(({what}) => what)).toEqual([
    'Release agent',
    'All data in PVC agent-cache (20Gi)',
    'PersistentVolume first with the data of PVC agent-cache',
  ]);
});

describe('drain', () => {
  test.each<[string, string, InventoryReadings['values'], string[], number]>([
    [
      'stops the controller of agent-job before waiting for its Jobs',
      'agent-job-0.6.5',
      {},
      ['stop/agent-main', 'drain', 'stopped'],
      0,
    ],
    [
      'stops agent-k8s before waiting when it drains on stop',
      'agent-k8s-0.6.5',
      k8s('drain'),
      ['stop/agent-main', 'drain', 'stopped'],
      0,
    ],
    [
      'waits before stopping agent-k8s when a stop would interrupt runs',
      'agent-k8s-0.6.5',
      k8s('grace-shutdown'),
      ['drain', 'stop/agent-main', 'stopped'],
      1,
    ],
    [
      'warns when the runs of agent-k8s have no label',
      'agent-k8s-0.6.5',
      {agent: {worker_on_stop_action: 'drain'}},
      ['stop/agent-main', 'drain', 'stopped'],
      1,
    ],
    [
      'stops agent-local without a wait step when it drains on stop',
      'agent-local-0.6.5',
      {agent: {shutdownMode: 'drain'}},
      ['stop/agent-main', 'stopped'],
      0,
    ],
    [
      'warns when agent-local does not drain on stop',
      'agent-local-0.6.5',
      {agent: {shutdownMode: 'graceful'}},
      ['stop/agent-main', 'stopped'],
      1,
    ],
  ])('%s', (_, chart, values, expected, warnings) => {
    const plan = planned(readings(chart, {values}));
    expect(ids(plan)).toEqual([...expected, 'release', 'gone']);
    expect(plan.warnings).toHaveLength(warnings);
    expect(ids(planned(readings(chart, {values}), [], false))).toEqual(['release', 'gone']);
  });

  test('contains in its wait step the runs to wait for', () => {
    const step = planned(readings('agent-job-0.6.5')).plan.steps.find(({id}) => id === 'drain');
    expect(argumentsOf(step?.call as Call)).toEqual([
      'get',
      'jobs,pods',
      '--output',
      'json',
      '--request-timeout=15s',
      '--namespace',
      'scalr',
    ]);
    expect(step?.waitFor).toEqual({
      kubeTarget: {namespace: 'scalr'},
      noRunsOf: {chart: 'agent-job', version: '0.6.5', release: 'agent', taskLabels: {}},
      timeoutSeconds: 600,
      howToBreakOff: expect.stringContaining('--no-drain'),
    });
  });

  test.each<[string, number | undefined, number | undefined, number]>([
    ['the replicas in the cluster', 3, 2, 3],
    ['the replicas of the release when it is already stopped', 0, 2, 2],
    ['one replica when neither is known', undefined, undefined, 1],
  ])('restores %s', (_, live, rendered, replicas) => {
    const deployment = (count: number | undefined) =>
      object('Deployment', 'agent-main', {spec: {replicas: count}});
    const given = readings('agent-job-0.6.5', {
      manifest: [deployment(rendered)],
      objects: [deployment(live)],
    });
    const stop = planned(given).plan.steps.find(({id}) => id === 'stop/agent-main');
    expect(argumentsOf(stop?.undo?.[0]?.call as Call)).toEqual(
      expect.arrayContaining([
        'scale',
        'deployment/agent-main',
        `--replicas=${replicas}`,
        '--namespace',
        'scalr',
      ]),
    );
  });

  test.each([
    'agent-k8s',
    'agent-local',
    'agent-job',
  ])('of %s does not wait for pods that have ended, such as evicted ones', (chart) => {
    const {steps} = planned(readings(`${chart}-0.6.5`)).plan;
    const [{call} = {}] = steps.filter(({id}) => id === 'stopped');
    expect(argumentsOf(call as Call)).toContain(
      '--field-selector=status.phase!=Failed,status.phase!=Succeeded',
    );
  });

  test('warns when the grace period exceeds the drain timeout', () => {
    const slow = [
      object('Deployment', 'agent-main', {
        spec: {template: {spec: {terminationGracePeriodSeconds: 3660}}},
      }),
    ];
    expect(
      planned(readings('agent-k8s-0.6.5', {manifest: slow, values: k8s('drain')})).warnings,
    ).toEqual([
      'The grace period of the agent is 3660 s, which exceeds the drain timeout of 600 s.',
    ]);
  });

  test('is required for a non-destructive uninstall while runs are in flight', () => {
    const plan = planned(readings('agent-job-0.6.5', {objects: [job('r1')]}), [], false);
    expect(plan.needsConfirmation).toBe(true);
    expect(plan.warnings).toEqual([
      '1 run is in flight, and without a drain they lose their service account and their cache: Job r1.',
    ]);
  });
});

function k8s(worker_on_stop_action: string): InventoryReadings['values'] {
  return {agent: {worker_on_stop_action, kubernetes_task_labels: {run: 'ours'}}};
}

const TASK = {'app.kubernetes.io/instance': 'agent', 'app.kubernetes.io/component': 'task'};
function job(name: string, labels: object = TASK, conditions: object[] = []): KubernetesObject {
  return object('Job', name, {spec: {template: {metadata: {labels}}}, status: {conditions}});
}
const pod = (name: string, metadata: object = {}, phase = 'Running', spec = {}): KubernetesObject =>
  object('Pod', name, {metadata, spec, status: {phase}});
const ownedBy = (kind: string, name: string): object => ({ownerReferences: [{kind, name}]});

describe('runs in flight', () => {
  const look = (
    chart: 'agent-job' | 'agent-k8s',
    version: string,
    objects: KubernetesObject[],
    taskLabels = {},
  ): string[] =>
    runsIn(objects, {chart, version, release: 'agent', taskLabels}).map(
      ({kind, name, isCertain}) => `${kind} ${name}${isCertain ? '' : '?'}`,
    );

  test.each([
    ['only a sidecar runs', {terminated: {}}, []],
    ['the worker runs', {running: {}}, ['Job r1']],
  ])('are those of Jobs whose own containers run: %s', (_, state, expected) => {
    const template = {metadata: {labels: TASK}, spec: {containers: [{name: 'worker'}]}};
    const containerStatuses = [
      {name: 'worker', state},
      {name: 'istio-proxy', state: {running: {}}},
    ];
    const objects = [
      object('Job', 'r1', {spec: {template}, status: {}}),
      object('Pod', 'r1-x', {
        metadata: {labels: TASK, ...ownedBy('Job', 'r1')},
        status: {phase: 'Running', containerStatuses},
      }),
    ];
    expect(look('agent-job', '0.6.5', objects)).toEqual(expected);
  });

  test.each([
    ['only a known sidecar runs', 'linkerd-proxy', {terminated: {}}, []],
    ['the run continues', 'linkerd-proxy', {running: {}}, ['Pod r1']],
    ['the run has not started', 'linkerd-proxy', {waiting: {}}, ['Pod r1']],
    ['an unknown container runs', 'helper', {terminated: {}}, ['Pod r1']],
  ])('of agent-k8s do not include pods of runs that have ended: %s', (_, other, state, expected) => {
    const containerStatuses = [
      {name: 'tofu', state},
      {name: other, state: {running: {}}},
    ];
    const held = object('Pod', 'r1', {
      metadata: {labels: {run: 'ours'}},
      spec: {containers: containerStatuses.map(({name}) => ({name}))},
      status: {phase: 'Running', containerStatuses},
    });
    expect(look('agent-k8s', '0.6.5', [held], {run: 'ours'})).toEqual(expected);
  });

  test('are Jobs of agent-job, and pods whose Job is deleted', () => {
    const objects = [
      job('runs'),
      job('done', TASK, [{type: 'Complete', status: 'True'}]),
      job('nearly', TASK, [{type: 'SuccessCriteriaMet', status: 'True'}]),
      job('failed', TASK, [{type: 'Failed', status: 'True'}]),
      job('of-another', {...TASK, 'app.kubernetes.io/instance': 'other'}),
      pod('runs-x', {labels: TASK, ...ownedBy('Job', 'runs')}),
      pod('lone', {labels: TASK, ...ownedBy('Job', 'deleted')}),
      pod('over', {labels: TASK}, 'Succeeded'),
      pod('controller', {labels: {...TASK, 'app.kubernetes.io/component': 'agent'}}),
      pod('probe', {labels: {...TASK, 'app.kubernetes.io/managed-by': 'scalr-agent-install'}}),
    ];
    expect(look('agent-job', '0.5.64', objects)).toEqual(['Job runs', 'Job nearly', 'Pod lone']);
  });

  test('of agent-job up to 0.5.63 are recognized by their containers', () => {
    const spec = {initContainers: [{name: 'worker'}], containers: [{name: 'runner'}]};
    const objects = [
      object('Job', 'run', {spec: {template: {spec}}}),
      job('labeled'),
      pod('lone', {}, 'Pending', spec),
    ];
    expect(look('agent-job', '0.5.63', objects)).toEqual(['Job run', 'Pod lone']);
  });

  test('of agent-k8s are pods with the labels of its values, or a guess', () => {
    const objects = [
      pod('run', {labels: {run: 'ours'}}),
      pod('bare'),
      pod('over', {labels: {run: 'ours'}}, 'Failed'),
      pod('worker', {labels: {run: 'ours'}, ...ownedBy('DaemonSet', 'agent-k8s-worker')}),
    ];
    expect(look('agent-k8s', '0.6.5', objects, {run: 'ours'})).toEqual(['Pod run']);
    expect(look('agent-k8s', '0.6.5', objects)).toEqual(['Pod run?', 'Pod bare?']);
  });
});

describe('CRDs', () => {
  const definition = object('CustomResourceDefinition', 'agenttasktemplates.scalr.io', {
    spec: {names: {kind: 'AgentTaskTemplate'}},
  });
  const own = object('AgentTaskTemplate', 'agent-task-template', {
    metadata: {namespace: 'scalr', annotations: {'meta.helm.sh/release-name': 'agent'}},
  });
  const foreign = object('AgentTaskTemplate', 'x', {metadata: {namespace: 'argo'}});
  const self = {name: 'agent', namespace: 'scalr', status: 'deployed', chart: 'agent-job-0.6.5'};
  const given = (
    more: Partial<InventoryReadings> = {},
    chart: string | undefined = 'agent-job-0.6.5',
  ): InventoryReadings =>
    readings(chart, {
      definitions: [definition, object('CustomResourceDefinition', 'other.io')],
      customResources: [own],
      releases: [self],
      ...more,
    });

  test.each<[string, Partial<InventoryReadings>, string | undefined, string | undefined]>([
    ['are deleted when nothing else uses them', {}, 'agent-job-0.6.5', undefined],
    [
      'are deleted when the release is already uninstalled',
      {customResources: [], releases: []},
      undefined,
      undefined,
    ],
    [
      'stay when another release uses them',
      {releases: [self, {...self, namespace: 'b'}]},
      'agent-job-0.6.5',
      'used by release b/agent (agent-job-0.6.5)',
    ],
    [
      'stay with a count of the users when many releases use them',
      {
        releases: [self, ...['b', 'c', 'd'].map((namespace) => ({...self, namespace}))],
        customResources: [own, foreign],
      },
      'agent-job-0.6.5',
      'used by 3 other releases and 1 custom resource',
    ],
    [
      'stay when custom resources of others use them',
      {customResources: [own, foreign]},
      'agent-job-0.6.5',
      'used by AgentTaskTemplate argo/x',
    ],
    [
      'stay when the account cannot list releases',
      {releases: undefined},
      'agent-job-0.6.5',
      'your user cannot list other users of the CRD',
    ],
    [
      'stay when the account cannot list custom resources',
      {customResources: undefined},
      'agent-job-0.6.5',
      'your user cannot list other users of the CRD',
    ],
  ])('%s', (_, more, chart, why) => {
    const reading = {
      ...given(more),
      ...(chart === undefined ? {state: undefined, manifest: []} : {}),
    };
    const plan = planned(reading, ['crds']);
    expect(ids(plan).includes('crd/agenttasktemplates.scalr.io')).toBe(why === undefined);
    expect(kept(plan)).toEqual(
      why === undefined ? [] : [`CRD agenttasktemplates.scalr.io: ${why}`],
    );
    expect(plan.needsConfirmation).toBe(why === undefined);
  });

  test('in use are listed with a command that can succeed', () => {
    const again = 'scalr-agent uninstall --release agent --namespace scalr --purge=crds';
    const [needed] = planned(given({customResources: [own, foreign]}), ['crds']).keeps;
    expect(needed?.how).toBe(`When nothing uses it: ${again}`);
    const [unseen] = planned(given({releases: undefined}), ['crds']).keeps;
    expect(unseen?.how).toBe(
      `With a user that can list releases and custom resources of all namespaces: ${again}`,
    );
    expect(planned(given()).keeps[0]?.how).toBe(again);
  });

  test('are ignored for other charts', () => {
    expect(kept(planned(given({}, 'agent-local-0.6.5'), ['crds']))).toEqual([]);
  });
});

describe('Secrets and namespace', () => {
  const token = object('Secret', 'scalr-agent-token', {metadata: ours()});
  const always = [
    token,
    object('ConfigMap', 'kube-root-ca.crt'),
    object('ServiceAccount', 'default'),
    object('Secret', 'sh.helm.release.v1.agent.v1'),
    object('Deployment', 'agent-main'),
    pod('agent-main-x', {
      labels: {'app.kubernetes.io/instance': 'agent'},
      ...ownedBy('ReplicaSet', 'agent-main'),
    }),
    job('finished', TASK, [{type: 'Complete', status: 'True'}]),
  ];
  const given = (
    objects: KubernetesObject[] = [],
    more: Partial<InventoryReadings> = {},
  ): InventoryReadings =>
    readings('agent-local-0.6.5', {
      objects: [...always, ...objects],
      namespaceObject: object('Namespace', 'scalr', {metadata: ours()}),
      values: {agent: {shutdownMode: 'drain'}},
      ...more,
    });

  test('remain without --purge', () => {
    expect(text(planned(given()))).toMatchInlineSnapshot(`
      "- kubectl scale deployment/agent-main --replicas=0 --request-timeout=15s
      - kubectl wait --for=delete pod --selector=app.kubernetes.io/instance=agent,pod-template-hash --field-selector=status.phase!=Failed,status.phase!=Succeeded --timeout=600s
      - helm uninstall agent --debug
      - kubectl wait --for=delete pod --selector=app.kubernetes.io/instance=agent,app.kubernetes.io/component!=task --timeout=300s
      gone: Release agent: Deployment agent-main
      stays: Secret scalr-agent-token: Scalr shows a token only once, and the next install uses it [scalr-agent uninstall --release agent --namespace scalr --purge=secrets]
      stays: Namespace scalr: it contains Secret scalr-agent-token [When it is empty: scalr-agent uninstall --release agent --namespace scalr --purge=namespace]
      confirm: false"
    `);
  });

  test('are deleted together', () => {
    const plan = planned(given(), ['secrets', 'namespace']);
    expect(ids(plan).slice(-2)).toEqual(['secret/scalr-agent-token', 'namespace']);
    expect(kept(plan)).toEqual([]);
  });

  const reader = object('Deployment', 'other', {
    spec: {
      template: {
        spec: {containers: [{env: [{valueFrom: {secretKeyRef: {name: 'scalr-agent-token'}}}]}]},
      },
    },
  });
  test('list all users of a Secret in one sentence, with a remedy for when they are gone', () => {
    const {spec} = reader as KubernetesObject & {spec: object};
    const others = ['b', 'c'].map((name) => object('Deployment', name, {spec}));
    const [secret] = planned(given([reader, ...others]), ['secrets']).keeps;
    expect(secret).toMatchObject({
      why: 'used by Deployment other, Deployment b and Deployment c',
      how: 'When nothing uses it: scalr-agent uninstall --release agent --namespace scalr --purge=secrets',
    });
  });

  test.each<[string, InventoryReadings, Purgeable[], string[]]>([
    [
      'a Secret that remains',
      given(),
      ['namespace'],
      [
        'Secret scalr-agent-token: Scalr shows a token only once, and the next install uses it',
        'Namespace scalr: it contains Secret scalr-agent-token',
      ],
    ],
    [
      'another workload that uses the Secret',
      given([reader]),
      ['secrets', 'namespace'],
      [
        'Secret scalr-agent-token: used by Deployment other',
        'Namespace scalr: it contains other objects: Deployment other',
      ],
    ],
    [
      'another object in the namespace',
      given([object('ConfigMap', 'notes')]),
      ['secrets', 'namespace'],
      ['Namespace scalr: it contains other objects: ConfigMap notes'],
    ],
    [
      'the record of another release',
      given([object('Secret', 'sh.helm.release.v1.agent-2.v1')]),
      ['secrets', 'namespace'],
      ['Namespace scalr: it contains other objects: Secret sh.helm.release.v1.agent-2.v1'],
    ],
    [
      'a namespace of another owner',
      given([], {namespaceObject: object('Namespace', 'scalr')}),
      ['secrets', 'namespace'],
      ['Namespace scalr: it was not created by scalr-agent for this release'],
    ],
    [
      'a namespace created for another release',
      given([], {namespaceObject: object('Namespace', 'scalr', {metadata: ours('b')})}),
      ['secrets', 'namespace'],
      ['Namespace scalr: it was not created by scalr-agent for this release'],
    ],
    [
      'a Secret created for another release',
      given([object('Secret', 'b', {metadata: ours('b')})]),
      ['secrets', 'namespace'],
      ['Namespace scalr: it contains other objects: Secret b'],
    ],
  ])('remain because of %s', (_, reading, purge, expected) => {
    const plan = planned(reading, purge);
    expect(kept(plan)).toEqual(expected);
    expect(ids(plan)).not.toContain('namespace');
  });
});

describe('data on nodes', () => {
  const PATH = '/var/lib/scalr';
  const nodes = [
    node('a', {labels: {pool: 'runs'}}),
    node('b', {
      labels: {pool: 'runs'},
      taints: [{key: 'only', value: 'runs', effect: 'NoSchedule'}],
    }),
    node('cordoned', {
      labels: {pool: 'runs'},
      taints: [{key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule'}],
    }),
    node('down', {labels: {pool: 'runs'}, ready: false}),
    node('elsewhere'),
    node('tainted', {labels: {pool: 'runs'}, taints: [{key: 'gpu', effect: 'NoSchedule'}]}),
    node('windows', {labels: {pool: 'runs', 'kubernetes.io/os': 'windows'}}),
  ];
  const spec = {
    nodeSelector: {pool: 'runs'},
    tolerations: [{key: 'only', value: 'runs', effect: 'NoSchedule'}],
  };
  const given = (more: Partial<InventoryReadings> = {}, path = PATH): InventoryReadings =>
    readings('agent-k8s-0.6.5', {
      values: {
        agent: {
          data_home: path,
          worker_on_stop_action: 'drain',
          kubernetes_task_labels: {run: 'ours'},
        },
        efsVolumeHandle: '',
      },
      manifest: [writer('DaemonSet', 'agent-worker', path, {spec})],
      nodes,
      ...more,
    });

  test('is listed with the nodes and a command to delete it', () => {
    expect(text(planned(given()))).toMatchInlineSnapshot(`
      "- helm uninstall agent --debug
      - kubectl wait --for=delete pod --selector=app.kubernetes.io/instance=agent,app.kubernetes.io/component!=task --timeout=300s
      gone: Release agent: DaemonSet agent-worker
      stays: Directory /var/lib/scalr on a, b, cordoned, down: charts never delete files on nodes [for node in a b cordoned down; do kubectl debug "node/$node" --image=busybox:1.37 --profile=sysadmin -- rm -rf '/host/var/lib/scalr'; done]
      confirm: false"
    `);
  });

  test('is deleted with --purge=node-data on ready nodes', () => {
    const plan = planned(given(), ['node-data']);
    expect(text(plan)).toMatchInlineSnapshot(`
      "- helm uninstall agent --debug
      - kubectl wait --for=delete pod --selector=app.kubernetes.io/instance=agent,app.kubernetes.io/component!=task --timeout=300s
      ! kubectl apply --server-side --field-manager scalr-agent-install --request-timeout=15s --filename -
      - kubectl wait --for=condition=complete job --selector=scalr.io/cleaner=agent --timeout=300s
      - kubectl delete job --selector=scalr.io/cleaner=agent
      gone: Release agent: DaemonSet agent-worker
      gone: Contents of /var/lib/scalr on a, b, cordoned
      stays: Directory /var/lib/scalr on down: the node is not ready [for node in down; do kubectl debug "node/$node" --image=busybox:1.37 --profile=sysadmin -- rm -rf '/host/var/lib/scalr'; done]
      confirm: true"
    `);
    const {items} = JSON.parse(
      revealed(plan.plan.steps.find(({id}) => id === 'clean')?.call.input),
    );
    expect(
      items.map(
        (each: {spec: {template: {spec: {nodeName: string}}}}) => each.spec.template.spec.nodeName,
      ),
    ).toEqual(['a', 'b', 'cordoned']);
    expect(JSON.stringify(items[0])).not.toContain('app.kubernetes.io/instance');
  });

  const same = (kind: string, path: string): KubernetesObject =>
    writer(kind, 'x', path, {metadata: {namespace: 'other'}});
  test.each<[string, InventoryReadings, string]>([
    [
      'workers of another agent',
      given({workloads: [same('DaemonSet', PATH)]}),
      'also used by DaemonSet other/x',
    ],
    [
      'runs of another agent in a subdirectory',
      given({customResources: [same('AgentTaskTemplate', `${PATH}/cache`)]}),
      'also used by AgentTaskTemplate other/x',
    ],
    [
      'missing permissions',
      given({workloads: undefined}),
      'your user cannot list other users of the directory',
    ],
    [
      'a system directory',
      given({}, '/var/lib/kubelet/scalr'),
      '/var/lib/kubelet/scalr can contain data of other programs',
    ],
    ['a shared directory', given({}, '/var/lib/'), '/var/lib can contain data of other programs'],
    [
      'a path that leaves its own directory',
      given({}, '/var/lib/scalr/../..'),
      '/var can contain data of other programs',
    ],
    [
      'a whole disk',
      given({}, '/mnt/disks/ssd0'),
      '/mnt/disks/ssd0 can contain data of other programs',
    ],
    [
      'nodes that are not ready',
      given({nodes: [node('down', {labels: {pool: 'runs'}, ready: false})]}),
      'no node with this directory is ready',
    ],
  ])('remains because of %s', (_, reading, why) => {
    const plan = planned(reading, ['node-data']);
    expect(plan.keeps.map((each) => each.why)).toEqual([why]);
    expect(ids(plan)).not.toContain('clean');
    expect(plan.needsConfirmation).toBe(false);
  });

  test('ignores a DaemonSet that only prepares the directory', () => {
    const preparer = object('DaemonSet', 'init', {
      metadata: {namespace: 'kube-system'},
      spec: {template: {spec: {containers: [{name: 'init'}], volumes: [{hostPath: {path: PATH}}]}}},
    });
    expect(ids(planned(given({workloads: [preparer]}), ['node-data']))).toContain('clean');
  });

  test.each<[string, string, InventoryReadings['values'], string | undefined]>([
    [
      'finds no directory for agent-k8s on EFS',
      'agent-k8s-0.6.5',
      {agent: {data_home: PATH}, efsVolumeHandle: 'fs-1'},
      undefined,
    ],
    [
      'finds the hostPath directory of agent-job',
      'agent-job-0.6.5',
      {persistence: {cache: {enabled: true, hostPath: {path: PATH}}}},
      PATH,
    ],
    [
      'finds no directory for agent-job when persistence is disabled',
      'agent-job-0.6.5',
      {persistence: {cache: {enabled: false, hostPath: {path: PATH}}}},
      undefined,
    ],
    [
      'finds no directory for agent-job versions without hostPath',
      'agent-job-0.5.63',
      {persistence: {enabled: true}},
      undefined,
    ],
    [
      'finds no directory for agent-local',
      'agent-local-0.6.5',
      {agent: {data_home: PATH}},
      undefined,
    ],
  ])('%s', (_, chart, values, path) => {
    expect(inventoryOf(readings(chart, {values})).nodeData.map((each) => each.path)).toEqual(
      path === undefined ? [] : [path],
    );
  });
});

const revealed = (input: unknown): string =>
  typeof input === 'string' ? input : (input as {reveal(): string}).reveal();

describe('a release without a Helm record', () => {
  const require = (more: Partial<InventoryReadings>): void => {
    const given = readings(undefined, {namespaceObject: object('Namespace', 'scalr'), ...more});
    requireKnownRelease(NAME, false, inventoryOf(given), given);
  };
  const listed = (namespace: string, name: string, chart: string) => ({
    namespace,
    name,
    chart,
    status: 'deployed',
  });
  const annotated = {
    metadata: {
      annotations: {
        'meta.helm.sh/release-name': 'agent',
        'meta.helm.sh/release-namespace': 'scalr',
      },
    },
  };

  test.each<[string, Partial<InventoryReadings>]>([
    ['a Secret', {objects: [object('Secret', 'token', {metadata: ours()})]}],
    ['a PVC', {objects: [object('PersistentVolumeClaim', 'old', annotated)]}],
    ['a retained volume', {volumes: [volume('disk', 'Retain', {kept: true})]}],
    ['a Helm object', {objects: [object('Role', 'agent', annotated)]}],
    ['a run', {objects: [job('atask-1')]}],
    ['the namespace', {namespaceObject: object('Namespace', 'scalr', {metadata: ours()})}],
  ])('is accepted when %s remains', (_, more) => {
    expect(() => require(more)).not.toThrow();
  });

  test.each<[string, Partial<InventoryReadings>]>([
    [
      'a Secret of another release',
      {objects: [object('Secret', 'token', {metadata: ours('other')})]},
    ],
    [
      'a Job of another tool with the same label',
      {objects: [job('x', {'app.kubernetes.io/instance': 'agent'})]},
    ],
    [
      'an object of the same release name in another namespace',
      {
        objects: [
          object('Role', 'x', {
            metadata: {
              annotations: {
                ...annotated.metadata.annotations,
                'meta.helm.sh/release-namespace': 'b',
              },
            },
          }),
        ],
      },
    ],
  ])('is not found despite %s', (_, more) => {
    expect(() => require(more)).toThrow('Release agent not found in namespace scalr.');
  });

  test.each([
    ['Secret', 'sh.helm.release.v1.agent.v1', 'Unset HELM_DRIVER, or set it to secret'],
    ['ConfigMap', 'agent.v1', 'Set HELM_DRIVER to configmap'],
  ])('is not uninstalled without Helm if a %s is its record', (kind, record, remedy) => {
    const metadata = {labels: {owner: 'helm', name: 'agent'}};
    const agent = object('Deployment', 'agent', annotated);
    const objects = [agent, object(kind, record, {metadata})];
    expect(() => require({objects})).toThrow(
      expect.objectContaining({
        code: 'RELEASE_NOT_FOUND',
        message: `Release agent not found in namespace scalr with this HELM_DRIVER, but ${kind} ${record} is a Helm record of it. Nothing was changed.`,
        suggestions: [expect.stringContaining(remedy)],
      }),
    );
  });

  test('is reported with the existing releases, the nearest first', () => {
    const releases = [
      listed('b', 'agent', 'agent-job-0.6.5'),
      listed('scalr', 'web', 'nginx-1.0.0'),
      listed('scalr', 'agents', 'agent-k8s-0.6.5'),
    ];
    expect(() => require({releases})).toThrow(
      expect.objectContaining({
        code: 'RELEASE_NOT_FOUND',
        exit: 2,
        message: expect.stringMatching(
          / Agent releases found: scalr\/agents \(agent-k8s-0.6.5\), b\/agent \(agent-job-0.6.5\)\.$/,
        ),
        suggestions: [
          'If you meant scalr/agents: scalr-agent uninstall --release agents --namespace scalr',
          'Use another cluster: --kube-context NAME',
        ],
      }),
    );
    expect(() => require({})).toThrow(
      expect.objectContaining({
        message: expect.stringMatching(/ No agent release found in this cluster\.$/),
        suggestions: ['Use another cluster: --kube-context NAME'],
      }),
    );
  });

  test('keeps what its live objects use', () => {
    const pod = {
      containers: [
        {
          name: 'agent',
          env: [{name: 'T', valueFrom: {secretKeyRef: {name: 'agent-token', key: 'token'}}}],
        },
      ],
      volumes: [{name: 'data', persistentVolumeClaim: {claimName: 'data'}}],
    };
    const objects = [
      object('Deployment', 'agent-main', {...annotated, spec: {template: {spec: pod}}}),
      object('PersistentVolumeClaim', 'data', annotated),
      object('Secret', 'agent-token', {metadata: ours()}),
    ];
    const plan = planned(
      readings(undefined, {
        objects,
        namespaceObject: object('Namespace', 'scalr', {metadata: ours()}),
      }),
      PURGEABLE,
    );
    expect(ids(plan)).toEqual([]);
    expect(plan.keeps.map(({what, why}) => `${what}: ${why}`)).toEqual([
      'PVC data: used by Deployment agent-main',
      'Secret agent-token: used by Deployment agent-main',
      'Namespace scalr: it contains other objects: Deployment agent-main',
      'Deployment agent-main: it belongs to release agent, which has no Helm record',
    ]);
  });
});

test('expands --purge=all to every class', () => {
  expect([...purgeOf(['claims', 'all'])]).toEqual(PURGEABLE);
  expect(purgeOf().size).toBe(0);
});

test('rejects a release of another chart', () => {
  const inventory = inventoryOf(readings('nginx-1.0.0'));
  expect(() => requireOurChart(NAME, 'nginx-1.0.0')).toThrow(
    'Release agent uses chart nginx-1.0.0, which is not a Scalr agent chart.',
  );
  expect(
    ids(
      planUninstall(NAME, inventory, {
        purge: new Set(),
        drain: true,
        drainTimeoutSeconds: 1,
        timeoutSeconds: 1,
      }),
    ),
  ).toEqual([]);
});

test('accepts a release that was uninstalled with its history', () => {
  expect(() => requireOurChart(NAME, 'agent-local-0.6.5')).not.toThrow();
});

test('does not scale a Deployment that was never created', () => {
  const plan = planned(
    readings('agent-local-0.6.5', {missing: new Set(['Deployment agent-main'])}),
  );
  expect(ids(plan)).toEqual(['release', 'gone']);
  expect(plan.warnings).toEqual([]);
});

test('lists no objects of a release that another uninstall has emptied', () => {
  expect(removalText({what: 'Release a', isListed: true, objects: [], steps: []})).toBe(
    'Release a',
  );
});

test('every object that is deleted is listed by its step, so that a dry run can try it', () => {
  const {plan} = planned(
    readings('agent-local-0.6.5', {
      manifest: [object('Deployment', 'agent-main')],
      objects: [
        object('Secret', 'sh.helm.release.v1.agent.v1'),
        object('Secret', 'agent-token', {metadata: ours()}),
        object('ConfigMap', 'former', {
          apiVersion: 'v1',
          metadata: {annotations: {'meta.helm.sh/release-name': 'agent'}},
        }),
        object('PersistentVolumeClaim', 'old', {
          metadata: {annotations: {'meta.helm.sh/release-name': 'agent'}},
        }),
      ],
    }),
    ['claims', 'secrets'],
  );
  const deleted = plan.steps.flatMap(({deletes = []}) => deletes);
  expect(deleted.map(({kind, name}) => `${kind} ${name}`)).toEqual([
    'ConfigMap former',
    'Deployment agent-main',
    'Secret sh.helm.release.v1.agent.v1',
    'PersistentVolumeClaim old',
    'Secret agent-token',
  ]);
});
