import {within} from '../../../charts/releases/versions.ts';
import {mapsIn, podSpecs} from '../../../cluster/kubernetes/pod-specs.ts';
import type {Remedy} from '../../../findings/finding.ts';
import {changing} from '../../../findings/finding.ts';
import {kubectlCommand} from '../../../ground/command-line.ts';
import {isKnown} from '../../../ground/fact.ts';
import {getAt, isMap, type Path, type Tree, type Values} from '../../../ground/tree.ts';
import {set} from '../../../settings/chart-values.ts';
import {chart, namespace} from '../../../settings/release.ts';
import type {PreflightContext} from '../facts/context.ts';
import {type Check, check} from './check.ts';
import {fail, notChecked, pass, unreadable} from './check-result.ts';
import {withoutHostPath} from './cluster.ts';
import {limitRange} from './limit-range.ts';
import {quota} from './quota.ts';

const LABEL = 'pod-security.kubernetes.io/enforce';
/** The strictest first. */
const LEVELS = ['restricted', 'baseline', 'privileged'] as const;
type Level = (typeof LEVELS)[number];

const podSecurity = check('Namespace', 'pod-security', 'Pod Security Standards', {
  ref: 'https://kubernetes.io/docs/concepts/security/pod-security-standards/',
  run(context) {
    const {facts, readings, manifest} = context;
    const {kubeTarget} = context.name;
    if (!isKnown(manifest)) return unreadable(manifest, 'render the chart');
    const pods = manifest.value.flatMap(podSpecs);
    const violationsAt = (level: Level): string[] => [
      ...new Set(pods.flatMap((pod) => violations(pod, level))),
    ];
    const needed = LEVELS.find((level) => violationsAt(level).length === 0) as Level;
    const allow = kubectlCommand(
      kubeTarget,
      'label',
      'namespace',
      kubeTarget.namespace,
      `${LABEL}=${needed}`,
      '--overwrite',
    );
    const {podSecurity: level} = facts.policies;
    if (!isKnown(level)) {
      const {namespaceObject} = readings;
      if (needed === 'restricted')
        return pass('The pods comply with the strictest level, restricted');
      if (!isKnown(namespaceObject)) return notChecked(namespaceObject.because);
      const make =
        namespaceObject.value === undefined
          ? `${kubectlCommand(kubeTarget, 'create', 'namespace', kubeTarget.namespace)} && `
          : '';
      return notChecked(
        `Cannot read the level of the namespace: ${level.because}; the pods require ${needed}`,
        `Set the level: ${make}${allow}`,
      );
    }
    const broken = violationsAt(level.value as Level);
    if (broken.length === 0)
      return pass(`${kubeTarget.namespace} enforces ${level.value}; the pods require ${needed}`);
    return {
      verdict: 'error',
      message: `${kubeTarget.namespace} enforces ${level.value}, which forbids: ${broken.join(', ')}`,
      remedies: remediesFor(level.value as Level, pods, allow, context),
    };
  },
});

/** Settings that comply with the level; the namespace label is relaxed only if there are none. */
function remediesFor(
  level: Level,
  pods: readonly Values[],
  allow: string,
  context: PreflightContext,
): readonly Remedy[] {
  const {target} = context;
  const broken = pods.flatMap((pod) => violations(pod, level));
  if (broken.every((each) => each.startsWith(HOST_PATH)))
    return [withoutHostPath(context), {text: `Or allow these pods: ${allow}`}];
  const row =
    level === 'restricted'
      ? RESTRICTED.find(
          ({chart, in: range}) => chart === target.chart && within(target.version, range),
        )
      : undefined;
  const left = [...new Set(pods.map(hardened).flatMap((pod) => violations(pod, level)))];
  if (row !== undefined && left.length === 0)
    return [changing(set, `Use settings that comply:\n${row.options.join(' ')}`)];
  if (row !== undefined)
    return [
      changing(
        set,
        `Remove what no setting can fix (${left.join(', ')}), and use:\n${row.options.join(' ')}`,
      ),
    ];
  if (level !== 'restricted') return [{text: `Allow these pods: ${allow}`}];
  const other = `No settings of ${target.chart} ${target.version} are known to comply. Use --chart agent-local in this namespace`;
  return [changing(chart, other), {text: `Or allow these pods: ${allow}`}];
}

const CONTAINER = {
  allowPrivilegeEscalation: 'false',
  runAsNonRoot: 'true',
  'capabilities.drop': '["ALL"]',
};
const containerOptions = (path: string): string[] =>
  Object.entries(CONTAINER).map(([key, value]) => `--set '${path}.${key}=${value}'`);

/** What makes the pods of a chart comply with the level restricted; test/cluster/helm renders it, and an API server has admitted it. */
export const RESTRICTED = [
  {
    chart: 'agent-local',
    in: '*',
    options: [
      '--set securityContext.allowPrivilegeEscalation=false',
      '--set podSecurityContext.seccompProfile.type=RuntimeDefault',
    ],
  },
  {
    chart: 'agent-job',
    in: '>=0.5.64',
    options: [
      ...containerOptions('agent.controller.securityContext'),
      ...containerOptions('task.worker.securityContext'),
    ],
  },
] as const;

