import {readdirSync, readFileSync} from 'node:fs';

/** A line of a log without a secret in it. */
interface OrdinaryLine {
  /** The tool that wrote it, or the kind of confusion. */
  source: string;
  text: string;
  /** Looks like a secret, and is none. */
  confusable: boolean;
}

const CONFUSABLE = 'confusable-';

const folder = new URL('ordinary/', import.meta.url);

/** Output of real tools, and lines made to look like secrets; written without a look at the rules of redaction. */
export const independentOrdinary = (): OrdinaryLine[] =>
  readdirSync(folder).sort().flatMap(linesOf);

function linesOf(file: string): OrdinaryLine[] {
  const source = file.replace(/\.txt$/, '');
  const lines = readFileSync(new URL(file, folder), 'utf8').split(/\r?\n/);
  return lines
    .filter(Boolean)
    .map((text) => ({source, text, confusable: source.startsWith(CONFUSABLE)}));
}
