import {agentVersionOf, versionStatus} from '../../charts/version-status.ts';
import type {LogRecord} from '../collect.ts';
import type {FoundRelease} from '../find-releases.ts';
import type {Finding} from '../findings/finding.ts';
import type {Gap} from '../read-namespace.ts';
import {contentsText, number} from './contents.ts';

export interface Summary {
  at: Date;
  /** As `namespace scalr-agent`. */
  about: string;
  /** Undefined where there is no helm. */
  releases: readonly Pick<FoundRelease, 'name' | 'chart' | 'version' | 'status'>[] | undefined;
  /** Of cluster and tools, as name and version. */
  versions: readonly (readonly [name: string, version: string])[];
  findings: readonly Finding[];
  gaps: readonly Gap[];
  logs: readonly Pick<LogRecord, 'file' | 'cut' | 'bytes' | 'lines'>[];
  /** Names of everything else. */
  files: readonly string[];
  containers: number;
  /** What was counted. */
  noun: 'container' | 'unit';
}

/** What a person reads first, the verdict before everything else. Pure. */
export function summaryText(summary: Summary): string {
  const {at, about, releases, versions, findings, gaps, logs, containers, noun} = summary;
  const of = (wanted: Finding['severity']): Finding[] => findings.filter(({severity}) => severity === wanted);
  return [
    `# Support bundle of ${about}\n`,
    `${verdict(summary)}\n`,
    `Made ${at.toISOString()} by scalr-agent collect-logs. ${noun === 'unit' ? 'Units' : 'Containers'}: ${containers}.\n`,
    ...section('Errors', of('error').map(findingText)),
    ...section('Warnings', of('warning').map(findingText)),
    '## What is not in here\n',
    missing(gaps, logs).join('\n') || '- nothing is missing',
    '',
    ...section('Releases', releases?.map(releaseText) ?? [], releases && '- none that helm knows of'),
    ...section(
      'Versions',
      versions.map(([name, version]) => `- ${name}: ${version}`),
    ),
    '## What is in here\n',
    contentsText(summary),
  ].join('\n');
}

/** How often something was hidden, and by which rule; written last, as the summary itself is among what is counted. Pure. */
export const redactionText = ({total, rules}: {total: number; rules: Readonly<Record<string, number>>}): string =>
  [
    `## Redaction: ${total} ${total === 1 ? 'place' : 'places'}\n`,
    Object.entries(rules)
      .map(([rule, count]) => `- ${rule}: ${count}`)
      .join('\n') || '- nothing was found that had to be hidden',
    '',
  ].join('\n');

const section = (title: string, lines: readonly string[], instead?: string): string[] =>
  lines.length === 0 && instead === undefined ? [] : [`## ${title}\n`, lines.join('\n') || (instead ?? ''), ''];

function verdict({findings, gaps, logs}: Summary): string {
  const errors = findings.filter(({severity}) => severity === 'error').length;
  const [first] = findings;
  const found =
    first === undefined
      ? 'Nothing stands out.'
      : `${number(errors, 'error')}, ${number(findings.length - errors, 'warning')}. Begin with ${first.object} (${first.code}).`;
  const lacks = gaps.filter(({isMinor}) => !isMinor).length;
  const whole = lacks > 0 ? `The bundle is not complete: ${number(lacks, 'part')} could not be read.` : 'The bundle is complete.';
  const cut = cutLogs(logs);
  const fits = cut > 0 ? ` To fit --max-size, ${number(cut, 'log')} ${cut === 1 ? 'was' : 'were'} cut in the middle.` : '';
  return `**${found}**\n\n${whole}${fits}`;
}

/** What was asked for with --max-size leaves the bundle complete. */
export const cutLogs = (logs: Summary['logs']): number => logs.filter(({cut}) => cut !== undefined).length;

const findingText = ({object, code, message, evidence, line, remedy}: Finding): string =>
  [
    `- ${object} (${code}): ${message}`,
    ...(evidence === undefined ? [] : [`  - see: ${evidence}${line === undefined ? '' : `:${line}`}`]),
    `  - do: ${remedy}`,
  ].join('\n');

const missing = (gaps: readonly Gap[], logs: Summary['logs']): string[] => [
  ...gaps.filter(({isMinor}) => !isMinor).map(gapText),
  ...logs.flatMap(({file, cut}) => (cut === undefined ? [] : [`- ${file}: ${cut} bytes of its middle, to fit --max-size`])),
  ...gaps.filter(({isMinor}) => isMinor).map((gap) => `${gapText(gap)} (the bundle is good without it)`),
];

const gapText = ({what, trouble}: Gap): string => `- ${what}: ${trouble.message}`;

function releaseText({name, chart, version, status}: NonNullable<Summary['releases']>[number]): string {
  const agent = agentVersionOf(chart, version);
  const {standing, behind, newestKnown} = versionStatus(chart, version);
  const place = standing === 'newest' ? 'the newest known' : behind > 0 ? `${behind} behind ${newestKnown}` : `newer than ${newestKnown}`;
  return `- ${name}: ${chart} ${version}, ${status}; ${agent === undefined ? '' : `agent ${agent}, `}${place}`;
}
