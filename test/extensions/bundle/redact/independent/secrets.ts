import {bareTokens} from './secrets/bare-tokens.ts';
import {connectionStrings} from './secrets/connection-strings.ts';
import {environment} from './secrets/environment.ts';
import {fill} from './secrets/fill.ts';
import {gitAndCurl} from './secrets/git-and-curl.ts';
import {planOutput} from './secrets/plan-output.ts';
import {privateKeys} from './secrets/private-keys.ts';
import {Random} from './secrets/random.ts';
import {sentences} from './secrets/sentences.ts';
import type {Shape} from './secrets/shapes.ts';
import {shell} from './secrets/shell.ts';
import {stateJson} from './secrets/state-json.ts';
import {tracebacks} from './secrets/tracebacks.ts';
import {traces} from './secrets/traces.ts';
import {transformed} from './secrets/transformed.ts';
import {webhooks} from './secrets/webhooks.ts';
import {PLAIN, WRAPPERS, type Wrapper} from './secrets/wrappers.ts';

export interface SecretEntry {
  class: string;
  /** The template that it was made from. */
  shape: string;
  wrapper: string;
  text: string;
  /** As they stand in the text. */
  secrets: string[];
  /** No tool could know it. */
  limit: boolean;
}

const CLASSES: readonly (readonly Shape[])[] = [
  planOutput,
  stateJson,
  traces,
  shell,
  environment,
  tracebacks,
  gitAndCurl,
  connectionStrings,
  webhooks,
  bareTokens,
  sentences,
  transformed,
  privateKeys,
];

/** Plain, and three others by turns. */
function wrappersOf(index: number): Wrapper[] {
  return [PLAIN, ...[0, 2, 5].map((step) => WRAPPERS[(index + step) % WRAPPERS.length] as Wrapper)];
}

function entry(
  {class: name, template, limit}: Shape,
  {name: wrapper, wrap, inside}: Wrapper,
  seed: number,
): SecretEntry {
  const random = new Random(`${seed} ${wrapper} ${template}`);
  const {text, secrets} = fill(template, random);
  return {
    class: name,
    shape: template,
    wrapper,
    text: wrap(text, random),
    secrets: secrets.map(inside),
    limit,
  };
}

/** Lines with secrets that the redactor was not told; the same seed gives the same lines. Written without knowledge of its rules. */
export function independentSecrets(seed: number): SecretEntry[] {
  return CLASSES.flatMap((shapes) =>
    shapes.flatMap((shape, index) =>
      wrappersOf(index).map((wrapper) => entry(shape, wrapper, seed)),
    ),
  );
}
