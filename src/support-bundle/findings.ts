import type {Target} from '../charts/define.ts';
import type {Values} from '../charts/tree.ts';
import type {Claim, ContainerStatus, Event, KubernetesObject, Pod, Snapshot, Workload} from '../cluster/objects.ts';
import {explain} from '../execute/explain/explain.ts';
import {validate} from '../values/validate/validate.ts';
import type {LogRecord} from './collect.ts';
import {jsonText} from './object-files.ts';

/** Something that support would look at first. */
export interface Finding {
  severity: 'error' | 'warning';
  code: string;
  /** What it is about: pod/name, values of release name. */
  object: string;
  message: string;
  /** Where it can be seen in the bundle. */
  evidence?: string;
  remedy: string;
}

interface Seen {
  objects: readonly KubernetesObject[];
  logs: readonly LogRecord[];
  releases: readonly {name: string; target: Target; values: Values | undefined}[];
  now: Date;
}

const WORKLOADS = ['Deployment', 'DaemonSet', 'ReplicaSet', 'Job'];

/** Why agents and runs are not well, what restarted, and what the values of a release do wrong. Pure. */
export function findingsIn({objects, logs, releases, now}: Seen): Finding[] {
  const of = <T extends KubernetesObject>(...kinds: string[]): T[] => objects.filter(({kind = ''}) => kinds.includes(kind)) as T[];
  const pods = of<Pod>('Pod');
  const snapshot: Snapshot = {
    workloads: of<Workload>(...WORKLOADS),
    pods,
    claims: of<Claim>('PersistentVolumeClaim'),
    events: of<Event>('Event'),
    logs: lastWords(pods, logs),
  };
  const causes = explain(snapshot, now).map(
    ({object, code, reason, remedy, isHopeless}): Finding => ({
      severity: isHopeless ? 'error' : 'warning',
      code,
      object,
      message: reason,
      ...evidenceFor(object, logs),
      remedy,
    }),
  );
  const told = new Set(causes.map(({object}) => object));
  return [...causes, ...pods.filter(({metadata}) => !told.has(`pod/${metadata.name}`)).flatMap(restarts), ...releases.flatMap(mistakes)];
}

/** What containers said last, without the times that kubelets put before lines; of one that does not run, what it said before it ended. */
function lastWords(pods: readonly Pod[], logs: readonly LogRecord[]): Snapshot['logs'] {
  const tails = new Map(logs.map(({file, tail}) => [file, tail.replaceAll(TIME, '')]));
  const said = pods.flatMap(({metadata: {name: pod}, status}) =>
    [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].map(({name, state}): [string, string | undefined] => {
      const [current, previous] = ['log', 'previous.log'].map((end) => tails.get(`logs/${pod}/${name}.${end}`));
      return [`${pod}/${name}`, state?.running ? current : (previous ?? current)];
    }),
  );
  return Object.fromEntries(said.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d) /gm;

/** A pod that is well again has been unwell. */
const restarts = ({metadata, status}: Pod): Finding[] =>
  [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].flatMap((container): Finding[] => {
    const ended = container.lastState?.terminated;
    if (!container.restartCount || ended === undefined) return [];
    const isMemory = ended.reason === 'OOMKilled';
    return [
      {
        severity: 'warning',
        code: isMemory ? 'OOM_KILLED' : 'RESTARTED',
        object: `pod/${metadata.name}`,
        message: `container ${container.name} restarted ${times(container)}: ${ended.reason ?? 'it ended'} (exit code ${ended.exitCode ?? 'unknown'}${ended.finishedAt ? `, ${ended.finishedAt}` : ''})`,
        evidence: `logs/${metadata.name}/${container.name}.previous.log`,
        remedy: isMemory ? 'Give it more memory: --run-memory-limit for runs' : 'Read what it said before it ended',
      },
    ];
  });

const times = ({restartCount = 0}: ContainerStatus): string => (restartCount === 1 ? 'once' : `${restartCount} times`);

/** What is known of values in this very version, known bugs of the chart included. */
const mistakes = ({name, target, values}: Seen['releases'][number]): Finding[] =>
  values === undefined
    ? []
    : validate(jsonText(values), target).map(({severity, code, path, message, suggestion}) => ({
        severity,
        code,
        object: `release/${name}`,
        message: path === '' ? message : `${path}: ${message}`,
        evidence: `releases/${name}/values.json`,
        remedy: suggestion ?? `See scalr-agent validate, with --chart ${target.chart} --chart-version ${target.version}`,
      }));

/** The log of the pod that was read, and its last line. */
function evidenceFor(object: string, logs: readonly LogRecord[]): {evidence?: string} {
  const [kind, name] = object.split('/');
  const log = kind === 'pod' ? logs.find(({file}) => file.startsWith(`logs/${name}/`)) : undefined;
  return log === undefined ? (kind === 'pod' || kind === 'claim' ? {evidence: 'events.txt'} : {}) : {evidence: log.file};
}
