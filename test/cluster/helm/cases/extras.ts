import type {Values} from '../../../../src/ground/tree.ts';
import {agentRoles, type Case, claim, inEach, NESTED, variableIn} from '../claims.ts';
import {mountedAt, type Role} from '../workloads.ts';

const MIRRORS = ['https://mirror.example.com/', 'https://backup.example.com/providers/'];
const NODE = {matchExpressions: [{key: 'pool', operator: 'In', values: ['runs']}]};
const AFFINITY = {
  nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [NODE]}},
};
const SIDECAR = {name: 'watch', image: 'example.com/watch:1', args: ['--all']};

const affinityCase = (
  setting: string,
  roles: Partial<Record<string, readonly Role[]>>,
  takenBy: Case['takenBy'],
): Case => ({
  name: setting,
  settings: {[setting]: JSON.stringify(AFFINITY)},
  takenBy,
  check: (rendered) =>
    inEach(rendered, roles[rendered.target.chart] ?? [], ({pod}) => [
      claim('affinity', pod.spec['affinity'], AFFINITY),
    ]),
});

/** What older versions of this program left to --set. */
export const extraCases: readonly Case[] = [
  {
    name: 'provider mirrors',
    settings: {'provider-mirror': MIRRORS},
    takenBy: {'agent-local': '>=0.6.4', 'agent-job': '>=0.6.4'},
    check: (rendered) =>
      variableIn(
        rendered,
        agentRoles(rendered.target),
        'SCALR_AGENT_PROVIDER_NETWORK_MIRRORS',
        JSON.stringify(MIRRORS.map((url) => ({url}))),
      ),
  },
  {
    name: 'a limit for the module cache',
    settings: {'module-cache-limit': '15Gi'},
    takenBy: {'agent-local': '*', 'agent-job': '>=0.5.65'},
    check: (rendered) => [
      ...variableIn(
        rendered,
        agentRoles(rendered.target),
        'SCALR_AGENT_MODULE_CACHE_SIZE_LIMIT_MB',
        '15360',
      ),
      ...variableIn(
        rendered,
        agentRoles(rendered.target),
        'SCALR_AGENT_MODULE_CACHE_ENABLED',
        'true',
      ),
    ],
  },
  {
    name: 'CPU and memory of the worker',
    settings: {
      'worker-cpu-request': '300m',
      'worker-cpu-limit': '3',
      'worker-memory-request': '300Mi',
      'worker-memory-limit': '3Gi',
    },
    takenBy: {'agent-job': NESTED},
    check: (rendered) =>
      inEach(rendered, ['worker'], ({resources}) => [
        claim('resources', resources, {
          requests: {cpu: '300m', memory: '300Mi'},
          limits: {cpu: '3', memory: '3Gi'},
        }),
      ]),
  },
  affinityCase(
    'affinity',
    {'agent-local': ['agent'], 'agent-job': ['runner']},
    {'agent-local': '*', 'agent-job': NESTED},
  ),
  affinityCase('controller-affinity', {'agent-job': ['controller']}, {'agent-job': NESTED}),
  {
    name: 'a Secret and a PVC where runs execute',
    settings: {mount: ['secret/aws.prod:/opt/aws', 'pvc/modules:/mnt/modules']},
    takenBy: {'agent-local': '>=0.6.1', 'agent-job': NESTED},
    check: (rendered) =>
      inEach(
        rendered,
        rendered.target.chart === 'agent-job' ? ['runner'] : ['agent'],
        (container) => [
          claim('Secret', mountedAt(container, '/opt/aws')?.volume?.['secret'], {
            secretName: 'aws.prod',
          }),
          claim('mount of the Secret', mountedAt(container, '/opt/aws')?.mount.readOnly, true),
          claim('PVC', mountedAt(container, '/mnt/modules')?.volume?.['persistentVolumeClaim'], {
            claimName: 'modules',
          }),
        ],
      ),
  },
  {
    name: 'a sidecar',
    settings: {sidecar: [JSON.stringify(SIDECAR)]},
    takenBy: {'agent-job': NESTED},
    check: (rendered) =>
      inEach(rendered, ['runner'], ({pod}) => {
        const containers = [pod.spec['containers'], pod.spec['initContainers']].flatMap(
          (each) => (each ?? []) as Values[],
        );
        return [
          claim(
            'sidecar',
            containers.find(({name}) => name === 'watch'),
            SIDECAR,
          ),
        ];
      }),
  },
];
