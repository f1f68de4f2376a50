import {maskSecrets} from '../ground/errors.ts';

const MAX_LENGTH = 240;

/** Shortens a text to one line and masks secrets. */
export function oneLine(text: string): string {
  const line = maskSecrets(text.replaceAll(/\s+/g, ' ').trim());
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH - 1).trimEnd()}…` : line;
}

/** Prefixes that runtimes and kubelets add to a message. */
const WRAPPINGS: readonly RegExp[] = [
  /^Back-off pulling image "[^"]*":? ?/,
  /^ErrImagePull: /,
  /^Failed to pull image "[^"]*": /,
  /^rpc error: code = \w+ desc = /,
  /^failed to pull and unpack image "[^"]*": /,
  /^failed to resolve (reference|image) "[^"]*": /,
  /^failed to copy: /,
  /^Error response from daemon: /,
  /^\(combined from similar events\): /,
  /^Error creating: /,
  // The name differs in every attempt.
  /^pods "[^"]*" is forbidden: /,
  /^Error: /,
];

/** The message without prefixes, so that it stays the same in every attempt. */
export function unwrap(text: string): string {
  const next = WRAPPINGS.reduce((rest, wrapping) => rest.replace(wrapping, ''), text.trim());
  return next === text ? next : unwrap(next);
}
