import type {KeyFinding, Verdict} from '../ground/finding.ts';
import type {CheckedGroup} from '../values/validate/check-files.ts';
import {fileOf} from '../values/validate/file-group.ts';
import {findingLine} from './finding-text.ts';

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
  const findings = checked.findings.filter((finding) => fileOf(checked, finding.subject) === file);
  const {target} = checked;
  const tests = Math.max(findings.length, 1);
  const failures = findings.filter(({verdict}) => verdict === 'error').length;
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

function caseOf(file: string, finding: KeyFinding): string {
  const {
    verdict,
    code,
    subject: {path, line, column},
    message,
  } = finding;
  const place = line === undefined ? file : `${file}:${line}:${column}`;
  const text = `${place}: ${findingLine(finding)}`;
  const outcome =
    verdict === 'error'
      ? element('failure', {message, type: code}, text)
      : otherOutcome(verdict, message, text);
  return element('testcase', {classname: file, name: `${code} ${path}`.trimEnd()}, [outcome]);
}

const otherOutcome = (verdict: Verdict, message: string, text: string): string =>
  verdict === 'unknown'
    ? element('skipped', {message}, text)
    : element('system-out', {}, `${verdict} ${text}`);

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
