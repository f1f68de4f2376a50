import {versionStatus} from '../../charts/charts.ts';
import type {ChartName} from '../../charts/releases/chart-name.ts';
import {agentVersionOf} from '../../charts/releases/schema.ts';
import type {LogRecord} from '../../checks/diagnose/log-matcher.ts';
import type {Claim, Pod} from '../../cluster/kubernetes/objects.ts';
import {platformOf} from '../../cluster/platform/platform.ts';
import {isKnown, known} from '../../ground/fact.ts';
import {
  evidenceText,
  type ObjectFinding,
  objectFinding,
  type Verdict,
} from '../../ground/finding.ts';
import {count, sizeText} from '../../ground/text.ts';
import {cleanGap, type Gap, gapFinding} from './collect/gap.ts';
import {logContainers} from './collect/log-items.ts';
import type {PreparedBundle} from './collect/prepare.ts';
import type {RedactionReport} from './redact/redactor.ts';

/** Support address in the READMEs of the charts. */
export const SUPPORT_CENTER = 'https://scalr-labs.atlassian.net/servicedesk/customer/portal/31';

export interface BundleContents {
  at: Date;
  found: readonly ObjectFinding[];
  missing: readonly Gap[];
  logs: readonly Pick<LogRecord, 'file' | 'cut' | 'cutAfter' | 'bytes' | 'lines'>[];
  /** Names of all other files. */
  files: readonly string[];
}

/**
 * The summary, starting with the verdict. Secrets are redacted at once; the files in which the final check finds one are known later.
 */
export function summaryText(
  prepared: PreparedBundle,
  {at, found, missing, logs, files}: BundleContents,
  clean: Clean,
): (withheld: readonly string[]) => string {
  const {about = `namespace ${prepared.name}`, noun, skipsSecrets = false} = prepared;
  const findings = found.map((each) => cleanFinding(each, clean));
  const gaps = missing.map((each) => cleanGap(each, clean));
  const of = (desired: Verdict): string[] =>
    findings.filter(({verdict}) => verdict === desired).map(findingMarkdown);
  const unsearched = unsearchedText({gaps, skipsSecrets});
  const subject = clean(about);
  const releases = prepared.releases.map((each) =>
    releaseText({...each, name: clean(each.name), status: clean(each.status)}),
  );
  const versions = versionsText(prepared).map(([name, version]) => `- ${name}: ${clean(version)}`);
  return (withheld) =>
    [
      ...(unsearched === undefined ? [] : [`${unsearched}\n`]),
      `# Support bundle of ${subject}\n`,
      `${verdict(findings, gaps, logs)}\n`,
      `Created ${at.toISOString()} by scalr-agent collect-logs. ${noun === 'unit' ? 'Units' : 'Containers'}: ${logContainers(prepared.logs)}.\n`,
      ...section(
        'Withheld: the final check found a secret, which was masked, or the file was left out',
        withheld.map((file) => `- ${file}`),
      ),
      ...section('Errors', of('error')),
      ...section('Warnings', of('warning')),
      ...section('Unknown', of('unknown')),
      ...section('Notes', of('note')),
      '## Not included\n',
      missingLines(gaps, logs).join('\n') || '- nothing is missing',
      '',
      ...section(
        'Releases',
        releases,
        prepared.about === undefined ? '- no Helm releases found' : undefined,
      ),
      ...section('Versions', versions),
      '## Contents\n',
      contentsText({logs, files}),
      '## Support\n',
      `Open a request at the Scalr Support Center and attach this bundle: ${SUPPORT_CENTER}\n`,
    ].join('\n');
}

export type Unsearched = Pick<PreparedBundle, 'gaps' | 'skipsSecrets'>;

/** Warning to read before the bundle is sent. */
export function unsearchedText({gaps, skipsSecrets}: Unsearched): string | undefined {
  const unread = gaps.filter(({isOfSecrets}) => isOfSecrets).length;
  if (!skipsSecrets && unread === 0) return undefined;
  const reason = skipsSecrets ? '--no-secret-seeds' : `${count(unread, 'namespace')} not readable`;
  return `Secrets were not searched: ${reason}. Review before sending.`;
}

/** Number of redactions by rule; written last, because the summary itself is counted. Pure. */
export const redactionText = ({
  total,
  rules,
  notSearched,
}: Pick<RedactionReport, 'total' | 'rules' | 'notSearched'>): string =>
  [
    `## Redaction: ${count(total, 'place')}\n`,
    Object.entries(rules)
      .map(([rule, count]) => `- ${rule}: ${count}`)
      .join('\n') || '- nothing was redacted',
    ...(notSearched.length > 0
      ? [`- not searched, because too short, common or public: ${notSearched.join(', ')}`]
      : []),
    '',
  ].join('\n');

const section = (title: string, lines: readonly string[], instead?: string): string[] =>
  lines.length === 0 && instead === undefined
    ? []
    : [`## ${title}\n`, lines.join('\n') || (instead ?? ''), ''];