/** A pod with all that those options set. */
function hardened(pod: Values): Values {
  const harden = (container: Values): Values => {
    const own = isMap(container['securityContext'] as Tree)
      ? (container['securityContext'] as Values)
      : {};
    const security = {
      ...own,
      allowPrivilegeEscalation: false,
      runAsNonRoot: true,
      capabilities: {...((own['capabilities'] ?? {}) as Values), drop: ['ALL']},
    };
    return {...container, securityContext: security};
  };
  const own = isMap(pod['securityContext'] as Tree) ? (pod['securityContext'] as Values) : {};
  const lists = (['containers', 'initContainers'] as const).filter((key) =>
    Array.isArray(pod[key]),
  );
  return {
    ...pod,
    securityContext: {...own, seccompProfile: {type: 'RuntimeDefault'}},
    ...Object.fromEntries(lists.map((key) => [key, mapsIn(pod[key]).map(harden)])),
  };
}

const ADDABLE = [
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
];
const VOLUMES = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
  'image',
];
const SAFE_PROFILES = ['RuntimeDefault', 'Localhost'];

/** The start of every violation by a hostPath volume. */
const HOST_PATH = 'hostPath volume';

/** What Pod Security rejects in a pod at a level, by the published standards; the admission controller decides. Pure. */
export function violations(pod: Values, level: Level): string[] {
  if (level === 'privileged') return [];
  const containers = ['initContainers', 'containers'].flatMap((key) => mapsIn(pod[key]));
  const found = [
    ...baseline(pod, containers),
    ...(level === 'restricted' ? restricted(pod, containers) : []),
  ];
  return [...new Set(found)];
}

function baseline(pod: Values, containers: readonly Values[]): string[] {
  return [
    ...['hostNetwork', 'hostPID', 'hostIPC'].filter((key) => pod[key] === true),
    ...mapsIn(pod['volumes']).flatMap((volume) =>
      isMap(volume['hostPath']) ? [`${HOST_PATH} ${String(volume['hostPath']['path'])}`] : [],
    ),
    ...containers.flatMap((container) => {
      const name = String(container['name']);
      const security = (path: Path): Tree | undefined =>
        getAt(container, ['securityContext', ...path]);
      return [
        ...(security(['privileged']) === true ? [`privileged container ${name}`] : []),
        ...listIn(security(['capabilities', 'add']))
          .filter((each) => !ADDABLE.includes(each))
          .map((each) => `capability ${each} of ${name}`),
        ...(mapsIn(container['ports']).some(({hostPort}) => Boolean(hostPort))
          ? [`host port of ${name}`]
          : []),
        ...(['Default', undefined].includes(security(['procMount']) as string)
          ? []
          : [`procMount of ${name}`]),
      ];
    }),
    ...([pod, ...containers].some(
      (each) => getAt(each, ['securityContext', 'seccompProfile', 'type']) === 'Unconfined',
    )
      ? ['seccompProfile Unconfined']
      : []),
  ];
}

function restricted(pod: Values, containers: readonly Values[]): string[] {
  const ofPod = (key: string): Tree | undefined => getAt(pod, ['securityContext', key]);
  return [
    ...mapsIn(pod['volumes']).flatMap((volume) =>
      Object.keys(volume)
        .filter((key) => key !== 'name' && key !== 'hostPath' && !VOLUMES.includes(key))
        .map((key) => `${key} volume`),
    ),
    ...(ofPod('runAsUser') === 0 ? ['runAsUser 0'] : []),
    ...containers.flatMap((container) => {
      const name = String(container['name']);
      const own = (...path: string[]): Tree | undefined =>
        getAt(container, ['securityContext', ...path]);
      const profile =
        own('seccompProfile', 'type') ?? getAt(pod, ['securityContext', 'seccompProfile', 'type']);
      return [
        ...(own('allowPrivilegeEscalation') === false
          ? []
          : [`allowPrivilegeEscalation of ${name} is not false`]),
        ...((own('runAsNonRoot') ?? ofPod('runAsNonRoot')) === true
          ? []
          : [`runAsNonRoot of ${name} is not true`]),
        ...(own('runAsUser') === 0 ? [`runAsUser 0 of ${name}`] : []),
        ...(listIn(own('capabilities', 'drop')).includes('ALL')
          ? []
          : [`${name} does not drop ALL capabilities`]),
        ...listIn(own('capabilities', 'add'))
          .filter((each) => each !== 'NET_BIND_SERVICE')
          .map((each) => `capability ${each} of ${name}`),
        ...(SAFE_PROFILES.includes(String(profile))
          ? []
          : [`seccompProfile of ${name} is not RuntimeDefault`]),
      ];
    }),
  ];
}

const listIn = (tree: Tree | undefined): string[] => (Array.isArray(tree) ? tree.map(String) : []);

const exists = check('Namespace', 'namespace', 'Namespace', {
  ref: 'https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/',
  run({readings: {namespaceObject}, name: {kubeTarget}}) {
    if (!isKnown(namespaceObject)) return notChecked(namespaceObject.because);
    const found = namespaceObject.value;
    if (found === undefined) return pass(`${kubeTarget.namespace} will be created`);
    return found.metadata.deletionTimestamp === undefined
      ? pass(`${kubeTarget.namespace} exists`)
      : fail(
          `${kubeTarget.namespace} is being deleted, so no objects can be created in it`,
          changing(
            namespace,
            `Use another one with --namespace, or wait until it is deleted: ${kubectlCommand(kubeTarget, 'wait', '--for=delete', `namespace/${kubeTarget.namespace}`, '--timeout=10m')}`,
          ),
        );
  },
});

export const namespaceChecks: readonly Check[] = [exists, podSecurity, limitRange, quota];
