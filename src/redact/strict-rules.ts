import {matchAt, NOTHING, type Rule} from './rule.ts';

const TOP = 'com|net|org|io|dev|app|cloud|internal|local|lan|corp|svc|co|eu|de|uk|us|ai|tech|info|gov|edu';
/** An IPv4 address, an IPv6 address or a host name. */
const ADDRESS = new RegExp(
  String.raw`\d{1,3}(?:\.\d{1,3}){3}(?![\w.])|(?:[0-9a-f]{0,4}:){3,7}[0-9a-f]{1,4}(?![\w:])|(?:[a-z0-9][a-z0-9-]{0,62}\.){1,8}(?:${TOP})(?![\w-]|\.\w)`,
  'iy',
);

/** Only with `--redact strict`: host names and addresses around a dot or a colon. */
export const addressRules: readonly Rule[] = [/[\w.-]/, /[0-9a-f:]/i].map((characters, index) => ({
  name: 'address',
  anchors: ['.:'.charAt(index)],
  onlyOutside: true,
  find(text, at) {
    let start = at;
    while (start > 0 && at - start < 128 && characters.test(text.charAt(start - 1))) start -= 1;
    const found = matchAt(ADDRESS, text, start);
    return found === undefined ? NOTHING : [{start, end: start + found[0].length}];
  },
}));