/** The findings in one sentence. Pure. */
export function verdictText(
  findings: readonly Pick<ObjectFinding, 'verdict' | 'subject' | 'code'>[],
): string {
  const problems = findings.filter(({verdict}) => verdict !== 'note');
  const numberOf = (desired: Verdict): number =>
    problems.filter(({verdict}) => verdict === desired).length;
  const [first] = problems;
  if (first === undefined) return 'No problems found.';
  const unknown = numberOf('unknown');
  const more = unknown === 0 ? '' : `, ${unknown} unknown`;
  return `${count(numberOf('error'), 'error')}, ${count(numberOf('warning'), 'warning')}${more}. Start with ${first.subject.object} (${first.code}).`;
}

function verdict(
  findings: readonly ObjectFinding[],
  gaps: readonly Gap[],
  logs: BundleContents['logs'],
): string {
  const lacks = gaps.filter(({isMinor}) => !isMinor).length;
  const whole =
    lacks > 0
      ? `The bundle is incomplete: ${count(lacks, 'part')} could not be read.`
      : 'The bundle is complete.';
  const cut = cutLogs(logs).length;
  const fits =
    cut > 0
      ? ` To fit --max-size, ${count(cut, 'log')} ${cut === 1 ? 'was' : 'were'} cut in the middle.`
      : '';
  return `**${verdictText(findings)}**\n\n${whole}${fits}`;
}

/** Logs that were cut because of --max-size do not make the bundle incomplete. */
export const cutLogs = (logs: BundleContents['logs']): BundleContents['logs'] =>
  logs.filter(({cut}) => cut !== undefined);

export const cutFinding = ({file, cut, cutAfter}: BundleContents['logs'][number]): ObjectFinding =>
  objectFinding('note', file, 'LOG_CUT', {
    message: `${cut} bytes cut from the middle${cutAfter === undefined ? '' : ` after ${cutAfter}`}`,
    remedy: 'Increase --max-size',
  });

const headMarkdown = ({subject, code, message}: ObjectFinding): string =>
  `${subject.object} (${code}): ${message}`;

const findingMarkdown = (finding: ObjectFinding): string =>
  [
    `- ${headMarkdown(finding)}`,
    ...(finding.evidence === undefined ? [] : [`  - see: ${evidenceText(finding.evidence)}`]),
    ...finding.remedies.map(({text}) => `  - do: ${text}`),
  ].join('\n');

const missingLines = (gaps: readonly Gap[], logs: BundleContents['logs']): string[] => [
  ...gaps.filter(({isMinor}) => !isMinor).map((gap) => findingMarkdown(gapFinding(gap))),
  ...cutLogs(logs).map((log) => findingMarkdown(cutFinding(log))),
  ...gaps
    .filter(({isMinor}) => isMinor)
    .map((gap) => `${findingMarkdown(gapFinding(gap))} (optional)`),
];

function releaseText({name, chart, version, status}: PreparedBundle['releases'][number]): string {
  const agent = agentVersionOf({chart, version});
  const agentText = agent === undefined ? '' : `agent ${agent}, `;
  return `- ${name}: ${chart} ${version}, ${status}; ${agentText}${standingText(chart, version)}`;
}

function standingText(chart: ChartName, version: string): string {
  const {standing, behind, newestKnown} = versionStatus(chart, version);
  if (standing === 'newest') return 'newest known version';
  return behind > 0 ? `${behind} behind ${newestKnown}` : `newer than ${newestKnown}`;
}

