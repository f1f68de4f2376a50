import {versionStatus} from '../charts/charts.ts';
import {agentVersionOf} from '../charts/schema.ts';
import type {Finding} from '../diagnose/finding.ts';
import type {LogRecord} from '../diagnose/log-matcher.ts';
import {count, sizeText} from '../ground/text.ts';
import type {RedactionReport} from '../redact/redactor.ts';
import type {PreparedBundle} from './collect/prepare.ts';
import type {Gap} from './collect/read-namespace.ts';
import type {FoundRelease} from './collect/tools.ts';

/** Support address in the READMEs of the charts. */
export const SUPPORT_CENTER = 'https://scalr-labs.atlassian.net/servicedesk/customer/portal/31';

export interface Summary {
  at: Date;
  /** For example `namespace scalr-agent`. */
  about: string;
  /** Undefined without helm. */
  releases: readonly Pick<FoundRelease, 'name' | 'chart' | 'version' | 'status'>[] | undefined;
  /** Name and version of the cluster and tools. */
  versions: readonly (readonly [name: string, version: string])[];
  findings: readonly Finding[];
  gaps: readonly Gap[];
  /** With --no-secret-seeds. */
  skipsSecrets?: boolean | undefined;
  logs: readonly Pick<LogRecord, 'file' | 'cut' | 'cutAfter' | 'bytes' | 'lines'>[];
  /** Names of all other files. */
  files: readonly string[];
  containers: number;
  /** Counted objects. */
  noun: 'container' | 'unit';
  /** Files in which the final check found a secret. */
  withheld?: readonly string[];
}

/** The summary, starting with the verdict. Pure. */
export function summaryText(summary: Summary): string {
  const {at, about, releases, versions, findings, gaps, logs, containers, noun, withheld = []} = summary;
  const of = (wanted: Finding['severity']): Finding[] => findings.filter(({severity}) => severity === wanted);
  return [
    ...unsearchedLine(summary),
    `# Support bundle of ${about}\n`,
    `${verdict(summary)}\n`,
    `Created ${at.toISOString()} by scalr-agent collect-logs. ${noun === 'unit' ? 'Units' : 'Containers'}: ${containers}.\n`,
    ...section(
      'Withheld: the final check found a secret, which was masked, or the file was left out',
      withheld.map((file) => `- ${file}`),
    ),
    ...section('Errors', of('error').map(findingText)),
    ...section('Warnings', of('warning').map(findingText)),
    ...section('Notes', of('info').map(findingText)),
    '## Not included\n',
    missing(gaps, logs).join('\n') || '- nothing is missing',
    '',
    ...section('Releases', releases?.map(releaseText) ?? [], releases && '- no Helm releases found'),
    ...section(
      'Versions',
      versions.map(([name, version]) => `- ${name}: ${version}`),
    ),
    '## Contents\n',
    contentsText(summary),
    '## Support\n',
    `Open a request at the Scalr Support Center and attach this bundle: ${SUPPORT_CENTER}\n`,
  ].join('\n');
}

const unsearchedLine = (unsearched: Unsearched): string[] => {
  const text = unsearchedText(unsearched);
  return text === undefined ? [] : [`${text}\n`];
};

export type Unsearched = Pick<Summary, 'gaps' | 'skipsSecrets'>;

/** Warning to read before the bundle is sent. */
export function unsearchedText({gaps, skipsSecrets}: Unsearched): string | undefined {
  const unread = gaps.filter(({isOfSecrets}) => isOfSecrets).length;
  if (!skipsSecrets && unread === 0) return undefined;
  const reason = skipsSecrets ? '--no-secret-seeds' : `${count(unread, 'namespace')} not readable`;
  return `Secrets were not searched: ${reason}. Review before sending.`;
}

/** Number of redactions by rule; written last, because the summary itself is counted. Pure. */
export const redactionText = ({total, rules, notSearched}: Pick<RedactionReport, 'total' | 'rules' | 'notSearched'>): string =>
  [
    `## Redaction: ${count(total, 'place')}\n`,
    Object.entries(rules)
      .map(([rule, count]) => `- ${rule}: ${count}`)
      .join('\n') || '- nothing was redacted',
    ...(notSearched.length > 0 ? [`- not searched, because too short, common or public: ${notSearched.join(', ')}`] : []),
    '',
  ].join('\n');

const section = (title: string, lines: readonly string[], instead?: string): string[] =>
  lines.length === 0 && instead === undefined ? [] : [`## ${title}\n`, lines.join('\n') || (instead ?? ''), ''];

/** The findings in one sentence. Pure. */
export function verdictText(findings: readonly Pick<Finding, 'severity' | 'object' | 'code'>[]): string {
  const problems = findings.filter(({severity}) => severity !== 'info');
  const errors = problems.filter(({severity}) => severity === 'error').length;
  const [first] = problems;
  if (first === undefined) return 'No problems found.';
  return `${count(errors, 'error')}, ${count(problems.length - errors, 'warning')}. Start with ${first.object} (${first.code}).`;
}

