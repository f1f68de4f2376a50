import {relative, sep} from 'node:path';
import type {KeyFinding, Verdict} from '../ground/finding.ts';
import type {CheckedGroup} from '../values/validate/check-files.ts';
import {fileOf} from '../values/validate/file-group.ts';
import {findingLine} from './finding-text.ts';

/** The findings as workflow commands of GitHub Actions, which annotate the lines of a pull request. */
export const githubAnnotations = (checked: readonly CheckedGroup[]): string =>
  checked
    .flatMap((each) =>
      each.findings.map((finding) => annotation(fileOf(each, finding.subject), finding)),
    )
    .join('');

function annotation(file: string, finding: KeyFinding): string {
  const {
    verdict,
    code,
    subject: {line, column},
  } = finding;
  const place = {
    file: relative('.', file).split(sep).join('/'),
    line,
    col: column,
    title: code,
  };
  const properties = Object.entries(place).filter(([, value]) => value !== undefined);
  return `::${COMMANDS[verdict]} ${properties.map(([name, value]) => `${name}=${encoded(String(value), /[%\r\n:,]/g)}`).join(',')}::${encoded(findingLine(finding), /[%\r\n]/g)}\n`;
}

/** GitHub knows no unknown: it must be seen. */
const COMMANDS: Readonly<Record<Verdict, string>> = {
  error: 'error',
  unknown: 'warning',
  warning: 'warning',
  note: 'notice',
};

const encoded = (text: string, signs: RegExp): string =>
  text.replaceAll(signs, (sign) => encodeURIComponent(sign));
