import {isChart} from '../../charts/releases/chart-name.ts';
import type {ExpectedError} from '../../ground/errors.ts';
import {toYaml} from '../document.ts';
import {readSource} from '../validate/source.ts';
import type {Edit} from '../yaml-text.ts';
import {
  blankAround,
  columnOf,
  dedent,
  type EmbeddedRelease,
  fleetProblems,
  indent,
  notReadable,
} from './embedded-release.ts';

const HELM_RELEASE = /^\s*resource\s+"helm_release"\s/gm;
const MODULE = /^\s*module\s+"[^"]+"\s/m;

export const isTerraform = (text: string): boolean =>
  text.search(HELM_RELEASE) >= 0 || MODULE.test(text);

const CHART = /^(\s*chart\s*=\s*")([^"\n]*?)(agent-[a-z0-9]+)"/gm;
const VERSION = /^(\s*(?:chart_)?version\s*=\s*")([^"\n]+)"/gm;
/** The name in a block `set { name = "a.b" … }`, or in a list of them. */
const SET = /^\s*(?:set\s*(?:=\s*\[\s*)?)?\{\s*name\s*=\s*"([^"]+)"/gm;

/**
 * The only helm_release of a Terraform file, or the module that has a chart, with its values in a heredoc, in yamlencode or in files. Empty
 * for a module whose variables name the chart. HCL needs a parser of its own; expressions and several resources are refused. @throws ExpectedError
 */
