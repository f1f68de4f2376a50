import {parse} from 'yaml';
import type {KubernetesObject} from '../../src/cluster/kubernetes/objects.ts';

/** A command in the output or docs of the program, split into words like in a shell. */
export interface PrintedCommand {
  text: string;
  tool: string;
  args: readonly string[];
}

const TOOLS = [
  'kubectl',
  'helm',
  'scalr-agent',
  'scalr-agent-install',
  'npx',
  'docker',
  'systemctl',
  'journalctl',
];
/** A command starts a line, or follows a colon, a prompt, a quote, a list marker or another command. */
const START = new RegExp(
  `(?:^\\s*(?:[-→$#] +)?|: |\`|&& |\\| |; or |do |sudo )(?=(?:${TOOLS.join('|')})(?= [\\w"'/-]))`,
  'gm',
);
/** End of a command outside of quotes: end of line, another command, or prose. A choice such as a|b is no end, so that it is found. */
const END = /^(?:\n|`|[;&]|\|(?!\w)|, |\. |\.$|\.\n| \(| >| #| <(?![\w-]+>))/;

/** All commands in the text, in order. */
export function commandsIn(text: string): PrintedCommand[] {
  const joined = text.replaceAll(/ \\\n\s*/g, ' ');
  return [...joined.matchAll(START)].map(({index, 0: before}) =>
    commandAt(joined.slice(index + before.length)),
  );
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

/** True for the error message of a tool. */
export const isFailure = ({text}: Pick<PrintedCommand, 'text'>): boolean =>
  /^\w+ [\w-]+ failed: /.test(text);

/** The roles for an administrator in a next step, however far they are indented. */
export function rolesIn(text: string): KubernetesObject[] {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => /^ *apiVersion:/.test(line));
  const indent = /^ */.exec(lines[start] ?? '')?.[0] ?? '';
  const end = lines.findIndex((line, index) => index > start && !line.startsWith(indent));
  const {items} = parse(lines.slice(start, end < 0 ? undefined : end).join('\n')) as {
    items: KubernetesObject[];
  };
  return items;
}
