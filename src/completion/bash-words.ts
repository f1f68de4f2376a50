/** Words of a line as bash reads them up to the cursor. */
export interface BashWords {
  /** Without quotes; the last one, which may be empty, is the one at the cursor. */
  words: readonly string[];
  /** The quote that is still open in it. */
  quote: string;
  /** What of it, without quotes, stands before the part that bash replaces. */
  kept: string;
  /** It is the file of a redirection. */
  isRedirected: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** What stands in front of the others matches first: a quoted stretch, a variable, an escaped or a plain character. */
const PIECES = /'([^']*)('?)|"((?:[^"\\]|\\.)*)("?)|\\(.?)|(\$\w+|\$\{\w+\})|([<>&|]+)|(\s+)|(\$\([^)]*\)?|`[^`]*`?|.)/gsu;

interface Word {
  text: string;
  isRedirected: boolean;
}

/**
 * Commands in the line are not run, they stay as they are written. `replaced` is the end of the line that bash would replace: it breaks
 * words at = and : too.
 */
export function bashWords(line: string, replaced: string, env: Environment): BashWords {
  const {words, quote} = split(line, env);
  const kept = split(line.slice(0, line.length - replaced.length), env).words.at(-1) as Word;
  const last = words.at(-1) as Word;
  return {
    words: words.filter((word) => word === last || !word.isRedirected).map(({text}) => text),
    quote,
    kept: kept.text,
    isRedirected: last.isRedirected,
  };
}

function split(line: string, env: Environment): {words: Word[]; quote: string} {
  const words: Word[] = [];
  let word: Word | undefined;
  let [quote, isRedirected] = ['', false];
  const add = (text: string): void => {
    word ??= {text: '', isRedirected};
    word.text += text;
  };
  const end = (): void => {
    if (word === undefined) return;
    words.push(word);
    isRedirected = false;
    word = undefined;
  };
  for (const match of line.matchAll(PIECES)) {
    const [, single, singleEnd, double, doubleEnd, escaped, variable, operator, blank, plain] = match;
    quote = singleEnd === '' ? "'" : doubleEnd === '' ? '"' : '';
    if (single !== undefined) add(single);
    else if (double !== undefined) add(expanded(double, env));
    else if (escaped !== undefined) add(escaped);
    else if (variable !== undefined) add(expanded(variable, env));
    else if (operator !== undefined) {
      // The number in 2>file.
      if (/^\d+$/.test(word?.text ?? '')) word = undefined;
      end();
      isRedirected = true;
    } else if (blank !== undefined) end();
    else if (plain === '~' && word === undefined && /^(\/|\s|$)/.test(line.slice(match.index + 1))) add(env['HOME'] ?? '~');
    else add(plain as string);
  }
  return {words: [...words, word ?? {text: '', isRedirected}], quote};
}

const expanded = (text: string, env: Environment): string =>
  text.replace(
    /\\([$`"\\\n])|\$(\w+)|\$\{(\w+)\}/g,
    (_, escaped?: string, name?: string, braced?: string) => escaped ?? env[name ?? (braced as string)] ?? '',
  );
