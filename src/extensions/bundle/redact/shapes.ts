import {matchAt, PRIVATE_KEY, TOKEN_SHAPES, tokenAt} from '../../../ground/token-shapes.ts';
import {isInPublicBlock, lastBlockBefore} from './public-blocks.ts';
import {type Extent, LIMITS, NOTHING, type RedactionRule, run} from './rule.ts';

export const tokenShapes: readonly RedactionRule[] = TOKEN_SHAPES.map((each) => ({
  name: each.name,
  anchors: each.anchors,
  find: (text, {start}) => find(each, text, start - each.before),
}));

function find(
  shape: (typeof TOKEN_SHAPES)[number],
  text: string,
  start: number,
): readonly Extent[] {
  const found = tokenAt(shape, text, start);
  return found === undefined ? NOTHING : [run(start, start + found.length, shape.stop)];
}

/** Kind of a value according to its format. */
export function shapeOf(value: string): string | undefined {
  if (/^-----BEGIN|^LS0tLS1CRUdJTi/.test(value)) return 'private-key';
  return TOKEN_SHAPES.find(
    ({anchors, before, expression}) =>
      anchors.some((anchor) => value.startsWith(anchor, before)) &&
      matchAt(expression, value, 0) !== undefined,
  )?.name;
}

const SPACE = '(?:[ +_]|%20)';
/** Blocks of other names that hold a key. */
const OTHER = '(?:OpenVPN Static key V1|USER NKEY SEED)';
const BEGIN = new RegExp(`${PRIVATE_KEY}|-----BEGIN ${OTHER}-----`, 'iy');
const END = new RegExp(
  `-----END${SPACE}(?:[A-Z0-9]+${SPACE}){0,3}PRIVATE${SPACE}KEY(?:${SPACE}BLOCK)?-----`,
  'iy',
);
const ANY_END = new RegExp(`${END.source}|-----END ${OTHER}-----`, 'i');
/** What separates the lines of a key: a line break in a log with what it writes before a line, an escape, a blank. */
const BREAK = String.raw`(?:\r?\n[^\n]{0,120}?|(?:\\+r)?\\+n(?:[^\n]{0,80}?(?<=["|>:\s]))??|%0d|%0a|[ \t]+)`;
const LINE = '(?:[A-Za-z0-9+/]|%2[bf]){16,96}(?:=|%3d){0,2}';
const HEADER = String.raw`(?:Version|Comment|Proc-Type|DEK-Info|Hash):[^\n\\]{0,80}`;
/** Lines of a key without its end. */
const LINES = new RegExp(
  `(?:${BREAK}(?:${HEADER}|${LINE}(?![A-Za-z0-9+/]))|\\r?\\n[ \\t]*(?=\\r?\\n)){0,160}`,
  'iy',
);

/** A private key from its first line to its last, also if it is cut off. Certificates and public keys are kept for support. */
const fromBegin: RedactionRule = {
  name: 'private key',
  anchors: ['-----BEGIN'],
  find(text, {start}) {
    const begin = matchAt(BEGIN, text, start);
    if (begin === undefined) return NOTHING;
    const body = start + begin[0].length;
    const next = text.indexOf('-----BEGIN', body);
    const end = ANY_END.exec(
      text.slice(body, Math.min(next === -1 ? text.length : next, body + LIMITS.ahead - 256)),
    );
    if (end !== null) return [{start, end: body + end.index + end[0].length}];
    return [{start, end: body + (matchAt(LINES, text, body)?.[0].length ?? 0)}];
  },
};

/** Base64 on one line, with blanks or escaped line breaks in it. */
const WORDS_BEFORE =
  /(?:(?<![A-Za-z0-9+/=\\])[A-Za-z0-9+/]{16,96}={0,2}|[A-Za-z0-9+/]{96}={0,2}|(?<=[A-Za-z0-9+/=])(?:(?:\\+r)?\\+n|%0a|[ \t]+)|(?<=\\n|%0a)[A-Za-z0-9+/]{4,96}={0,2})$/i;