/** One line for each kind of file. Pure. */
function contentsText({logs, files}: Pick<BundleContents, 'logs' | 'files'>): string {
  const filesIn = (pattern: RegExp): number => files.filter((file) => pattern.test(file)).length;
  const lines = logs.reduce((sum, log) => sum + log.lines, 0);
  const bytes = logs.reduce((sum, log) => sum + log.bytes, 0);
  const previous = logs.some(({file}) => file.endsWith('.previous.log'));
  const rows: readonly (readonly [file: string, text: string, isThere: boolean])[] = [
    ['report.html', 'this summary, logs, timeline and objects; open it in a browser', true],
    ['TICKET.md', "Scalr's support form, pre-filled where possible", true],
    ['findings.json, errors.json', 'findings and missing parts as JSON', true],
    [
      'logs/',
      `${count(logs.length, 'log')}, ${count(lines, 'line')}, ${sizeText(bytes)}${previous ? '; .previous.log is the log before a restart' : ''}`,
      logs.length > 0,
    ],
    ['events.txt', 'events, newest last', files.includes('events.txt')],
    [
      'objects/',
      `${count(filesIn(/^objects\//), 'object')} of the cluster, without Secrets`,
      filesIn(/^objects\//) > 0,
    ],
    [
      'gone/',
      `${count(filesIn(/^gone\//), 'object')} deleted while watching, in their last state`,
      filesIn(/^gone\//) > 0,
    ],
    [
      'releases/',
      'history, values, their differences and manifest of the Helm releases',
      filesIn(/^releases\//) > 0,
    ],
    [
      'network.json',
      'network plugin, and whether it enforces network policies',
      files.includes('network.json'),
    ],
    ['docker/', 'state of the container and of the Docker daemon', filesIn(/^docker\//) > 0],
    ['systemd/', 'units and their properties', filesIn(/^systemd\//) > 0],
    ['host/', 'operating system of the machine', filesIn(/^host\//) > 0],
    [
      'tools.json, version.json',
      'versions of the tools and of the cluster',
      files.includes('tools.json'),
    ],
    ['redactions.json', 'number of redactions by rule and file', true],
    ['manifest.json', 'size and checksum of every file, for scalr-agent inspect', true],
  ];
  return `${rows.map(([file, text, isThere]) => (isThere ? `- ${file}: ${text}\n` : '')).join('')}`;
}

/** Redacts a text. */
type Clean = (text: string) => string;

// Redacted separately: in a combined sentence, a file name such as token.log would redact the text after its colon.

export const cleanFinding = (finding: ObjectFinding, clean: Clean): ObjectFinding => ({
  ...finding,
  subject: {object: clean(finding.subject.object)},
  message: clean(finding.message),
  remedies: finding.remedies.map(({text}) => ({text: clean(text)})),
});

/** Name and version of the cluster, its nodes and the tools. Pure. */
export function versionsText({
  cluster,
}: Pick<PreparedBundle, 'cluster'>): [name: string, version: string][] {
  if (cluster === undefined) return [];
  const kubelets = new Map<string, number>();
  for (const {status} of cluster.nodes) {
    const version = status?.nodeInfo?.kubeletVersion ?? 'unknown';
    kubelets.set(version, (kubelets.get(version) ?? 0) + 1);
  }
  const nodes = [...kubelets].map(([version, nodes]) => `${version} on ${count(nodes, 'node')}`);
  return [
    ['Kubernetes', cluster.server ?? 'not read'],
    ...(nodes.length > 0 ? ([['kubelets', nodes.join(', ')]] as [string, string][]) : []),
    ...Object.entries(cluster.tools).map(([tool, version]): [string, string] => [
      tool,
      version ?? 'not found',
    ]),
  ];
}

/** Where the user writes what the bundle cannot know. */
const TO_FILL = '(please fill in)';

/** Scalr's support form, pre-filled where possible. `clean` redacts each value. Pure. */
export function ticketText(
  prepared: Pick<PreparedBundle, 'releases' | 'cluster' | 'scope' | 'about'>,
  findings: readonly ObjectFinding[],
  clean: Clean,
): string {
  const {releases, scope, about} = prepared;
  const field = (title: string, lines: readonly string[]): string =>
    [
      `## ${title}\n`,
      ...(lines.length > 0 ? [...new Set(lines)].map((line) => `- ${clean(line)}`) : [TO_FILL]),
      '',
    ].join('\n');
  return [
    '# Support ticket\n',
    `Copy this form into a request and attach the bundle: ${SUPPORT_CENTER}\n`,
    field('What happened, when, and in which run', []),
    field('Findings of this program', [
      verdictText(findings),
      ...findings.filter(({verdict}) => verdict !== 'note').map(headMarkdown),
    ]),
    field('Install type', about === undefined ? releases.map(ticketRelease) : [about]),
    field('Platform type and vendor', platformLines(prepared)),
    field('CPU and memory limits', scope.pods.flatMap(limitLines)),
    field('CPU and memory in use', []),
    field('Disk type', [
      ...scope.pods.flatMap(diskLines),
      ...scope.objects.filter(({kind}) => kind === 'PersistentVolumeClaim').map(claimText),
    ]),
    field('IOPS limits and throughput of the disk', []),
    field('Debug logs', [
      findings.some(({code}) => code === 'DEBUG_OFF')
        ? 'off when the bundle was collected'
        : 'see the logs in the bundle',
    ]),
    field(
      'Configuration that differs from the chart',
      releases.flatMap(({name, values}) =>
        values === undefined ? [] : [`see releases/${name}/values.json in the bundle`],
      ),
    ),
  ].join('\n');
}

function ticketRelease({name, chart, version, status}: PreparedBundle['releases'][number]): string {
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
    ...versionsText({cluster: {...cluster, tools: {}}}).map(
      ([name, version]) => `${name}: ${version}`,
    ),
  ];
}

const limitLines = ({metadata, spec}: Pod): string[] =>
  (spec?.containers ?? []).map(({name, resources}) => {
    const limits = Object.entries(resources?.limits ?? {}).map(
      ([resource, limit]) => `${resource} ${limit}`,
    );
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
  const facts = [
    spec?.resources?.requests?.storage ?? 'unknown size',
    `StorageClass ${spec?.storageClassName ?? 'unknown'}`,
  ];
  return `PVC ${metadata.name}: ${[...facts, ...(spec?.accessModes ?? [])].join(', ')}`;
}
