import {isAbsolute, relative, resolve, sep} from 'node:path';
import {pathToFileURL} from 'node:url';
import type {Log, ReportingDescriptor, Result as SarifResult} from 'sarif';
import {count} from '../ground/text.ts';
import type {ValuesFinding} from '../values/reading/finding.ts';
import {linesWithoutSecrets} from '../values/reading/hidden-lines.ts';
import {type CheckedGroup, fileOf, groupName} from '../values/validate/check-files.ts';
import {asciiFallback, paragraph, type Screen, theme} from './theme.ts';

/** Findings as a compiler shows them: position, message, the line with a caret, what to write instead; then the totals. */
export function findingsText(checked: readonly CheckedGroup[], screen: Screen): string {
  const all = checked.flatMap(({findings}) => findings);
  const total = checked.length > 1 ? `${checked.length} files: ${sumOf(all)}\n` : '';
  return checked.map((each) => groupText(each, screen)).join('') + total;
}

function groupText(checked: CheckedGroup, screen: Screen): string {
  const {findings, target, fixed = 0} = checked;
  const name = groupName(checked);
  const lines = new Map(
    findings.length === 0
      ? []
      : checked.files.map(({file, text, shown = text}) => [file, linesWithoutSecrets(shown)]),
  );
  const texts = findings.map((finding) => findingText(finding, name, lines, screen)).join('\n');
  const against = target === undefined ? '' : ` (${target.chart} ${target.version})`;
  const sum = `${name}: ${sumOf(findings)}${against}\n`;
  return `${texts}${findings.length > 0 ? '\n' : ''}${sum}${fixed > 0 ? `${name}: ${fixed} fixed\n` : ''}`;
}

function sumOf(findings: readonly ValuesFinding[]): string {
  const errors = findings.filter(({severity}) => severity === 'error').length;
  return findings.length === 0
    ? 'no problems found'
    : `${count(errors, 'error')}, ${count(findings.length - errors, 'warning')}`;
}

function findingText(
  {severity, code, path, file, line, column, message, suggestion}: ValuesFinding,
  group: string,
  lines: ReadonlyMap<string, readonly string[]>,
  screen: Screen,
): string {
  const {bold, dim, red, yellow} = theme(screen);
  const label = severity === 'error' ? red.bold('error') : yellow.bold('warning');
  const name = file ?? group;
  const place = line === undefined ? name : `${name}:${line}:${column}`;
  const head = paragraph(
    '',
    `${bold(place)} ${label} ${path === '' ? '' : `${path}: `}${message} ${dim(code)}`,
    screen,
  );
  const written = line === undefined ? '' : (lines.get(name)?.[line - 1] ?? '');
  const source =
    written.trim() === '' ? '' : `    ${written}\n    ${' '.repeat((column ?? 1) - 1)}^\n`;
  return head + source + (suggestion === undefined ? '' : paragraph('    → ', suggestion, screen));
}

interface FileResult {
  /** Absent if the file cannot be read as values, and does not tell its chart. */
  chart?: string;
  chartVersion?: string;
  valid: boolean;
  findings: Omit<ValuesFinding, 'fix'>[];
  fixed?: number;
}

export type Result = FileResult | {valid: boolean; files: (FileResult & {file: string})[]};

/** The document of --json: for a single file or the layers of one, else a list of files. */
export function resultOf(checked: readonly CheckedGroup[]): Result {
  const [first, ...others] = checked;
  if (first && others.length === 0) return fileResult(first);
  const files = checked.map((each) => ({file: groupName(each), ...fileResult(each)}));
  return {valid: files.every(({valid}) => valid), files};
}

const fileResult = ({target, findings, fixed}: CheckedGroup): FileResult => ({
  ...(target === undefined ? {} : {chart: target.chart, chartVersion: target.version}),
  valid: findings.every(({severity}) => severity !== 'error'),
  findings: findings.map(({fix: _, ...shown}) => shown),
  ...(fixed === undefined ? {} : {fixed}),
});

/** The findings in the format of --format, except JSON. */
export function inFormat(
  format: string | undefined,
  checked: readonly CheckedGroup[],
  {
    bin,
    name,
    version,
    pjson,
  }: {bin: string; name: string; version: string; pjson: Readonly<Record<string, unknown>>},
  screen: Screen,
): string {
  const program = {name: bin ?? name, version, homepage: pjson['homepage'] as string | undefined};
  if (format === 'sarif') return sarif(checked, program);
  if (format === 'github') return githubAnnotations(checked);
  if (format === 'junit') return junit(checked, `${program.name} validate`);
  return asciiFallback(findingsText(checked, screen), screen);
}

type Attributes = Readonly<Record<string, string | number>>;

