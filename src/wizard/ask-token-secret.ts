import {few} from '../ground/text.ts';
import {token, tokenSecret, tokenSecretKey} from '../settings/agent.ts';
import type {Setting} from '../settings/define.ts';
import type {Answer} from '../settings/settings.ts';
import {askSetting} from './ask-setting.ts';
import type {Asking} from './asking.ts';
import type {HeldToken} from './gathered-facts.ts';
import type {Reply} from './reply.ts';

/** Asks for the Secret with the token. One that exists must have a token, which can be in another key than the usual one. */
export async function askTokenSecret(asking: Asking): Promise<Reply> {
  let notes: readonly string[] = [];
  for (;;) {
    const frame = {...asking.frame, heading: [...asking.frame.heading, ...notes]};
    const reply = await askSetting(tokenSecret.id, {...asking, frame});
    const held = await heldBy(reply, asking);
    if (held === undefined) return reply;
    if (held.key !== undefined) return withKey(reply, held.key, asking);
    notes = [`It has no token: ${held.keys.length === 0 ? 'it is empty' : few(held.keys)}.`];
  }
}

const answerIn = ({answers = []}: Reply, setting: Setting<never> | Setting): Answer | undefined =>
  answers.find(([each]) => each.id === setting.id)?.[1];

/** Undefined for a Secret that does not exist, and for one that a pasted token is written to. */
async function heldBy(reply: Reply, {state, known, deps}: Asking): Promise<HeldToken | undefined> {
  const answer = answerIn(reply, tokenSecret as Setting);
  const exists = known.objects?.secrets.some((name) => name === answer?.value) ?? false;
  const isWritten = state.answers.isGiven(token) && !reply.alsoAsked?.includes(token.id);
  if (answer === undefined || !exists || isWritten) return undefined;
  const chosen = {...state, answers: state.answers.with(tokenSecret as Setting, answer)};
  return deps.prompter.wait('Reading the Secret', deps.facts.read('held', chosen));
}

const withKey = (reply: Reply, key: string, {state}: Asking): Reply =>
  key === state.answers.get(tokenSecretKey)
    ? reply
    : {
        ...reply,
        answers: [
          ...(reply.answers ?? []),
          [tokenSecretKey as Setting, {value: key, source: 'prompt'}],
        ],
      };
