import type {LogRecord} from './collect.ts';
import type {Finding} from './findings.ts';
import type {Gap} from './read-namespace.ts';

export interface Summary {
  at: Date;
  /** As `namespace scalr-agent`. */
  about: string;
  /** Undefined where there is no helm. */
  releases: readonly {name: string; chart: string; version: string; status: string}[] | undefined;
  findings: readonly Finding[];
  gaps: readonly Gap[];
  redactions: {total: number; rules: Readonly<Record<string, number>>};
  logs: readonly Pick<LogRecord, 'file' | 'cut'>[];
  containers: number;
  noun?: 'container' | 'unit';
}

/** What a person reads first. Pure. */
export function summaryText({at, about, releases, findings, gaps, redactions, logs, containers, noun}: Summary): string {
  const errors = findings.filter(({severity}) => severity === 'error');
  return [
    `# Support bundle of ${about}\n`,
    `Made ${at.toISOString()} by scalr-agent collect-logs. ${noun === 'unit' ? 'Units' : 'Containers'}: ${containers}.\n`,
    ...(releases === undefined ? [] : [releasesText(releases)]),
    `## Findings: ${errors.length} errors, ${findings.length - errors.length} warnings\n`,
    findings.map(findingText).join('\n') || 'Nothing stands out.',
    '\n## What is not in here\n',
    gaps.map(({what, trouble}) => `- ${what}: ${trouble.message}`).join('\n') || '- nothing is missing',
    ...logs.flatMap(({file, cut}) => (cut === undefined ? [] : [`- ${file}: ${cut} bytes of its middle`])),
    `\n## Redaction: ${redactions.total} places\n`,
    Object.entries(redactions.rules)
      .map(([rule, count]) => `- ${rule}: ${count}`)
      .join('\n') || '- nothing was found that had to be hidden',
    '',
  ].join('\n');
}

const releasesText = (releases: NonNullable<Summary['releases']>): string =>
  `## Releases\n\n${releases.map(({name, chart, version, status}) => `- ${name}: ${chart} ${version}, ${status}`).join('\n') || '- none that helm knows of'}\n`;

const findingText = ({severity, object, code, message, evidence, remedy}: Finding): string =>
  [
    `- **${severity}** ${object} (${code}): ${message}`,
    `  - do: ${remedy}`,
    ...(evidence === undefined ? [] : [`  - see: ${evidence}`]),
  ].join('\n');
