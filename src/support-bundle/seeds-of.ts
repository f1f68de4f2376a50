import type {Container, KubernetesObject} from '../cluster/objects.ts';
import type {Seed} from './redaction/seeds.ts';
import {seed, seedsWithin} from './seeds-within.ts';
import {seedsOfVariables, seedsOfWords} from './variables.ts';

export interface SecretContent extends KubernetesObject {
  type?: string;
  data?: Readonly<Record<string, string>>;
}

/** What is in Secrets, and what stands as a variable or in a command where one would do; Helm's own records are too large and hold it all again. */
export const seedsOf = (secrets: readonly SecretContent[], objects: readonly KubernetesObject[]): Seed[] => [
  ...secrets
    .filter(({type = ''}) => !type.startsWith('helm.sh/'))
    .flatMap(({data = {}}) => Object.entries(data))
    .flatMap(([key, content]) => {
      const value = Buffer.from(content, 'base64').toString('utf8');
      return [seed(key, value), ...seedsWithin(value)];
    }),
  ...containersIn(objects).flatMap(({env, command, args}) => [
    ...seedsOfVariables((env ?? []).flatMap(({name, value}) => (value === undefined ? [] : [{name, value}]))),
    ...seedsOfWords([...(command ?? []), ...(args ?? [])]),
  ]),
];

const CONTAINERS = new Set(['containers', 'initContainers', 'ephemeralContainers']);

/** Of pods, of workloads and of templates of every sort. */
function containersIn(value: unknown): Container[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) =>
    CONTAINERS.has(key) && Array.isArray(each) ? (each as Container[]) : containersIn(each),
  );
}
