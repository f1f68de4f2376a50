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
      const expression = /[$%]\{[^}]*\}?/.exec(body)?.[0];
      if (expression !== undefined) refuse(expression);
      items.push({start, end: at, yaml: {text: body, start: from, end: from + body.length}, isHeredoc: true});
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

const TOKEN = /(\s+)|(#.*|\/\/.*|\/\*[\s\S]*?\*\/)|("(?:[^"\\\n]|\\.)*")|([{}[\],])|(=(?![=>])|:)|([\w.-]+)/y;
const LITERAL = /^(?:true|false|null|-?\d[\d.]*(?:[eE][+-]?\d+)?)$/;

/** An object of HCL as a flow mapping of YAML: = becomes a colon, and a line that ends a value gets a comma. */
function yamlOf(text: string, start: number, refuse: (expression: string) => never): {text: string; start: number; end: number} {
  let [depth, at, yaml, last] = [0, start, '', '{'];
  do {
    TOKEN.lastIndex = at;
    const [token = '', space, comment, quoted, bracket, equals, word] = TOKEN.exec(text) ?? [];
    at += token.length;
    const isKey = /^[ \t]*[=:]/.test(text.slice(at, at + 20));
    const isExpression = quoted === undefined ? word !== undefined && !isKey && !LITERAL.test(word) : /(?<!\$)\$\{|(?<!%)%\{/.test(quoted);
    if (token === '' || isExpression) refuse(token || (/.*/.exec(text.slice(at))?.[0] ?? ''));
    const endsLine = space?.includes('\n') ?? false;
    if (space !== undefined) yaml += `${endsLine && !'{[,:'.includes(last) ? ',' : ''}${space.replaceAll('\t', ' ')}`;
    else if (comment !== undefined) yaml += comment.replaceAll(/[^\n]/g, ' ');
    else if (equals !== undefined) yaml += /\s/.test(text[at] ?? '') ? ':' : ': ';
    else yaml += token;
    if (bracket !== undefined) depth += '{['.includes(bracket) ? 1 : bracket === ',' ? 0 : -1;
    if (endsLine) last = ',';
    else if (space === undefined && comment === undefined) last = equals === undefined ? token : ':';
  } while (depth > 0);
  return {text: yaml, start, end: at};
}
