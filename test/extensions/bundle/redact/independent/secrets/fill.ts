import {encode} from './encode.ts';
import {FILLERS} from './fillers.ts';
import type {Random} from './random.ts';
import {SECRETS} from './values.ts';

const PLACEHOLDER = /\{([a-z]\w*)(#\d)?((?:\|[a-z]\w*(?::[^|}]*)?)*)\}/g;

/** `set -x` quotes the whole word, except for an assignment before a command. */
const traced = (text: string): string =>
  text.replace(/(?<=^\++ \S.* )([^\s'"]+)'([^'\n]+)'(?=\s|$)/gm, "'$1$2'");

/** Puts values for the placeholders of a template; one of the same name is the same value. */
export function fill(template: string, random: Random): {text: string; secrets: string[]} {
  const values = new Map<string, string>();
  const secrets = new Set<string>();
  const text = template.replaceAll(PLACEHOLDER, (_, name: string, other = '', steps = '') => {
    const make = SECRETS[name] ?? FILLERS[name];
    if (!make) throw new Error(`No value {${name}} for ${template}`);
    const key = `${name}${other}`;
    const value = values.get(key) ?? make(random);
    values.set(key, value);
    const placed = encode(value, steps.split('|').filter(Boolean));
    if (SECRETS[name]) for (const secret of placed.secrets) secrets.add(secret);
    return placed.text;
  });
  if (!secrets.size) throw new Error(`No secret in ${template}`);
  return {text: template.includes('|sh}') ? traced(text) : text, secrets: [...secrets]};
}
