import {quota} from '../../../../src/checks/preflight/checks/quota.ts';
import type {LiveState, PreflightContext} from '../../../../src/checks/preflight/facts/context.ts';
import type {
  LimitRange,
  LimitRangeItem,
  ResourceQuota,
} from '../../../../src/checks/preflight/facts/namespace-limits.ts';
import type {KubernetesObject} from '../../../../src/cluster/kubernetes/objects.ts';
import {known, unknown} from '../../../../src/ground/fact.ts';
import {live} from '../context.ts';
import {prove} from './prove.ts';

const FORBIDDEN = unknown('forbidden', 'it is forbidden');
const object = (kind: string, more: object): KubernetesObject => ({
  apiVersion: 'v1',
  kind,
  metadata: {name: 'team'},
  ...more,
});
const ranges = (...limits: LimitRangeItem[]) =>
  known([object('LimitRange', {spec: {limits}}) as LimitRange], 'limitranges');
const quotas = (
  hard: Record<string, string>,
  {used = {}, ...more}: {used?: Record<string, string>} & ResourceQuota['spec'] = {},
) =>
  known(
    [object('ResourceQuota', {spec: {hard, ...more}, status: {hard, used}}) as ResourceQuota],
    'resourcequotas',
  );

const has = (but: Parameters<typeof live>[0]): Partial<PreflightContext> => ({live: live(but)});
const local = {chart: 'agent-local'};
const three = {...local, concurrency: '3'};
const pvc = {...local, cache: 'pvc'};
const running: LiveState['objects'] = new Map([
  ['Deployment scalr-agent-agent-local', known(object('Deployment', {}), 'deployments')],
]);
/** The Deployment with another way to update it. */
const strategy = (how: object): Partial<PreflightContext> => {
  const containers = [{name: 'agent', resources: {requests: {cpu: '1'}}}];
  const metadata = {name: 'scalr-agent-agent-local'};
  return {
    manifest: known(
      [
        {
          ...object('Deployment', {spec: {strategy: how, template: {spec: {containers}}}}),
          metadata,
        },
      ],
      'helm template',
    ),
  };
};
const ofRelease = known(
  [
    {
      metadata: {name: 'one', labels: {'app.kubernetes.io/instance': 'scalr-agent'}},
      spec: {containers: [{name: 'agent', resources: {requests: {cpu: '1'}}}]},
      status: {phase: 'Running'},
    } as never,
  ],
  'pods',
);

prove(
  'quota',
  [quota],
  [
    {id: 'quota', is: 'pass', when: 'there is none'},
    {id: 'quota', is: 'skip', when: 'it cannot be read', but: has({quotas: FORBIDDEN})},
    {
      id: 'quota',
      is: 'skip',
      when: 'a LimitRange cannot be read',
      but: has({quotas: quotas({pods: '9'}), limitRanges: FORBIDDEN}),
    },
    {
      id: 'quota',
      is: 'skip',
      when: 'pods cannot be read',
      but: has({quotas: quotas({pods: '9'}), pods: FORBIDDEN}),
    },
    {
      id: 'quota',
      is: 'skip',
      when: 'nothing is rendered',
      but: {
        ...has({quotas: quotas({pods: '9'})}),
        manifest: unknown('failed', 'helm refuses to render the chart'),
      },
    },
    {
      id: 'quota',
      is: 'pass',
      when: 'there is room',
      flags: three,
      but: has({quotas: quotas({pods: '9', 'requests.cpu': '8'})}),
    },
    {
      id: 'quota',
      is: 'pass',
      when: 'it counts nothing of the chart',
      flags: local,
      but: has({quotas: quotas({services: '0'})}),
    },
    {
      id: 'quota',
      is: 'fail',
      when: 'two of three agents fit',
      flags: three,
      but: has({quotas: quotas({cpu: '2500m'})}),
    },
    {
      id: 'quota',
      is: 'fail',
      when: 'others use it',
      flags: three,
      but: has({quotas: quotas({pods: '9'}, {used: {pods: '8'}})}),
    },
    {
      id: 'quota',
      is: 'pass',
      when: 'the release uses it itself',
      flags: local,
      but: has({quotas: quotas({cpu: '1'}, {used: {cpu: '1'}}), pods: ofRelease}),
    },
    {
      id: 'quota',
      is: 'warn',
      when: 'an update needs one more pod',
      flags: three,
      but: has({
        quotas: quotas({cpu: '3500m', pods: '3'}, {used: {cpu: '1', pods: '1'}}),
        pods: ofRelease,
        objects: running,
      }),
    },
    {
      id: 'quota',
      is: 'pass',
      when: 'an update stops the old pod first',
      flags: {...local, set: ['strategy.type=Recreate']},
      but: {
        ...has({
          quotas: quotas({pods: '1'}, {used: {pods: '1'}}),
          pods: ofRelease,
          objects: running,
        }),
        ...strategy({type: 'Recreate'}),
      },
    },
    {
      id: 'quota',
      is: 'pass',
      when: 'an update may do without one pod',
      flags: local,
      but: {
        ...has({
          quotas: quotas({pods: '1'}, {used: {pods: '1'}}),
          pods: ofRelease,
          objects: running,
        }),
        ...strategy({rollingUpdate: {maxUnavailable: 1, maxSurge: 1}}),
      },
    },
    {
      id: 'quota',
      is: 'warn',
      when: 'an update of agent-job needs one more pod',
      but: has({
        quotas: quotas({'count/pods': '2'}),
        objects: new Map([
          ['Deployment scalr-agent', known(object('Deployment', {}), 'deployments')],
        ]),
      }),
    },
    {
      id: 'quota',
      is: 'fail',
      when: 'memory for the runs is short',
      flags: {concurrency: '5'},
      but: has({quotas: quotas({memory: '3Gi'})}),
    },
    {
      id: 'quota',
      is: 'fail',
      when: 'runs that agent-k8s makes have no room',
      flags: {chart: 'agent-k8s', concurrency: '4'},
      but: has({
        quotas: quotas({'limits.memory': '32Gi'}),
        limitRanges: ranges({type: 'Container', default: {memory: '1Gi'}}),
      }),
    },
    {
      id: 'quota',
      is: 'pass',
      when: 'a LimitRange gives them one',
      but: has({
        quotas: quotas({'limits.cpu': '90'}),
        limitRanges: ranges({type: 'Container', default: {cpu: '8'}}),
      }),
    },
    {
      id: 'quota',
      is: 'fail',
      when: 'claims are short',
      flags: pvc,
      but: has({quotas: quotas({persistentvolumeclaims: '0'})}),
    },
    {
      id: 'quota',
      is: 'fail',
      when: 'Secrets are short',
      flags: local,
      but: has({quotas: quotas({'count/secrets': '0'})}),
    },
    {
      id: 'quota',
      is: 'pass',
      when: 'it is for pods that end',
      flags: local,
      but: has({quotas: quotas({pods: '0'}, {scopes: ['Terminating']})}),
    },
    {
      id: 'quota',
      is: 'fail',
      when: 'it is for pods of any other priority',
      flags: local,
      but: has({
        quotas: quotas(
          {pods: '0'},
          {
            scopeSelector: {
              matchExpressions: [{scopeName: 'PriorityClass', operator: 'NotIn', values: ['high']}],
            },
          },
        ),
      }),
    },
  ],
);
