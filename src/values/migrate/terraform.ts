import {ExitCode, ExpectedError} from '../../ground/errors.ts';
import type {Edit} from '../yaml-text.ts';
import type {EmbeddedRelease} from './embedded-release.ts';
import {columnOf, dedent, indent} from './indentation.ts';
import {isChart} from './target.ts';

const HELM_RELEASE = /^\s*resource\s+"helm_release"\s/m;

export const isTerraform = (text: string): boolean => HELM_RELEASE.test(text);

const CHART = /^(\s*chart\s*=\s*")([^"\n]*?)(agent-[a-z0-9]+)"/gm;
const VERSION = /^(\s*version\s*=\s*")([^"\n]+)"/gm;
/** The name in a block `set { name = "a.b" … }`, or in a list of them. */
const SET = /^\s*(?:set\s*(?:=\s*\[\s*)?)?\{\s*name\s*=\s*"([^"]+)"/gm;
const VALUES = /^(\s*values\s*=\s*\[\s*<<-?(\w+)\n)([\s\S]*?)^[ \t]*\2$/gm;

/**
 * The only helm_release of a Terraform file, with its values in one heredoc. HCL needs a parser of its own; expressions and several
 * resources are refused. @throws ExpectedError
 */
export function terraformRelease(file: string, text: string): EmbeddedRelease {
  const [resources, charts, versions, values] = [new RegExp(HELM_RELEASE, 'gm'), CHART, VERSION, VALUES].map((pattern) => [
    ...text.matchAll(pattern),
  ]) as [Matches, Matches, Matches, Matches];
  const [chart, version, heredoc] = [charts[0], versions[0], values[0]];
  const name = chart?.[3];
  if (resources.length > 1) throw notSimple(file, `it has ${resources.length} helm_release resources`);
  if (charts.length !== 1 || versions.length > 1 || chart === undefined || !isChart(name))
    throw notSimple(file, 'its resource must name the chart and one version as plain text');
  if (values.length !== 1 || heredoc === undefined) throw notSimple(file, 'its resource must have its values in one heredoc');
  const expression = /[$%]\{[^}]*\}?/.exec(heredoc[3] ?? '')?.[0];
  if (expression !== undefined) throw notSimple(file, `the heredoc contains ${expression}, which only Terraform can evaluate`);
  const [, opening = '', , body = ''] = heredoc;
  const column = columnOf(body);
  const start = heredoc.index + opening.length;
  const replaced = (match: RegExpExecArray, by: string): Edit => ({start: match.index, end: match.index + match[0].length, text: by});
  return {
    kind: 'helm_release',
    chart: name,
    version: version?.[2],
    values: dedent(body, column),
    hasOtherValues: /^\s*set_(list|sensitive|wo)?\s*[={]/m.test(text),
    parameters: [...text.matchAll(SET)].map((match) => match[1] as string),
    edits: (newChart, newVersion, newValues) => [
      replaced(chart, `${chart[1]}${chart[2]}${newChart}"`),
      ...(version === undefined ? [] : [replaced(version, `${version[1]}${newVersion}"`)]),
      {start, end: start + body.length, text: `${indent(newValues ?? '', column)}\n`},
    ],
  };
}

type Matches = RegExpExecArray[];

const notSimple = (file: string, reason: string): ExpectedError =>
  new ExpectedError(`Cannot migrate ${file}: ${reason}.`, {
    code: 'UNREADABLE_FILE',
    exit: ExitCode.usage,
    suggestions: [
      'Save the values without expressions in a file of their own, and migrate that file',
      'Or render the values first: terraform console prints what an expression is',
      'Then set chart and version in the resource',
    ],
  });