/** The findings as JUnit XML, which test reports of pipelines read: a suite per file, a test per finding. */
export function junit(checked: readonly CheckedGroup[], name: string): string {
  const suites = checked.flatMap((each) => each.files.map(({file}) => suiteOf(file, each)));
  const sum = (key: 'tests' | 'failures') => suites.reduce((total, suite) => total + suite[key], 0);
  const root = element(
    'testsuites',
    {name, tests: sum('tests'), failures: sum('failures'), errors: 0},
    suites.map(({xml}) => xml),
  );
  return `<?xml version="1.0" encoding="UTF-8"?>\n${root}`;
}

function suiteOf(file: string, checked: CheckedGroup) {
  const findings = checked.findings.filter((finding) => fileOf(checked, finding) === file);
  const {target} = checked;
  const tests = Math.max(findings.length, 1);
  const failures = findings.filter(({severity}) => severity === 'error').length;
  const cases =
    findings.length === 0
      ? [
          element('testcase', {
            classname: file,
            name: target === undefined ? 'values' : `${target.chart} ${target.version}`,
          }),
        ]
      : findings.map((finding) => caseOf(file, finding));
  return {
    tests,
    failures,
    xml: element('testsuite', {name: file, tests, failures, errors: 0}, cases),
  };
}

function caseOf(
  file: string,
  {severity, code, path, line, column, message, suggestion}: ValuesFinding,
): string {
  const place = line === undefined ? file : `${file}:${line}:${column}`;
  const text = [
    `${place} ${path}`.trimEnd(),
    message,
    ...(suggestion === undefined ? [] : [`→ ${suggestion}`]),
  ].join('\n');
  const outcome =
    severity === 'error'
      ? element('failure', {message, type: code}, text)
      : element('system-out', {}, `warning ${text}`);
  return element('testcase', {classname: file, name: `${code} ${path}`.trimEnd()}, [outcome]);
}

/** An XML element on lines of its own; its content is text, or elements. */
function element(
  name: string,
  attributes: Attributes,
  content: string | readonly string[] = [],
): string {
  // XML readers turn line breaks in attributes into spaces.
  const pairs = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${escaped(String(value)).replaceAll(/\s+/g, ' ')}"`,
  );
  const start = `<${name}${pairs.join('')}`;
  if (content.length === 0) return `${start}/>\n`;
  return typeof content === 'string'
    ? `${start}>${escaped(content)}</${name}>\n`
    : `${start}>\n${content.join('').replaceAll(/^(?= *<)/gm, '  ')}</${name}>\n`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};
const escaped = (text: string): string =>
  printable(text).replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] as string);

/** XML 1.0 cannot represent other characters, not even escaped. */
const printable = (text: string): string =>
  text.replaceAll(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD');

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
  return `::${severity} ${properties.map(([name, value]) => `${name}=${encoded(String(value), /[%\r\n:,]/g)}`).join(',')}::${encoded(text, /[%\r\n]/g)}\n`;
}

const encoded = (text: string, signs: RegExp): string =>
  text.replaceAll(signs, (sign) => encodeURIComponent(sign));

export interface SarifDriver {
  name: string;
  version: string;
  homepage?: string | undefined;
}

/** The findings as SARIF 2.1.0, which code scanning of forges and editors reads. */
export function sarif(
  checked: readonly CheckedGroup[],
  {name, version, homepage}: SarifDriver,
): string {
  const findings = checked.flatMap((each) => each.findings);
  const rules = findings
    .filter(({code}, index) => findings.findIndex((each) => each.code === code) === index)
    .map(ruleOf);
  const log: Log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {driver: {name, version, ...(homepage ? {informationUri: homepage} : {}), rules}},
        columnKind: 'utf16CodeUnits',
        results: checked.flatMap((each) =>
          each.findings.map((finding) => sarifResult(each, finding, rules)),
        ),
      },
    ],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

function ruleOf({code, severity}: ValuesFinding): ReportingDescriptor {
  const words = code.toLowerCase().split('_');
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  const sentence = `${words.join(' ')}.`;
  return {
    id: code,
    name,
    shortDescription: {text: sentence.charAt(0).toUpperCase() + sentence.slice(1)},
    defaultConfiguration: {level: severity},
  };
}

function sarifResult(
  checked: CheckedGroup,
  finding: ValuesFinding,
  rules: readonly ReportingDescriptor[],
): SarifResult {
  const {code, severity, path, line, column, message, suggestion} = finding;
  const text = `${path === '' ? '' : `${path}: `}${message}${suggestion === undefined ? '' : ` → ${suggestion}`}`;
  return {
    ruleId: code,
    ruleIndex: rules.findIndex(({id}) => id === code),
    level: severity,
    message: {text},
    locations: [
      {
        physicalLocation: {
          artifactLocation: {uri: uriOf(fileOf(checked, finding))},
          ...(line === undefined ? {} : {region: {startLine: line, startColumn: column ?? 1}}),
        },
      },
    ],
  };
}

/** Relative to the working directory; absolute where the file lies outside of it. */
function uriOf(file: string): string {
  const path = relative('.', file);
  if (path === '' || isAbsolute(path) || path.split(sep)[0] === '..')
    return pathToFileURL(resolve(file)).href;
  return path.split(sep).map(encodeURIComponent).join('/');
}
