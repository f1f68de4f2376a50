import {isBelow} from '../charts/charts.ts';
import type {Target} from '../charts/releases/target.ts';
import {driftFinding} from '../checks/status/drift-finding.ts';
import type {ReleaseStatus} from '../checks/status/status.ts';
import type {ReleaseName} from '../ground/command-line.ts';
import type {Finding} from '../ground/finding.ts';
import {findingText} from './finding-text.ts';
import {
  accountFact,
  agentsFact,
  cacheFact,
  chartFact,
  controllerFact,
  objectsFact,
  recordFact,
  runsFact,
  valuesFact,
  verdictOf,
  workloadFact,
} from './status-facts.ts';
import {paragraph, type Screen, theme} from './theme.ts';

const WIDTH = 11;

const MOST_CAUSES = 5;

export interface ShownStatus {
  name: ReleaseName;
  status: ReleaseStatus;
  /** The files the values are compared with. */
  files: readonly string[];
  now: Date;
}

/** The state of a release, its objects, and the causes of problems. */
export function statusText({name, status, files, now}: ShownStatus, screen: Screen): string {
  const {bold} = theme(screen);
  const row = (label: string, text: string | undefined): string => {
    if (text === undefined) return '';
    const lines = paragraph(label.padEnd(WIDTH), text, screen);
    return `${bold(label)}${lines.slice(label.length)}`;
  };
  const part = (title: string, findings: readonly Finding[] = []): string =>
    section(
      title,
      findings.map((each) => findingText(each, screen)),
      screen,
    );
  return [
    bold(paragraph('', verdictOf(name, status, screen), screen).trimEnd()),
    '\n\n',
    row('Context', status.context || '(none)'),
    row(
      'Release',
      status.managedBy === undefined
        ? recordFact(status, now)
        : `no Helm release (${status.managedBy})`,
    ),
    row('Controller', controllerFact(status)),
    row('Chart', chartFact(status)),
    row('Pool', status.purpose && 'VCS access'),
    ...status.workloads.map((each, index) =>
      row(index === 0 ? 'Workloads' : '', workloadFact(each, screen)),
    ),
    row('Images', status.images.length === 0 ? undefined : status.images.join(', ')),
    row('Objects', objectsFact(status, name)),
    row('Agents', agentsFact(status)),
    row('Scalr', accountFact(status)),
    row('Runs', runsFact(status)),
    row('Cache', cacheFact(status)),
    row('Values', valuesFact(status, files)),
    part('Causes', status.causes),
    part('Recent', status.recent),
    part('Changed in the cluster', status.objects?.map(driftFinding)),
    part('Advice', status.advice),
    part('Could not be read', status.unread),
  ].join('');
}

export function section(title: string, items: readonly string[], screen: Screen): string {
  if (items.length === 0) return '';
  const more = items.length - MOST_CAUSES;
  const rest = more > 0 ? [`  and ${more} more (use --json to list all)\n`] : [];
  return [`\n${theme(screen).bold(title)}\n`, ...items.slice(0, MOST_CAUSES), ...rest].join('');
}

/** That there is a newer version than this one; empty without one, or if the repository is not readable. */
export function newerText(
  newest: string | undefined,
  {chart, version}: Target,
  step = `add --chart-version ${newest}.`,
): string {
  if (newest === undefined || !isBelow(version, newest)) return '';
  return `${chart} ${newest} is newer than ${version}. To use it, ${step}\n`;
}
