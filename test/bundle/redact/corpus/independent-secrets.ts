import {bareTokens} from './independent/bare-tokens.ts';
import {connectionStrings} from './independent/connection-strings.ts';
import {environment} from './independent/environment.ts';
import {fill} from './independent/fill.ts';
import {gitAndCurl} from './independent/git-and-curl.ts';
import {planOutput} from './independent/plan-output.ts';
import {privateKeys} from './independent/private-keys.ts';
import {Random} from './independent/random.ts';
import {sentences} from './independent/sentences.ts';
import type {Shape} from './independent/shapes.ts';
import {shell} from './independent/shell.ts';
import {stateJson} from './independent/state-json.ts';
import {tracebacks} from './independent/tracebacks.ts';
import {traces} from './independent/traces.ts';
import {transformed} from './independent/transformed.ts';
import {webhooks} from './independent/webhooks.ts';
import {PLAIN, WRAPPERS, type Wrapper} from './independent/wrappers.ts';

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
  ...[planOutput, stateJson, traces, shell, environment, tracebacks, gitAndCurl, connectionStrings, webhooks],
  ...[bareTokens, sentences, transformed, privateKeys],
];

/** Plain, and three others by turns. */
function wrappersOf(index: number): Wrapper[] {
  return [PLAIN, ...[0, 2, 5].map((step) => WRAPPERS[(index + step) % WRAPPERS.length] as Wrapper)];
}

function entry({class: name, template, limit}: Shape, {name: wrapper, wrap, inside}: Wrapper, seed: number): SecretEntry {
  const random = new Random(`${seed} ${wrapper} ${template}`);
  const {text, secrets} = fill(template, random);
  return {class: name, shape: template, wrapper, text: wrap(text, random), secrets: secrets.map(inside), limit};
}

/** Lines with secrets that the redactor was not told; the same seed gives the same lines. Written without knowledge of its rules. */
export function independentSecrets(seed: number): SecretEntry[] {
  return CLASSES.flatMap((shapes) => shapes.flatMap((shape, index) => wrappersOf(index).map((wrapper) => entry(shape, wrapper, seed))));
}
