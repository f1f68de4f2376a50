import {maskSecrets} from './errors.ts';

const MAX_LENGTH = 240;

/** Shortens a text to one line and masks secrets. */
export function oneLine(text: string): string {
  const line = maskSecrets(text.replaceAll(/\s+/g, ' ').trim());
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH - 1).trimEnd()}…` : line;
}
