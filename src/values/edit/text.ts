import {Lexer} from 'yaml';

/** Text in place of another, by offsets. */
export interface Edit {
  start: number;
  end: number;
  text: string;
}

export const applyEdits = (text: string, edits: readonly Edit[]): string =>
  edits
    .toSorted((one, other) => other.start - one.start || other.end - one.end)
    .reduce((result, edit) => result.slice(0, edit.start) + edit.text + result.slice(edit.end), text);

/** Every comment of a text, sorted. */
export function commentsOf(text: string): string[] {
  const tokens = [...new Lexer().lex(text)];
  return tokens
    .filter((token, index) => token.startsWith('#') && tokens[index - 1] !== SCALAR_FOLLOWS)
    .map((token) => token.trimEnd())
    .toSorted();
}

const SCALAR_FOLLOWS = '\u001f';