const KEY_LINE = /(?:^|[^A-Za-z0-9+/=])([A-Za-z0-9+/]{16,96}={0,2})(?:\r|\\n|["',}]|$)/;

/** A private key whose first lines are missing: the lines of base64 before its last line. */
const beforeEnd: RedactionRule = {
  name: 'private key',
  anchors: ['-----END'],
  onlyOutside: true,
  find(text, {start, end}) {
    if (matchAt(END, text, start) === undefined) return NOTHING;
    const floor = Math.max(0, start - LIMITS.behind);
    let first = start;
    for (let words = 0; first > floor; first -= words) {
      words = WORDS_BEFORE.exec(text.slice(Math.max(floor, first - 120), first))?.[0].length ?? 0;
      if (words === 0) break;
    }
    const head = text.slice(floor, first);
    for (let lineEnd = floor + head.lastIndexOf('\n'); lineEnd >= floor; ) {
      const lineStart =
        lineEnd === floor ? floor : floor + head.lastIndexOf('\n', lineEnd - floor - 1) + 1;
      const line = KEY_LINE.exec(text.slice(lineStart, lineEnd));
      if (line === null) break;
      first = lineStart + line.index + line[0].indexOf(line[1] as string);
      lineEnd = lineStart - 1;
    }
    return [{start: first, end}];
  },
};

const OF_BASE64 = /[A-Za-z0-9+/_=-]/;
const BASE64 = new RegExp(
  String.raw`(?:[A-Za-z0-9+/_-]|\\+n|\r?\n[ \t]*(?=[A-Za-z0-9+/_-]{20}|[A-Za-z0-9+/_-]{2,}=)){0,${LIMITS.value}}={0,2}`,
  'y',
);
const AFTER_BASE64 = /[^A-Za-z0-9+/_=-]/g;

function base64Around(text: string, at: number): Extent {
  let start = at;
  while (start > 0 && at - start < LIMITS.behind && OF_BASE64.test(text.charAt(start - 1)))
    start -= 1;
  return {...base64From(text, at), start};
}

const base64From = (text: string, start: number): Extent =>
  run(start, start + (matchAt(BASE64, text, start)?.[0].length ?? 0), AFTER_BASE64);

/** The words PRIVATE KEY in base64, whatever stands before them, and the first bytes of a key in DER: PKCS#8, PKCS#1, SEC 1, OpenSSH, PKCS#12. */
const inBase64: RedactionRule = {
  name: 'private key',
  anchors: [
    'UFJJVkFURSBLRVkt',
    'BSSVZBVEUgS0VZL',
    'QUklWQVRFIEtFWS',

    'IBADANBgkqhkiG9w0BAQEFAAS',
    'IBAAKCA',
    'BAQEEI',
    'AgEAMAUGAytlcAQi',
    'b3BlbnNzaC1rZXktdjE',
    'IBAzCC',
  ],
  onlyOutside: true,
  find(text, {start}) {
    if (isInPublicBlock(text, lastBlockBefore(text, start), start)) return NOTHING;
    const extent = base64Around(text, start);
    const isShort = extent.end - extent.start < 64 && !/[\r\n\\]/.test(text.charAt(extent.end));
    return isShort || !/[A-Za-z]/.test(text.charAt(extent.start)) ? NOTHING : [extent];
  },
};

/** A key of PuTTY: its private lines and its checksum. */
const putty: RedactionRule = {
  name: 'private key',
  anchors: ['Private-Lines:'],
  find(text, {end}) {
    const lines = new RegExp(
      String.raw`[ \t]{0,8}\d{1,3}(?:${BREAK}[A-Za-z0-9+/=]{4,96}(?=[\r\n\\"]|$)){1,200}(?:${BREAK}Private-MAC:[ \t]*[0-9a-f]{1,128})?`,
      'iy',
    );
    const found = matchAt(lines, text, end);
    return found === undefined ? NOTHING : [{start: end, end: end + found[0].length}];
  },
};

/** Compressed data, such as Helm records, which cannot be searched. May be encoded in base64 twice. */
const compressed: RedactionRule = {
  name: 'compressed data',
  anchors: ['H4sI', 'SDRzS'],
  onlyOutside: true,
  find(text, {start}) {
    if (start > 0 && OF_BASE64.test(text.charAt(start - 1)) && text.charAt(start - 1) !== '=')
      return NOTHING;
    const extent = base64From(text, start);
    return extent.end - extent.start < 32 ? NOTHING : [extent];
  },
};

export const privateKeys: readonly RedactionRule[] = [
  fromBegin,
  beforeEnd,
  inBase64,
  putty,
  compressed,
];
