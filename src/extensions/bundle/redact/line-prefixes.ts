import {matchAt} from '../../../ground/token-shapes.ts';
import {ESCAPE} from './separators.ts';

/** Control sequences of a terminal. */
const CONTROLS = `(?:${ESCAPE}\\[[\\d;:]{0,24}[A-Za-z])*`;
const TIME = String.raw`(?:\d{4}-\d\d-\d\d[T ][\d:.,]{8,20}(?:Z|[+-]\d\d:?\d\d)?|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\[\d[\d/:.,TZ +-]{7,32}\])[ \t](?:- )?`;
/** The vertical bar beside a diagnostic of Terraform. */
const BAR = '\u00e2\u0094\u0082';
/**
 * What a kubelet, a container runtime, klog, hclog, structlog, Python or a diagnostic writes before a line. `P` is a part of a line, which
 * continues in the next one.
 */
const KNOWN = new RegExp(
  `${CONTROLS}(?:${TIME})?${CONTROLS}(?:std(?:out|err) (?:F|(P)) )?(?:(?:${TIME})?` +
    String.raw`(?:\[[A-Z]{4,5}\][ \t]{1,3}|\[(?:trace|debug|info|notice|warn|warning|error|exception|critical|fatal) *\] |[IWEF]\d{4} [\d:.]{8,20}[ \t]{1,8}\d{1,8} [\w./-]{1,64}:\d{1,6}\] |` +
    String.raw`<\d{1,3}>1 \S{1,40} \S{1,64} \S{1,64} \S{1,16} \S{1,32} (?:-|\[[^\]\n]{0,200}\]) |[A-Z]{4,8} \{[\w./-]{1,64}:\d{1,6}\} |` +
    String.raw`(?:DEBUG|INFO|WARNING|ERROR|CRITICAL):[\w.-]{1,64}:|` +
    `${BAR}${CONTROLS}(?: |(?=\\r?\\n)))${CONTROLS})?`,
  'y',
);
/** A part that a log may write before each line: up to the first colon, bar, bracket or dash before a blank. */
const PART = new RegExp(
  `[\\w<([/#][^\\n"{]{0,100}?(?:[:|\\])>-]|${BAR})${CONTROLS}(?: |(?=\\r?\\n))${CONTROLS}`,
  'y',
);
/** A part without a place, a time, a level, an address or a bar can be a key of YAML. */
const MARK = /\[.*\]|\(.*\)|\||\w\.\w|:\d\d| - |\b[A-Z]{4,}\b/;
/** The key of a value is no prefix. */
const KEY = /(?:pass|secret|token|key|cred|auth|pwd)\w*(?:[-.][a-z]\w*)*["'\]) ]*[:=|>-]\s*$/i;
const MOST_PARTS = 4;
const MOST_LEARNED = 500;

/** What can stand before the text of a line: its end, and its shape with the digits as zeros. */
interface Prefix {
  end: number;
  shape: string;
}

/** What a log writes before its lines. It is learned for each file: lines that follow each other have it in common, up to their digits. */
export class LinePrefixes {
  readonly #learned = new Set<string>();

  /** End of the prefix of a line that begins at `from`; the next line begins at `next`. */
  endOf(text: string, from: number, next: number): number {
    const own = prefixesAt(text, from);
    const shapes = own.length > 1 && next < text.length ? prefixesAt(text, next) : [];
    if (this.#learned.size > MOST_LEARNED) this.#learned.clear();
    for (const {shape} of own)
      if (shapes.some((each) => each.shape === shape)) this.#learned.add(shape);
    const isPrefix = ({shape}: Prefix): boolean => shape === '' || this.#learned.has(shape);
    return own.findLast(isPrefix)?.end ?? from;
  }
}

/** Every beginning of a line that can be its prefix, the shortest first. */
function prefixesAt(text: string, from: number): Prefix[] {
  let last = {end: pastKnown(text, from), shape: ''};
  const found = [last];
  while (found.length <= MOST_PARTS) {
    const part = matchAt(PART, text, last.end)?.[0];
    if (part === undefined || !MARK.test(part) || KEY.test(part)) break;
    const shape = `${last.shape}${part.trimEnd().replace(/\d+/g, '0')} `;
    last = {end: pastKnown(text, last.end + part.length), shape};
    found.push(last);
  }
  return found;
}

/** End of the part of a prefix that every log has in the same form. */
export const pastKnown = (text: string, at: number): number =>
  at + (matchAt(KNOWN, text, at)?.[0].length ?? 0);

/** Whether a container runtime cut a line that begins here: it continues in the next one. */
export const isPartOfLine = (text: string, from: number): boolean =>
  matchAt(KNOWN, text, from)?.[1] !== undefined;
