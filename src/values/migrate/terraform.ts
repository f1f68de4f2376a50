import {ExitCode, ExpectedError} from '../../ground/errors.ts';
import type {EmbeddedRelease} from './embedded.ts';
import {isChart} from './target.ts';

export const isTerraform = (text: string): boolean => /^\s*resource\s+"helm_release"\s/m.test(text);

const CHART = /^(\s*chart\s*=\s*")([^"\n]*?)(agent-[a-z0-9]+)"/gm;
const VERSION = /^(\s*version\s*=\s*")([^"\n]+)"/gm;
const VALUES = /^(\s*values\s*=\s*\[\s*<<-?(\w+)\n)([\s\S]*?)^[ \t]*\2$/gm;

/**
 * The only helm_release of a Terraform file, with its values in one heredoc. HCL needs a parser of its own; expressions and several
 * resources are refused. @throws ExpectedError
 */
export function terraformRelease(file: string, text: string): EmbeddedRelease {
  const [charts, versions, values] = [CHART, VERSION, VALUES].map((pattern) => [...text.matchAll(pattern)]) as [Matches, Matches, Matches];
  const [chart, version, heredoc] = [charts[0], versions[0], values[0]];
  const resources = text.match(/^\s*resource\s+"helm_release"\s/gm) ?? [];
  const name = chart?.[3];
  const isSimple =
    resources.length === 1 && charts.length === 1 && versions.length <= 1 && values.length === 1 && !/[$%]\{/.test(heredoc?.[3] ?? '');
  if (!isSimple || chart === undefined || heredoc === undefined || !isChart(name)) throw notSimple(file);
  const [, opening = '', , body = ''] = heredoc;
  const indent = Math.min(
    ...body
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => line.search(/\S/)),
  );
  const start = heredoc.index + opening.length;
  const shift = (line: string): string => (line === '' ? '' : ' '.repeat(indent) + line);
  return {
    kind: 'helm_release',
    chart: name,
    version: version?.[2],
    values: body.replaceAll(new RegExp(`^ {${indent}}`, 'gm'), ''),
    hasOtherValues: /^\s*set(_list|_sensitive)?\s*[={]/m.test(text),
    edits: (newChart, newVersion, newValues) => [
      {start: chart.index, end: chart.index + chart[0].length, text: `${chart[1]}${chart[2]}${newChart}"`},
      ...(version === undefined
        ? []
        : [{start: version.index, end: version.index + version[0].length, text: `${version[1]}${newVersion}"`}]),
      {start, end: start + body.length, text: `${(newValues ?? '').trimEnd().split('\n').map(shift).join('\n')}\n`},
    ],
  };
}

type Matches = RegExpExecArray[];

const notSimple = (file: string): ExpectedError =>
  new ExpectedError(`Cannot migrate ${file}: it must contain one helm_release with its values in one heredoc.`, {
    code: 'UNREADABLE_FILE',
    exit: ExitCode.usage,
    suggestions: ['Save the values in a file of their own, and migrate that file', 'Then set chart and version in the resource'],
  });
