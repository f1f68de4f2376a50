import {maskSecrets} from '../../ground/errors.ts';
import {HIDDEN} from '../../ground/hide-values.ts';
import {keySoundsSecret, mayBeObject, variableSoundsSecret} from '../../ground/secret.ts';

/** A key whose value continues in indented lines. */
interface OpenKey {
  column: number;
  /** What is hidden of the lines below; `text` hides them only where they are no mapping. */
  hides: 'all' | 'text' | 'nothing';
  /** A `name` beside it names a secret variable, so its `value` is a secret. */
  isOfSecret: boolean;
}

/**
 * The lines of a values file without the values of keys that sound secret, because logs of pipelines are kept. Works by
 * line, because the file may be invalid YAML.
 */
export function linesWithoutSecrets(text: string): string[] {
  const open: OpenKey[] = [];
  return text.split(/\r\n?|\n|\u0085/).map((line) => {
    const [lead = '', dashes = ''] = /^\s*((?:- +|-$)*)/.exec(line) ?? [];
    const body = line.slice(lead.length);
    if (body === '' && dashes === '') return line;
    // A list item may start in the column of its key.
    const start = lead.length - dashes.length + (dashes === '' ? 0 : 0.5);
    const isComment = body.startsWith('#');
    const closed = isComment
      ? []
      : open.splice(open.findLastIndex(({column}) => column < start) + 1);
    const above = open.at(-1);
    const isKey = IS_KEY.test(body);
    if (
      above &&
      above.column < start &&
      (above.hides === 'all' || (above.hides === 'text' && !isKey))
    )
      return `${lead}${HIDDEN}`;
    // Neither key nor item: the rest of a value with the wrong indentation.
    if (
      dashes === '' &&
      !isKey &&
      !/^[\]}]/.test(body) &&
      closed.some(({hides}) => hides === 'all')
    ) {
      open.push({column: lead.length, hides: 'all', isOfSecret: false});
      return `${lead}${HIDDEN}`;
    }
    let isOfSecret =
      dashes === '' && closed.some((each) => each.column === lead.length && each.isOfSecret);
    const names = [...body.matchAll(/(?<![\w.-])name["']?\s*:\s*["']?([\w.-]+)/g)];
    isOfSecret ||= names.some(([, name = '']) => variableSoundsSecret(name));
    const {shown, hides} = hideInLine(body, isOfSecret);
    if (!isComment) open.push({column: lead.length, hides, isOfSecret});
    return maskSecrets(lead + shown);
  });
}

const IS_KEY = /^["']?[\w./-]+["']?\s*:(?:\s|$)/;
const OPENS_BLOCK = /^(?:[|>][-+\d]*)?\s*(?:#.*)?$/;
/** Empty values and placeholders are no secrets. */
const HARMLESS =
  /^(["']?)(?:|<[^<>"']+>|\{\{[^{}"']*\}\})\1\s*(?:#.*)?$|^(?:~|null|\[\]|\{\})\s*(?:#.*)?$/;

function hideInLine(body: string, isOfSecret: boolean): {shown: string; hides: OpenKey['hides']} {
  for (const {0: key, 1: name = '', index} of body.matchAll(
    /(?<![\w./-])([\w./-]+)["']?(?:\s*[:=]\s*|\s+)/g,
  )) {
    // Without a colon only the first word can be a key.
    if (
      (!/[:=]/.test(key) && index > 1) ||
      !(keySoundsSecret(name) || (isOfSecret && name === 'value'))
    )
      continue;
    const rest = body.slice(index + key.length);
    if (mayBeObject(name) && /^\{(?!\{)/.test(rest)) continue;
    if (OPENS_BLOCK.test(rest))
      return {shown: body, hides: mayBeObject(name) && !/^[|>]/.test(rest) ? 'text' : 'all'};
    return HARMLESS.test(rest)
      ? {shown: body, hides: 'nothing'}
      : {shown: `${body.slice(0, index + key.length)}${HIDDEN}`, hides: 'all'};
  }
  return {shown: body, hides: 'nothing'};
}
