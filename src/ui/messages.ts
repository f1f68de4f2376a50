import {type ExpectedError, maskSecrets} from '../ground/errors.ts';
import type {SettingFinding} from '../ground/finding.ts';
import {catalog} from '../settings/catalog.ts';
import {spell} from '../settings/define.ts';
import type {Settings} from '../settings/settings.ts';
import type {ExplainedSetting} from '../values/document.ts';
import {bodyText} from './finding-text.ts';
import {paragraph, type Screen, theme} from './theme.ts';

/** The user canceled at a prompt, or answered no. */
const isByUser = (code: ExpectedError['code']): boolean =>
  code === 'CANCELED' || code === 'DECLINED';

/** A failure with its next steps. */
function errorText(failure: ExpectedError, screen: Screen): string {
  const {red, bold} = theme(screen);
  const label = isByUser(failure.code) ? '' : `${red.bold('Error:')} `;
  const lines = failure.message
    .split('\n')
    .map((line, index) => paragraph('', `${index === 0 ? label : ''}${line}`, screen));
  const title = failure.remedies.length === 0 ? '' : `${bold('Next steps:')}\n`;
  return `${lines.join('')}${title}${bodyText(failure, screen, '  - ')}`;
}

/** Version and links from package.json. */
export interface ProgramOrigin {
  version: string;
  repository: string;
  bugs: string;
}

/** The documentation of this version. */
export const docsOf = ({repository, version}: ProgramOrigin): string =>
  `${repository}/blob/v${version}/docs`;

/** Failures caused by bugs of this program. */
const OURS: readonly ExpectedError['code'][] = ['BUG', 'RENDER_MISMATCH', 'SECRET_IN_BUNDLE'];

/** A failure that ends the program, with a link to its documentation for this version. */
export function failureText(failure: ExpectedError, origin: ProgramOrigin, screen: Screen): string {
  const text = errorText(failure, screen);
  // The user canceled, so no documentation is needed.
  if (isByUser(failure.code)) return text;
  const report = OURS.includes(failure.code) ? `  Report it: ${origin.bugs}\n` : '';
  // Not wrapped, so that the URL stays on one line.
  const {code} = failure;
  const page = `${docsOf(origin)}/errors.md#${code.toLowerCase()}`;
  return `${text}${report}  More: scalr-agent explain ${code}, or ${page}\n`;
}

/** A problem that does not stop the command, with its code and what to do about it. */
export function warningText(finding: SettingFinding, screen: Screen): string {
  const {dim, yellow} = theme(screen);
  const {code, message} = finding;
  const head = paragraph('', `${yellow.bold('Warning:')} ${message} ${dim(code)}`, screen);
  return head + bodyText(finding, screen, '  - ');
}

/** How settings were read that were not spelled in full. */
export const notesText = (settings: Settings, screen: Screen): string[] =>
  settings
    .entries()
    .flatMap(
      ({setting, answer}) =>
        answer.notes?.map((note) => paragraph('', `Note: ${spell(setting)} ${note}.`, screen)) ??
        [],
    );

const SECONDS = new Set(catalog.filter(({kind}) => kind.hint === 'SECONDS').map(({id}) => id));

/** Settings with values and sources, in columns. */
export function explainText(settings: readonly ExplainedSetting[]): string {
  const rows = settings.map(({id, value, source, because}) => {
    const from = source === 'chart' ? 'chart default' : source;
    return [
      id,
      `${shown(value)}${SECONDS.has(id) ? ' s' : ''}`,
      because ? `${from}: ${because}` : from,
    ];
  });
  const widths = [0, 1].map((column) =>
    Math.max(...rows.map((row) => (row[column] as string).length)),
  );
  return rows
    .map(
      ([id, value, source]) =>
        `${id?.padEnd(widths[0] as number)}  ${value?.padEnd(widths[1] as number)}  ${source}\n`,
    )
    .join('');
}

const LONGEST = 60;

const hideSecrets = (_: string, value: unknown): unknown =>
  typeof value === 'string' ? maskSecrets(value) : value;

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value, hideSecrets);
  const line = text.split('\n')[0] as string;
  return line.length > LONGEST || line !== text ? `${line.slice(0, LONGEST - 1)}…` : line;
}
