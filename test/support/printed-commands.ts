import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import ts from 'typescript';
import {remedyOf} from '../../src/diagnose/cause.ts';
import {CAUSES} from '../../src/diagnose/explain.ts';

const root = join(import.meta.dirname, '../..');

/** A command in the output or docs of the program, split into words like in a shell. */
export interface PrintedCommand {
  text: string;
  tool: string;
  args: readonly string[];
}

const TOOLS = ['kubectl', 'helm', 'scalr-agent', 'scalr-agent-install', 'npx', 'docker', 'systemctl', 'journalctl'];
/** A command starts a line, or follows a colon, a prompt, a quote, a list marker or another command. */
const START = new RegExp(`(?:^\\s*(?:[-→$#] +)?|: |\`|&& |\\| |; or |do |sudo )(?=(?:${TOOLS.join('|')})(?= [\\w"'/-]))`, 'gm');
/** End of a command outside of quotes: end of line, another command, or prose. */
const END = /^(?:\n|`|[;|&]|, |\. |\.$|\.\n| \(| >| #| <(?![\w-]+>))/;

/** All commands in the text, in order. */
export function commandsIn(text: string): PrintedCommand[] {
  const joined = text.replaceAll(/ \\\n\s*/g, ' ');
  return [...joined.matchAll(START)].map(({index, 0: before}) => commandAt(joined.slice(index + before.length)));
}

function commandAt(text: string): PrintedCommand {
  const words: string[] = [''];
  let quote = '';
  let end = 0;
  for (; end < text.length; end++) {
    const char = text[end] as string;
    const isDirectory = char === '.' && text[end - 1] === ' ';
    if (quote === '' && !isDirectory && END.test(text.slice(end))) break;
    if (char === quote) quote = '';
    else if (quote === '' && (char === '"' || char === "'")) quote = char;
    else if (quote === '' && char === ' ') words.push('');
    else words.push(`${words.pop()}${char}`);
  }
  const [tool = '', ...args] = words.filter((word) => word !== '');
  return {text: text.slice(0, end).trimEnd(), tool, args};
}

const EXAMPLE = {
  object: {metadata: {name: 'agent-1'}, spec: {nodeName: 'node-a', volumes: [{persistentVolumeClaim: {claimName: 'cache'}}]}},
  container: 'agent',
};

const textsIn = (folder: string, files: RegExp): (readonly [source: string, text: string])[] =>
  readdirSync(join(root, folder), {recursive: true, encoding: 'utf8'})
    .filter((file) => files.test(file))
    .map((file) => [join(folder, file), readFileSync(join(root, folder, file), 'utf8')]);

const fencesIn = (text: string): string => [...text.matchAll(/^```console\n([\s\S]*?)^```/gm)].map(([, block]) => block).join('');

/** Recorded output of the program: golden files, and the remedy of every cause. */
export const OUTPUTS = [
  ...textsIn('test/golden', /(error|warnings)\.txt$|values\.yaml$/),
  ...textsIn('test/preflight/checks/messages', /\.txt$/),
  // Input of a test may be invalid on purpose.
  ...textsIn('docs', /^errors\.md$/).map(([file, text]) => [file, fencesIn(text).replaceAll(/^\$ .*\n/gm, '')] as const),
  ...CAUSES.map((row) => [`cause ${row.code}`, remedyOf(row, EXAMPLE, {namespace: 'agents'})] as const),
];

/** Docs; placeholders are in capitals. */
export const DOCS = [...textsIn('docs', /(?<!^errors)\.md$/), ['README.md', readFileSync(join(root, 'README.md'), 'utf8')] as const];

export const printedIn = (texts: readonly (readonly [source: string, text: string])[]) =>
  texts.flatMap(([source, text]) => commandsIn(text).map((command) => ({source, ...command})));

/** All strings in the source; interpolated values are X. */
export const LITERALS = inSource((node) => textOf(node) ?? []);

/** Literal arguments of the helpers that print commands. */
export const HELPED = inSource((node) => {
  if (!ts.isCallExpression(node)) return [];
  const [, tool] = /^(kubectl|helm)Command$/.exec(node.expression.getText()) ?? [];
  if (tool === undefined) return [];
  const isWhole = !node.arguments.some(ts.isSpreadElement);
  const args = node.arguments.slice(1).filter((each) => !ts.isSpreadElement(each));
  return [{tool, isWhole, args: args.map((each) => textOf(each) ?? 'x')}];
});

function inSource<T>(read: (node: ts.Node) => T | readonly T[]): (readonly [source: string, T])[] {
  return textsIn('src', /\.ts$/).flatMap(([file, code]) => {
    const found: (readonly [string, T])[] = [];
    const visit = (node: ts.Node): void => {
      for (const each of [read(node)].flat() as T[]) found.push([file, each]);
      ts.forEachChild(node, visit);
    };
    visit(ts.createSourceFile('source.ts', code, ts.ScriptTarget.Latest, true));
    return found;
  });
}

function textOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  return ts.isTemplateExpression(node) ? [node.head.text, ...node.templateSpans.map(({literal}) => literal.text)].join('X') : undefined;
}

/** Subcommands of both tools; other words after their names are prose. */
export const VERBS =
  /\b(?:kubectl (?:annotate|apply|auth|cluster-info|config|create|debug|delete|describe|edit|get|label|logs|patch|rollout|run|scale|uncordon|wait)|helm (?:get|history|list|pull|rollback|show|status|template|uninstall|upgrade))\b/;

/** True for the error message of a tool. */
export const isFailure = ({text}: Pick<PrintedCommand, 'text'>): boolean => /^\w+ [\w-]+ failed: /.test(text);
