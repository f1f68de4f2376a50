import {agentVersionOf} from '../charts/schema.ts';
import type {Finding} from '../diagnose/finding.ts';
import {isKnown, known} from '../ground/fact.ts';
import type {Claim, Pod} from '../kubernetes/objects.ts';
import {platformOf} from '../platform/platform.ts';
import type {PreparedBundle} from './collect/prepare.ts';
import {SUPPORT_CENTER, verdictText, versionsText} from './report.ts';

/** Where the user writes what the bundle cannot know. */
const TO_FILL = '(please fill in)';

/** The form that Scalr's support asks for, filled as far as known. `clean` redacts each value. Pure. */
export function ticketText(
  prepared: Pick<PreparedBundle, 'releases' | 'cluster' | 'scope' | 'about'>,
  findings: readonly Finding[],
  clean: (text: string) => string,
): string {
  const {releases, scope, about} = prepared;
  const field = (title: string, lines: readonly string[]): string =>
    [`## ${title}\n`, ...(lines.length > 0 ? [...new Set(lines)].map((line) => `- ${clean(line)}`) : [TO_FILL]), ''].join('\n');
  return [
    '# Support ticket\n',
    `Copy this form into a request and attach the bundle: ${SUPPORT_CENTER}\n`,
    field('What happened, when, and in which run', []),
    field('Findings of this program', [
      verdictText(findings),
      ...findings.filter(({severity}) => severity !== 'info').map(({object, code, message}) => `${object} (${code}): ${message}`),
    ]),
    field('Install type', about === undefined ? releases.map(releaseText) : [about]),
    field('Platform type and vendor', platformLines(prepared)),
    field('CPU and memory limits', scope.pods.flatMap(limitLines)),
    field('CPU and memory in use', []),
    field('Disk type', [
      ...scope.pods.flatMap(diskLines),
      ...scope.objects.filter(({kind}) => kind === 'PersistentVolumeClaim').map(claimText),
    ]),
    field('IOPS limits and throughput of the disk', []),
    field('Debug logs', [
      findings.some(({code}) => code === 'DEBUG_OFF') ? 'off when the bundle was collected' : 'see the logs in the bundle',
    ]),
    field(
      'Configuration that differs from the chart',
      releases.flatMap(({name, values}) => (values === undefined ? [] : [`see releases/${name}/values.json in the bundle`])),
    ),
  ].join('\n');
}

function releaseText({name, chart, version, status}: PreparedBundle['releases'][number]): string {
  const agent = agentVersionOf({chart, version});
  return `Kubernetes: release ${name}, chart ${chart} ${version}${agent === undefined ? '' : `, agent ${agent}`}, ${status}`;
}

function platformLines({cluster}: Pick<PreparedBundle, 'cluster'>): string[] {
  if (cluster === undefined) return [];
  const source = 'bundle';
  const {distribution, infrastructure} = platformOf({
    nodes: known(cluster.nodes, source),
    resources: known([], source),
    serverVersion: known(cluster.server ?? '', source),
  });
  const images = cluster.nodes.flatMap(({status}) => status?.nodeInfo?.osImage ?? []);
  return [
    ...(isKnown(distribution) ? [`distribution: ${distribution.value}`] : []),
    ...(isKnown(infrastructure) ? [`infrastructure: ${infrastructure.value}`] : []),
    ...images.map((image) => `nodes: ${image}`),
    ...versionsText({cluster: {...cluster, tools: {}}}).map(([name, version]) => `${name}: ${version}`),
  ];
}

const limitLines = ({metadata, spec}: Pod): string[] =>
  (spec?.containers ?? []).map(({name, resources}) => {
    const limits = Object.entries(resources?.limits ?? {}).map(([resource, limit]) => `${resource} ${limit}`);
    return `${metadata.name}/${name}: ${limits.join(', ') || 'no limits'}`;
  });

/** Volumes of a pod that are not claims, ConfigMaps and the like. */
const DISKS = ['emptyDir', 'hostPath', 'csi', 'nfs', 'ephemeral'];

const diskLines = ({metadata, spec}: Pod): string[] =>
  ((spec?.volumes ?? []) as readonly {name?: string}[]).flatMap((volume) => {
    const type = DISKS.find((each) => each in volume);
    return type === undefined ? [] : [`${metadata.name}/${volume.name}: ${type}`];
  });

function claimText({metadata, spec}: Claim): string {
  const facts = [spec?.resources?.requests?.storage ?? 'unknown size', `StorageClass ${spec?.storageClassName ?? 'unknown'}`];
  return `PVC ${metadata.name}: ${[...facts, ...(spec?.accessModes ?? [])].join(', ')}`;
}
