import {maskSecrets} from '../errors.ts';
import {keySoundsSecret, mayBeObject, variableSoundsSecret} from '../settings/secret.ts';

const HIDDEN = '[hidden]';

/** A key whose value goes on in deeper lines. */
interface Open {
  column: number;
  /** What stands below is hidden; `text` only where it is no mapping. */
  hides: 'all' | 'text' | 'nothing';
  /** A variable of that name stands beside it, whose value is a secret. */
  isOfSecret: boolean;
}

/**
 * The lines of a values file made fit for eyes: pipelines keep what is printed. What stands behind or below a key that
 * sounds secret is hidden. Goes by lines, because the file may be no YAML.
 */
export function shownLines(text: string): string[] {
  const open: Open[] = [];
  return text.split(/\r\n?|\n|\u0085/).map((line) => {
    const [lead = '', dashes = ''] = /^\s*((?:- +|-$)*)/.exec(line) ?? [];
    const body = line.slice(lead.length);
    if (body === '' && dashes === '') return line;
    // An item may stand in the column of the key of its list.
    const start = lead.length - dashes.length + (dashes === '' ? 0 : 0.5);
    const isComment = body.startsWith('#');
    const closed = isComment ? [] : open.splice(open.findLastIndex(({column}) => column < start) + 1);
    const above = open.at(-1);
    const isKey = IS_KEY.test(body);
    if (above && above.column < start && (above.hides === 'all' || (above.hides === 'text' && !isKey))) return `${lead}${HIDDEN}`;
    // No key, no item: a value that is not indented as it should be.
    if (dashes === '' && !isKey && !/^[\]}]/.test(body) && closed.some(({hides}) => hides === 'all')) {
      open.push({column: lead.length, hides: 'all', isOfSecret: false});
      return `${lead}${HIDDEN}`;
    }
    let isOfSecret = dashes === '' && closed.some((each) => each.column === lead.length && each.isOfSecret);
    const names = [...body.matchAll(/(?<![\w.-])name["']?\s*:\s*["']?([\w.-]+)/g)];
    isOfSecret ||= names.some(([, name = '']) => variableSoundsSecret(name));
    const {shown, hides} = shownBody(body, isOfSecret);
    if (!isComment) open.push({column: lead.length, hides, isOfSecret});
    return maskSecrets(lead + shown);
  });
}

const IS_KEY = /^["']?[\w./-]+["']?\s*:(?:\s|$)/;

/** Blanks and empty values tell nothing, and what a template left open is no secret yet. */
const OPENS = /^(?:[|>][-+\d]*)?\s*(?:#.*)?$/;
const HARMLESS = /^(["']?)(?:|<[^<>"']+>|\{\{[^{}"']*\}\})\1\s*(?:#.*)?$|^(?:~|null|\[\]|\{\})\s*(?:#.*)?$/;

function shownBody(body: string, isOfSecret: boolean): {shown: string; hides: Open['hides']} {
  for (const {0: key, 1: name = '', index} of body.matchAll(/(?<![\w./-])([\w./-]+)["']?(?:\s*[:=]\s*|\s+)/g)) {
    // Where the colon was forgotten only the first word can be meant as a key.
    if ((!/[:=]/.test(key) && index > 1) || !(keySoundsSecret(name) || (isOfSecret && name === 'value'))) continue;
    const rest = body.slice(index + key.length);
    if (mayBeObject(name) && /^\{(?!\{)/.test(rest)) continue;
    if (OPENS.test(rest)) return {shown: body, hides: mayBeObject(name) && !/^[|>]/.test(rest) ? 'text' : 'all'};
    return HARMLESS.test(rest) ? {shown: body, hides: 'nothing'} : {shown: `${body.slice(0, index + key.length)}${HIDDEN}`, hides: 'all'};
  }
  return {shown: body, hides: 'nothing'};
}
