import {maskSecrets} from '../errors.ts';

const LONGEST = 240;

/** Fit for one line of a terminal, without what may be secret. */
export function oneLine(text: string): string {
  const line = maskSecrets(text.replaceAll(/\s+/g, ' ').trim());
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 1).trimEnd()}…` : line;
}

/** What runtimes and kubelets put before the actual words. */
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
  // The name is another one with every try.
  /^pods "[^"]*" is forbidden: /,
  /^Error: /,
];

/** The words without their wrappings, so that they stay the same from one try to the next. */
export function unwrap(text: string): string {
  const next = WRAPPINGS.reduce((rest, wrapping) => rest.replace(wrapping, ''), text.trim());
  return next === text ? next : unwrap(next);
}
