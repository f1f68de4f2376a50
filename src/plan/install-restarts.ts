import {sameTree} from '../charts/tree.ts';
import type {InstallFacts} from '../cluster/install-facts.ts';
import {objectsIn} from '../cluster/manifest.ts';
import type {KubernetesObject} from '../cluster/objects.ts';
import {podTemplates, secretNames} from '../cluster/pod-specs.ts';
import {annotate, restart} from '../kubernetes/kubectl.ts';
import type {WantedRelease} from './install.ts';
import type {Step} from './step.ts';
import {isChanged} from './wanted-secret.ts';

/** On a Secret from its new content until the restarts: what breaks off in between is gone on with. */
const MARK = 'scalr.io/restart-readers';

/** Pods read a Secret once, when they start: those that have an old content are made anew. */
export function restartSteps(wanted: WantedRelease, facts: InstallFacts): Step[] {
  const {place} = wanted.name;
  const isMarked = (name: string): boolean => facts.secrets.get(name)?.metadata.annotations?.[MARK] !== undefined;
  const stale = wanted.secrets.filter((secret) => isMarked(secret.name) || isChanged(secret, facts)).map(({name}) => name);
  const readers = new Map(stale.flatMap((name) => staleReaders(name, wanted, facts)).map((each) => [nameOf(each), each]));
  const restarts = [...readers].map(
    ([reader, object]): Step => ({
      id: `restart/${object.metadata.name}`,
      title: `Restart ${reader}, whose pods have the old content of Secret ${stale.filter((name) => reads(object, name)).join(' and ')}`,
      call: restart(place, object.kind ?? '', object.metadata.name),
    }),
  );
  const done = stale
    .filter((name) => isMarked(name) || staleReaders(name, wanted, facts).length > 0)
    .map(
      (name): Step => ({
        id: `restarted/${name}`,
        title: `Note on Secret ${name} that its readers are restarted`,
        call: annotate(place, `secret/${name}`, `${MARK}-`),
      }),
    );
  return [...restarts, ...done];
}

/** What the metadata of a Secret with new content says beside its name. */
export const markOf = (secret: string, wanted: WantedRelease, facts: InstallFacts): Pick<KubernetesObject['metadata'], 'annotations'> =>
  staleReaders(secret, wanted, facts).length === 0 ? {} : {annotations: {[MARK]: ''}};

/** Workloads that run with what the Secret held, and get no new pods from a start or from the upgrade. */
function staleReaders(secret: string, {manifest}: WantedRelease, {installed, release, stopped}: InstallFacts): KubernetesObject[] {
  return objectsIn(manifest).filter((object) => {
    const before = installed.find((each) => nameOf(each) === nameOf(object));
    if (!RESTARTED.has(object.kind ?? '') || stopped.has(nameOf(object))) return false;
    if (before === undefined || !reads(before, secret) || !reads(object, secret)) return false;
    // What a revision that failed has reached of the pods nobody knows.
    return release?.status !== 'deployed' || sameTree(podTemplates(before), podTemplates(object));
  });
}

const RESTARTED: ReadonlySet<string> = new Set(['Deployment', 'DaemonSet', 'StatefulSet']);

const nameOf = ({kind, metadata}: KubernetesObject): string => `${kind} ${metadata.name}`;

const reads = (object: KubernetesObject, secret: string): boolean =>
  podTemplates(object).some(({spec}) => secretNames(spec).includes(secret));
