import {isAbsolute, relative, resolve, sep} from 'node:path';
import {pathToFileURL} from 'node:url';
import type {Log, ReportingDescriptor, Result as SarifResult} from 'sarif';
import {type Explanation, explanations} from '../findings/catalog.ts';
import type {KeyFinding} from '../ground/finding.ts';
import type {CheckedGroup} from '../values/validate/check-files.ts';
import {fileOf} from '../values/validate/file-group.ts';
import {findingLine} from './finding-text.ts';

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
  const entries = new Map(explanations().map((each) => [each.code, each]));
  const rules = findings
    .filter(({code}, index) => findings.findIndex((each) => each.code === code) === index)
    .map((each) => ruleOf(each, entries.get(each.code)));
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

/** Forges show the help beside a finding. */
function ruleOf({code, verdict}: KeyFinding, entry: Explanation | undefined): ReportingDescriptor {
  const name = code.toLowerCase().replaceAll(/(?:^|_)(\w)/g, (_, first) => first.toUpperCase());
  const {title = code, why = '', remedy = ''} = entry ?? {};
  const help = `${why} ${remedy}`;
  return {
    id: code,
    name,
    shortDescription: {text: `${title.replace(/^./, (first) => first.toUpperCase())}.`},
    help: {text: help, markdown: help},
    defaultConfiguration: {level: LEVELS[verdict]},
  };
}

function sarifResult(
  checked: CheckedGroup,
  finding: KeyFinding,
  rules: readonly ReportingDescriptor[],
): SarifResult {
  const {code, verdict, subject} = finding;
  const {line, column} = subject;
  return {
    ruleId: code,
    ruleIndex: rules.findIndex(({id}) => id === code),
    level: LEVELS[verdict],
    message: {text: findingLine(finding)},
    locations: [
      {
        physicalLocation: {
          artifactLocation: {uri: uriOf(fileOf(checked, finding.subject))},
          ...(line === undefined ? {} : {region: {startLine: line, startColumn: column ?? 1}}),
        },
      },
    ],
  };
}

/** SARIF knows no unknown: it must be seen. */
const LEVELS = {error: 'error', unknown: 'warning', warning: 'warning', note: 'note'} as const;

/** Relative to the working directory; absolute where the file lies outside of it. */
function uriOf(file: string): string {
  const path = relative('.', file);
  if (path === '' || isAbsolute(path) || path.split(sep)[0] === '..')
    return pathToFileURL(resolve(file)).href;
  return path.split(sep).map(encodeURIComponent).join('/');
}
