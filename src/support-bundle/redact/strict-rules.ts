import {matchAt, NOTHING, type Rule} from './rule.ts';

const TOP = 'com|net|org|io|dev|app|cloud|internal|local|lan|corp|svc|co|eu|de|uk|us|ai|tech|info|gov|edu';
const HOST = new RegExp(String.raw`(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,8}(?:${TOP})(?![\w-]|\.\w)`, 'iy');
const IPV4 = /\d{1,3}(?:\.\d{1,3}){3}(?![\w.])/y;
const IPV6 = /(?:[0-9a-f]{0,4}:){3,7}[0-9a-f]{1,4}(?![\w:])/iy;

/** The words around a dot or colon that are an address as a whole. */
function addressAround(text: string, at: number, expression: RegExp, of: RegExp) {
  let start = at;
  while (start > 0 && at - start < 128 && of.test(text.charAt(start - 1))) start -= 1;
  const found = matchAt(expression, text, start);
  return found === undefined ? NOTHING : [{start, end: start + found[0].length}];
}

/** Only with `--redact strict`: host names and addresses. */
export const addressRules: readonly Rule[] = [
  {
    name: 'address',
    anchors: ['.'],
    onlyOutside: true,
    find: (text, start) => {
      const ip = addressAround(text, start, IPV4, /[\d.]/);
      return ip.length > 0 ? ip : addressAround(text, start, HOST, /[\w.-]/);
    },
  },
  {name: 'address', anchors: [':'], onlyOutside: true, find: (text, start) => addressAround(text, start, IPV6, /[0-9a-f:]/i)},
];
