import {followSignal} from '../ports/signals.ts';
import type {Answer, KubernetesClient} from './client.ts';

/** Asks the same question once, whoever asks it, and waits for no answer beyond `until`. */
export function cachedClient(client: KubernetesClient, until: AbortSignal): KubernetesClient {
  const answers = new Map<string, Promise<Answer>>();
  const once = (question: unknown, over: AbortSignal, ask: (over: AbortSignal) => Promise<Answer>): Promise<Answer> => {
    const key = JSON.stringify(question);
    const known = answers.get(key);
    if (known) return known;
    const {signal, release} = followSignal(over, until);
    const answer = ask(signal).finally(release);
    answers.set(key, answer);
    return answer;
  };
  return {
    ...client,
    get: (path, options) => once(path, options.over, (over) => client.get(path, {...options, over})),
    post: (path, body, options) => once([path, body], options.over, (over) => client.post(path, body, {...options, over})),
  };
}
