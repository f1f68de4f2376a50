import type {KubernetesObject} from '../cluster/objects.ts';
import type {WantedSecret} from '../plan/wanted-secret.ts';
import type {Get} from '../settings/define.ts';
import {caSecret, caSecretKey} from '../settings/tls.ts';
import {secretsNamedIn} from './named-in.ts';
import type {Situation} from './situation.ts';

/** Everything that has to be in the namespace before pods start, or that install puts there. */
export function wantedSecrets(made: readonly WantedSecret[], get: Get, objects: readonly KubernetesObject[]): Situation['wantedSecrets'] {
  const wanted = new Map(made.map(({name, data}) => [name, new Set(Object.keys(data))]));
  const ca = get(caSecret);
  const named = [...secretsNamedIn(objects), ...(ca === undefined ? [] : [[ca, new Set([get(caSecretKey) as string])] as const])];
  for (const [name, keys] of named) wanted.set(name, new Set([...(wanted.get(name) ?? []), ...keys]));
  const given = new Map(made.map(({name, data}) => [name, Object.keys(data).filter((key) => data[key] !== undefined)]));
  return [...wanted].map(([name, keys]) => ({
    name,
    keys: [...keys],
    isGiven: keys.size > 0 && [...keys].every((key) => given.get(name)?.includes(key)),
  }));
}
