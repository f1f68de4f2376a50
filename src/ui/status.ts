import type {Cause} from '../diagnose/cause.ts';
import type {ReleaseName} from '../ports/helm.ts';
import type {Status, Unread} from '../status/status.ts';
import {agentsFact, chartFact, recordFact, runsFact, valuesFact, verdictOf, workloadFact} from './status-facts.ts';
import {paragraph, type Screen, theme} from './theme.ts';

const WIDTH = 11;
const MOST_CAUSES = 5;

export interface Shown {
  name: ReleaseName;
  status: Status;
  /** The files the values are compared with. */
  files: readonly string[];
  now: Date;
}

/** The verdict, what there is, and why something is not as it should be. */
export function statusText({name, status, files, now}: Shown, screen: Screen): string {
  const {bold} = theme(screen);
  const row = (label: string, text: string | undefined): string => {
    if (text === undefined) return '';
    const lines = paragraph(label.padEnd(WIDTH), text, screen);
    return `${bold(label)}${lines.slice(label.length)}`;
  };
  return [
    bold(paragraph('', verdictOf(name, status, screen), screen).trimEnd()),
    '\n\n',
    row('Context', status.context || '(none)'),
    row('Release', recordFact(status, now)),
    row('Chart', chartFact(status)),
    ...status.workloads.map((each, index) => row(index === 0 ? 'Workloads' : '', workloadFact(each, screen))),
    row('Agents', agentsFact(status)),
    row('Runs', runsFact(status)),
    row('Values', valuesFact(status, files)),
    section(
      'Why',
      status.causes.map((each) => causeText(each, screen)),
      screen,
    ),
    section(
      'Not read',
      status.unread.map((each) => unreadText(each, screen)),
      screen,
    ),
  ].join('');
}

function section(title: string, items: readonly string[], screen: Screen): string {
  if (items.length === 0) return '';
  const more = items.length - MOST_CAUSES;
  const rest = more > 0 ? [`  and ${more} more; --json has them all\n`] : [];
  return [`\n${theme(screen).bold(title)}\n`, ...items.slice(0, MOST_CAUSES), ...rest].join('');
}

/** A remedy may be a command, which has to stay whole to be copied. */
const remedyText = (remedy: string): string => `    → ${remedy}\n`;

function causeText({object, reason, remedy, isHopeless}: Cause, screen: Screen): string {
  return paragraph(`  ${isHopeless ? '×' : '!'} `, `${object}: ${reason}`, screen) + remedyText(remedy);
}

const unreadText = ({what, reason, remedy}: Unread, screen: Screen): string =>
  paragraph('  ! ', `${what}: ${reason}`, screen) + remedyText(remedy);
