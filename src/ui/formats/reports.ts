import {isAbsolute, relative, resolve, sep} from 'node:path';
import {pathToFileURL} from 'node:url';
import type {Log, ReportingDescriptor, Result} from 'sarif';
import {type CheckedGroup, fileOf} from '../../values/validate/check-files.ts';
import type {ValuesFinding} from '../../values/validate/finding.ts';

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
  const [tests, failures] = [Math.max(findings.length, 1), findings.filter(({severity}) => severity === 'error').length];
  const cases =
    findings.length === 0
      ? [element('testcase', {classname: file, name: target === undefined ? 'values' : `${target.chart} ${target.version}`})]
      : findings.map((finding) => caseOf(file, finding));
  return {tests, failures, xml: element('testsuite', {name: file, tests, failures, errors: 0}, cases)};
}

function caseOf(file: string, {severity, code, path, line, column, message, suggestion}: ValuesFinding): string {
  const place = line === undefined ? file : `${file}:${line}:${column}`;
  const text = [`${place} ${path}`.trimEnd(), message, ...(suggestion === undefined ? [] : [`→ ${suggestion}`])].join('\n');
  const outcome = severity === 'error' ? element('failure', {message, type: code}, text) : element('system-out', {}, `warning ${text}`);
  return element('testcase', {classname: file, name: `${code} ${path}`.trimEnd()}, [outcome]);
}

/** An XML element on lines of its own; its content is text, or elements. */
function element(name: string, attributes: Attributes, content: string | readonly string[] = []): string {
  // XML readers turn line breaks in attributes into spaces.
  const pairs = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(String(value)).replaceAll(/\s+/g, ' ')}"`);
  const start = `<${name}${pairs.join('')}`;
  if (content.length === 0) return `${start}/>\n`;
  return typeof content === 'string'
    ? `${start}>${escaped(content)}</${name}>\n`
    : `${start}>\n${content.join('').replaceAll(/^(?= *<)/gm, '  ')}</${name}>\n`;
}

const ENTITIES: Readonly<Record<string, string>> = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;'};
const escaped = (text: string): string => printable(text).replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] as string);

/** XML 1.0 cannot represent other characters, not even escaped. */
const printable = (text: string): string => text.replaceAll(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD');

/** The findings as workflow commands of GitHub Actions, which annotate the lines of a pull request. */
export const githubAnnotations = (checked: readonly CheckedGroup[]): string =>
  checked.flatMap((each) => each.findings.map((finding) => annotation(fileOf(each, finding), finding))).join('');

function annotation(file: string, {severity, code, path, line, column, message, suggestion}: ValuesFinding): string {
  const place = {file: relative('.', file).split(sep).join('/'), line, col: column, title: `${code} ${path}`.trimEnd()};
  const properties = Object.entries(place).filter(([, value]) => value !== undefined);
  const text = `${message}${suggestion === undefined ? '' : ` → ${suggestion}`}`;
  return `::${severity} ${properties.map(([name, value]) => `${name}=${encoded(String(value), /[%\r\n:,]/g)}`).join(',')}::${encoded(text, /[%\r\n]/g)}\n`;
}

const encoded = (text: string, signs: RegExp): string => text.replaceAll(signs, (sign) => encodeURIComponent(sign));

export interface SarifDriver {
  name: string;
  version: string;
  homepage?: string | undefined;
}

/** The findings as SARIF 2.1.0, which code scanning of forges and editors reads. */
export function sarif(checked: readonly CheckedGroup[], {name, version, homepage}: SarifDriver): string {
  const findings = checked.flatMap((each) => each.findings);
  const rules = findings.filter(({code}, index) => findings.findIndex((each) => each.code === code) === index).map(ruleOf);
  const log: Log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {driver: {name, version, ...(homepage ? {informationUri: homepage} : {}), rules}},
        columnKind: 'utf16CodeUnits',
        results: checked.flatMap((each) => each.findings.map((finding) => resultOf(each, finding, rules))),
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

function resultOf(checked: CheckedGroup, finding: ValuesFinding, rules: readonly ReportingDescriptor[]): Result {
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
  if (path === '' || isAbsolute(path) || path.split(sep)[0] === '..') return pathToFileURL(resolve(file)).href;
  return path.split(sep).map(encodeURIComponent).join('/');
}
