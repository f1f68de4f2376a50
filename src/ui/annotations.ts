import {relative, sep} from 'node:path';
import type {ValuesFinding} from '../values/reading/finding.ts';
import type {CheckedGroup} from '../values/validate/check-files.ts';
import {fileOf} from '../values/validate/file-group.ts';

/** The findings as workflow commands of GitHub Actions, which annotate the lines of a pull request. */
export const githubAnnotations = (checked: readonly CheckedGroup[]): string =>
  checked
    .flatMap((each) => each.findings.map((finding) => annotation(fileOf(each, finding), finding)))
    .join('');

function annotation(
  file: string,
  {severity, code, path, line, column, message, suggestion}: ValuesFinding,
): string {
  const place = {
    file: relative('.', file).split(sep).join('/'),
    line,
    col: column,
    title: `${code} ${path}`.trimEnd(),
  };
  const properties = Object.entries(place).filter(([, value]) => value !== undefined);
  const text = `${message}${suggestion === undefined ? '' : ` → ${suggestion}`}`;
  return `::${severity === 'unknown' ? 'notice' : severity} ${properties.map(([name, value]) => `${name}=${encoded(String(value), /[%\r\n:,]/g)}`).join(',')}::${encoded(text, /[%\r\n]/g)}\n`;
}

const encoded = (text: string, signs: RegExp): string =>
  text.replaceAll(signs, (sign) => encodeURIComponent(sign));
