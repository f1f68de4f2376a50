import type {KubernetesObject, Pod} from '../cluster/objects.ts';
import {Secret} from '../settings/secret.ts';
import {keyHolds} from './redaction/key-names.ts';
import type {Seed} from './redaction/seeds.ts';

export interface SecretContent extends KubernetesObject {
  type?: string;
  data?: Readonly<Record<string, string>>;
}

/** What is in Secrets, and what stands in pods as a variable that looks like one; Helm's own records are too large and hold it all again. */
export const seedsOf = (secrets: readonly SecretContent[], pods: readonly Pod[]): Seed[] => [
  ...secrets
    .filter(({type = ''}) => !type.startsWith('helm.sh/'))
    .flatMap(({data = {}}) => Object.entries(data).map(([key, content]) => seed(key, Buffer.from(content, 'base64').toString('utf8')))),
  ...pods.flatMap(({spec}) =>
    [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]
      .flatMap(({env = []}) => env)
      .filter(({name, value}) => value !== undefined && keyHolds(name) === 'secret')
      .map(({name, value = ''}) => seed(name, value)),
  ),
];

const seed = (key: string, value: string): Seed => ({kind: key.toLowerCase().replaceAll('_', '-'), value: new Secret(value)});
