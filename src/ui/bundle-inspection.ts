import type {Damage, Inspection} from '../support-bundle/archive/inspect.ts';
import {findingLines} from './bundle.ts';
import {paragraph, type Screen, theme} from './theme.ts';

/** Somebody else wrote it, and a terminal acts on control characters. */
const shown = (text: string): string => text.replace(/[^\P{Cc}\n\t]/gu, '');

/** The summary as it was written, in which the findings stand; these alone where it was lost. */
export function inspectionText({summary, findings}: Pick<Inspection, 'summary' | 'findings'>, screen: Screen): string {
  if (summary !== undefined) return shown(summary).replace(/\n*$/, '\n');
  const plain = findings.map((finding) => ({
    ...finding,
    object: shown(finding.object),
    message: shown(finding.message),
    remedy: shown(finding.remedy),
    ...(finding.evidence === undefined ? {} : {evidence: shown(finding.evidence)}),
  }));
  return plain.length === 0 ? 'There is neither a summary nor a finding in it.\n' : findingLines(plain, screen).join('');
}

/** Which entries are not what they were. */
export function damageText(file: string, damage: readonly Damage[], screen: Screen): string {
  const {bold, red} = theme(screen);
  return [
    `${red('×')} ${bold(file)} is not as collect-logs wrote it:\n`,
    ...damage.map(({entry, problem}) => paragraph('  - ', `${shown(entry)}: ${MEANING[problem]}`, screen)),
    'Copy it again from where it was made, or collect anew.\n',
  ].join('');
}

const MEANING: Readonly<Record<Damage['problem'], string>> = {
  differs: 'its content differs from its checksum',
  missing: 'it is missing',
  'not in the manifest': 'it was added later',
  unreadable: 'it is damaged',
};