function verdict({findings, gaps, logs}: Summary): string {
  const lacks = gaps.filter(({isMinor}) => !isMinor).length;
  const whole = lacks > 0 ? `The bundle is incomplete: ${count(lacks, 'part')} could not be read.` : 'The bundle is complete.';
  const cut = cutLogs(logs).length;
  const fits = cut > 0 ? ` To fit --max-size, ${count(cut, 'log')} ${cut === 1 ? 'was' : 'were'} cut in the middle.` : '';
  return `**${verdictText(findings)}**\n\n${whole}${fits}`;
}

/** Logs that were cut because of --max-size do not make the bundle incomplete. */
export const cutLogs = (logs: Summary['logs']): Summary['logs'] => logs.filter(({cut}) => cut !== undefined);

const findingText = ({object, code, message, evidence, line, remedy}: Finding): string =>
  [
    `- ${object} (${code}): ${message}`,
    ...(evidence === undefined ? [] : [`  - see: ${evidence}${line === undefined ? '' : `:${line}`}`]),
    `  - do: ${remedy}`,
  ].join('\n');

const missing = (gaps: readonly Gap[], logs: Summary['logs']): string[] => [
  ...gaps.filter(({isMinor}) => !isMinor).map(gapText),
  ...cutLogs(logs).map(({file, cut, cutAfter}) => {
    const after = cutAfter === undefined ? '' : ` after ${cutAfter}`;
    return `- ${file}: ${cut} bytes cut from the middle${after}, because of --max-size`;
  }),
  ...gaps.filter(({isMinor}) => isMinor).map((gap) => `${gapText(gap)} (optional)`),
];

const gapText = ({what, error}: Gap): string => `- ${what}: ${error.message}`;

function releaseText({name, chart, version, status}: NonNullable<Summary['releases']>[number]): string {
  const agent = agentVersionOf({chart, version});
  const {standing, behind, newestKnown} = versionStatus(chart, version);
  const place =
    standing === 'newest' ? 'newest known version' : behind > 0 ? `${behind} behind ${newestKnown}` : `newer than ${newestKnown}`;
  return `- ${name}: ${chart} ${version}, ${status}; ${agent === undefined ? '' : `agent ${agent}, `}${place}`;
}

/** One line for each kind of file. Pure. */
export function contentsText({logs, files}: Pick<Summary, 'logs' | 'files'>): string {
  const filesIn = (pattern: RegExp): number => files.filter((file) => pattern.test(file)).length;
  const [lines, bytes] = [logs.reduce((sum, log) => sum + log.lines, 0), logs.reduce((sum, log) => sum + log.bytes, 0)];
  const previous = logs.some(({file}) => file.endsWith('.previous.log'));
  const rows: readonly (readonly [file: string, text: string, isThere: boolean])[] = [
    ['report.html', 'this summary, logs, timeline and objects; open it in a browser', true],
    ['TICKET.md', "the form that Scalr's support asks for, filled as far as known", true],
    ['findings.json, errors.json', 'findings and missing parts as JSON', true],
    [
      'logs/',
      `${count(logs.length, 'log')}, ${count(lines, 'line')}, ${sizeText(bytes)}${previous ? '; .previous.log is the log before a restart' : ''}`,
      logs.length > 0,
    ],
    ['events.txt', 'events, newest last', files.includes('events.txt')],
    ['objects/', `${count(filesIn(/^objects\//), 'object')} of the cluster, without Secrets`, filesIn(/^objects\//) > 0],
    ['gone/', `${count(filesIn(/^gone\//), 'object')} deleted while watching, in their last state`, filesIn(/^gone\//) > 0],
    ['releases/', 'history, values and manifest of the Helm releases', filesIn(/^releases\//) > 0],
    ['network.json', 'network plugin, and whether it enforces network policies', files.includes('network.json')],
    ['docker/', 'state of the container and of the Docker daemon', filesIn(/^docker\//) > 0],
    ['systemd/', 'units and their properties', filesIn(/^systemd\//) > 0],
    ['host/', 'operating system of the machine', filesIn(/^host\//) > 0],
    ['tools.json, version.json', 'versions of the tools and of the cluster', files.includes('tools.json')],
    ['redactions.json', 'number of redactions by rule and file', true],
    ['manifest.json', 'size and checksum of every file, for scalr-agent inspect', true],
  ];
  return `${rows.map(([file, text, isThere]) => (isThere ? `- ${file}: ${text}\n` : '')).join('')}`;
}

/** Redacts a text. */
type Clean = (text: string) => string;

// Redacted separately: in a combined sentence, a file name such as token.log would redact the text after its colon.

export const cleanFinding = (finding: Finding, clean: Clean): Finding => ({
  ...finding,
  object: clean(finding.object),
  message: clean(finding.message),
  remedy: clean(finding.remedy),
});

export const cleanGap = ({what, error, ...gap}: Gap, clean: Clean): Gap => ({
  ...gap,
  what: clean(what),
  error: {...error, message: clean(error.message)},
});

/** Name and version of the cluster, its nodes and the tools. Pure. */
export function versionsText({cluster}: Pick<PreparedBundle, 'cluster'>): [name: string, version: string][] {
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
    ...Object.entries(cluster.tools).map(([tool, version]): [string, string] => [tool, version ?? 'not found']),
  ];
}