export function terraformReleases(file: string, text: string): EmbeddedRelease[] {
  const resources = [...text.matchAll(HELM_RELEASE)];
  const [chart, ...others] = text.matchAll(CHART);
  const [version, ...versions] = [...text.matchAll(VERSION)].filter(
    ([line]) => resources.length > 0 || line.includes('chart_version'),
  );
  const name = chart?.[3];
  if (chart === undefined && (resources.length === 0 || /^\s*chart\s*=\s*var\./m.test(text)))
    return [];
  if (resources.length > 1)
    throw notSimple(file, `it has ${resources.length} helm_release resources`);
  if (chart === undefined || others.length > 0 || versions.length > 0 || !isChart(name))
    throw notSimple(file, 'its resource must specify the chart and one version as plain text');
  const items = hclValues(text, (expression) => {
    throw notSimple(file, `its values contain ${expression}, which only Terraform can evaluate`);
  });
  const [inline, ...more] = items.filter(({yaml}) => yaml !== undefined);
  const files = items.flatMap((each) => each.file ?? []);
  if (items.length === 0 || more.length > 0)
    throw notSimple(file, 'its resource must have its values in one heredoc, yamlencode or files');
  const {yaml, isHeredoc = false, start = 0, end = 0} = inline ?? {};
  const column = isHeredoc
    ? columnOf(yaml?.text ?? '')
    : text.slice(text.lastIndexOf('\n', start) + 1).search(/\S/);
  const encoded =
    yaml && !isHeredoc ? toYaml(readSource(yaml.text).source?.values ?? {}) : undefined;
  const replaced = (match: RegExpExecArray, by: string): Edit => ({
    start: match.index,
    end: match.index + match[0].length,
    text: by,
  });
  const valuesEdit = (changed: string): Edit => {
    if (isHeredoc && yaml)
      return {start: yaml.start, end: yaml.end, text: `${indent(changed, column)}\n`};
    const inner = indent(changed, column + 4);
    const outer = ' '.repeat(column);
    return {
      start,
      end,
      text: `<<-EOT\n${inner}\n${outer}  EOT${/^\s*\n/.test(text.slice(end)) ? '' : `\n${outer}`}`,
    };
  };
  const values = encoded ?? (yaml && dedent(yaml.text, column));
  return [
    {
      kind: resources.length > 0 ? 'helm_release' : 'module',
      chart: name,
      version: version?.[2],
      values,
      inPlace:
        yaml && `${blankAround(text.slice(0, yaml.start), yaml.start, yaml.start)}${yaml.text}`,
      fileSets: [files],
      hasOtherValues: files.length > 0 || /^\s*set_(list|sensitive|wo)?\s*[={]/m.test(text),
      parameters: [...text.matchAll(SET)].map((match) => match[1] as string),
      problems: fleetProblems({
        chart: name,
        version: version?.[2],
        offset: (version ?? chart).index + ((version ?? chart)[1] ?? '').length,
      }),
      edits: (newChart, newVersion, newValues) => [
        replaced(chart, `${chart[1]}${chart[2]}${newChart}"`),
        ...(version === undefined ? [] : [replaced(version, `${version[1]}${newVersion}"`)]),
        ...(newValues === undefined || newValues === values ? [] : [valuesEdit(newValues)]),
      ],
    },
  ];
}

const notSimple = (file: string, reason: string): ExpectedError =>
  notReadable(file, reason, [
    'Save the values without expressions in a separate file, and use that file',
    'Or render the values first: terraform console prints the value of an expression',
    'Then set chart and version in the resource',
  ]);

/** An item of `values = [ … ]` in HCL. */
export interface HclItem {
  start: number;
  end: number;
  /** The path of a values file. */
  file?: string;
  /** The values as YAML, of the same length up to commas at ends of lines, and where they start. */
  yaml?: {text: string; start: number; end: number};
  isHeredoc?: boolean;
}

const LIST = /^[ \t]*values\s*=\s*\[/m;
const SKIPPED = /(?:\s|,|#.*|\/\/.*|\/\*[\s\S]*?\*\/)*/y;
const HEREDOC = /<<-?(\w+)\r?\n([\s\S]*?)^[ \t]*\1$/my;
const FILE = /file\(\s*"(?:\$\{path\.module\}\/)?([^"$%]+)"\s*\)/y;
const ENCODED = /yamlencode\(\s*(?=\{)/y;

/** The values of a resource; `refuse` throws for what only Terraform can evaluate. */
export function hclValues(text: string, refuse: (expression: string) => never): HclItem[] {
  const list = LIST.exec(text);
  if (list === null) return [];
  const items: HclItem[] = [];
  let at = list.index + list[0].length;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    at += found?.[0].length ?? 0;
    return found;
  };
  for (take(SKIPPED); text[at] !== ']'; take(SKIPPED)) {
    const start = at;
    const heredoc = take(HEREDOC);
    const [, , body = ''] = heredoc ?? [];
    const file = heredoc ? undefined : take(FILE)?.[1];
    if (heredoc) {
      const from = start + heredoc[0].indexOf('\n') + 1;
      const expression = /(?:(?<!\$)\$|(?<!%)%)\{[^}]*\}?/.exec(body)?.[0];
      if (expression !== undefined) refuse(expression);
      items.push({
        start,
        end: at,
        yaml: {text: body, start: from, end: from + body.length},
        isHeredoc: true,
      });
    } else if (file !== undefined) items.push({start, end: at, file});
    else if (take(ENCODED)) {
      const yaml = yamlOf(text, at, refuse);
      at = yaml.end;
      take(SKIPPED);
      at += 1;
      items.push({start, end: at, yaml});
    } else refuse(/.*/.exec(text.slice(at))?.[0] ?? '');
  }
  return items;
}

const TOKEN =
  /(\s+)|(#.*|\/\/.*|\/\*[\s\S]*?\*\/)|("(?:[^"\\\n]|\\.)*")|([{}[\],])|(=(?![=>])|:)|([\w.-]+)/y;
const LITERAL = /^(?:true|false|null|-?\d[\d.]*(?:[eE][+-]?\d+)?)$/;

/** An object of HCL as a flow mapping of YAML: = becomes a colon, and a line that ends a value gets a comma. */
function yamlOf(
  text: string,
  start: number,
  refuse: (expression: string) => never,
): {text: string; start: number; end: number} {
  let depth = 0;
  let at = start;
  let yaml = '';
  let last = '{';
  do {
    TOKEN.lastIndex = at;
    const [token = '', space, comment, quoted, bracket, equals, word] = TOKEN.exec(text) ?? [];
    at += token.length;
    const isKey = /^[ \t]*[=:]/.test(text.slice(at, at + 20));
    const isExpression =
      quoted === undefined
        ? word !== undefined && !isKey && !LITERAL.test(word)
        : /(?<!\$)\$\{|(?<!%)%\{/.test(quoted);
    if (token === '' || isExpression) refuse(token || (/.*/.exec(text.slice(at))?.[0] ?? ''));
    const endsLine = space?.includes('\n') ?? false;
    if (space !== undefined)
      yaml += `${endsLine && !'{[,:'.includes(last) ? ',' : ''}${space.replaceAll('\t', ' ')}`;
    else if (comment !== undefined) yaml += comment.replaceAll(/[^\n]/g, ' ');
    else if (equals !== undefined) yaml += /\s/.test(text[at] ?? '') ? ':' : ': ';
    else yaml += token;
    if (bracket !== undefined) depth += '{['.includes(bracket) ? 1 : bracket === ',' ? 0 : -1;
    if (endsLine) last = ',';
    else if (space === undefined && comment === undefined)
      last = equals === undefined ? token : ':';
  } while (depth > 0);
  return {text: yaml, start, end: at};
}
