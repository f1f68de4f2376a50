import {sameTree} from '../charts/tree.ts';
import type {InstallFacts, SecretObject} from '../cluster/install-facts.ts';
import {objectsIn} from '../cluster/manifest.ts';
import {isOwn, type KubernetesObject, ownLabels} from '../cluster/objects.ts';
import {podTemplates, secretNames} from '../cluster/pod-specs.ts';
import {ExitCode, ExpectedError} from '../errors.ts';
import {annotate, applyObject, restart} from '../kubernetes/kubectl.ts';
import type {Secret} from '../settings/secret.ts';
import type {Step} from './step.ts';
import type {WantedRelease, WantedSecret} from './wanted-release.ts';

/** Creates missing Secrets, and updates existing ones to the given content. @throws ExpectedError */
export const secretSteps = (wanted: WantedRelease, facts: InstallFacts): Step[] =>
  wanted.secrets.filter((secret) => isChanged(secret, facts)).map((secret) => secretStep(secret, wanted, facts));

function secretStep(secret: WantedSecret, wanted: WantedRelease, facts: InstallFacts): Step {
  const {name, type} = secret;
  const {release, place} = wanted.name;
  const found = facts.secrets.get(name);
  if (found !== undefined && !isOwn(found)) {
    throw new ExpectedError(`Secret ${name} already exists in ${place.namespace} with other content, and was not created by scalr-agent.`, {
      code: 'OBJECT_OF_ANOTHER',
      exit: ExitCode.usage,
      suggestions: ['Omit the token or certificate to use the existing content', 'Use another Secret name'],
    });
  }
  const stringData = Object.fromEntries(given(secret).map(([key, content]) => [key, content.reveal()]));
  const metadata = {name, labels: ownLabels(release), ...markOf(name, wanted, facts)};
  return {
    id: `secret/${name}`,
    title: `${found ? 'Update' : 'Create'} Secret ${name}`,
    call: applyObject(place, {apiVersion: 'v1', kind: 'Secret', type, metadata, stringData}),
  };
}

const isGiven = ({data}: WantedSecret): boolean => Object.values(data).every((content) => content !== undefined);
const isComplete = ({data}: WantedSecret, found: SecretObject | undefined): boolean =>
  found !== undefined && Object.keys(data).every((key) => found.data?.[key] !== undefined);

/** @throws ExpectedError when a Secret neither exists nor was given */
export function requireSecrets({secrets: wanted, name: {place}}: WantedRelease, {secrets}: InstallFacts): void {
  const missing = wanted.filter((secret) => !isComplete(secret, secrets.get(secret.name)) && !isGiven(secret));
  if (missing.length === 0) return;
  const lines = missing.map(({name, data}) => {
    const found = secrets.get(name);
    const keys = Object.keys(data).filter((key) => found?.data?.[key] === undefined);
    return found
      ? `Secret ${name} in ${place.namespace} has no key ${keys.join(' and ')} (existing keys: ${Object.keys(found.data ?? {}).join(', ') || 'none'}).`
      : `Secret ${name} not found in ${place.namespace}, and no content was given to create it.`;
  });
  throw new ExpectedError(lines.join('\n'), {
    code: 'MISSING_SETTING',
    exit: ExitCode.usage,
    suggestions: missing.map(({howToGive}) => howToGive),
  });
}

/** Content was given that the Secret in the cluster does not have. */
const isChanged = (secret: WantedSecret, {secrets}: InstallFacts): boolean =>
  given(secret).some(([key, content]) => secrets.get(secret.name)?.data?.[key] !== base64(content));

const given = ({data}: WantedSecret): [string, Secret][] =>
  Object.entries(data).filter((entry): entry is [string, Secret] => entry[1] !== undefined);

const base64 = (content: Secret): string => Buffer.from(content.reveal(), 'utf8').toString('base64');

/** Annotates a Secret until the workloads that use it are restarted, so that an interrupted install can continue. */
const MARK = 'scalr.io/restart-readers';

/** Pods read a Secret when they start: workloads with the old content are restarted. */
export function restartSteps(wanted: WantedRelease, facts: InstallFacts): Step[] {
  const {place} = wanted.name;
  const isMarked = (name: string): boolean => facts.secrets.get(name)?.metadata.annotations?.[MARK] !== undefined;
  const stale = wanted.secrets.filter((secret) => isMarked(secret.name) || isChanged(secret, facts)).map(({name}) => name);
  const readers = new Map(stale.flatMap((name) => staleReaders(name, wanted, facts)).map((each) => [nameOf(each), each]));
  const restarts = [...readers].map(
    ([reader, object]): Step => ({
      id: `restart/${object.metadata.name}`,
      title: `Restart ${reader} to load the new content of Secret ${stale.filter((name) => reads(object, name)).join(' and ')}`,
      call: restart(place, object.kind ?? '', object.metadata.name),
    }),
  );
  const done = stale
    .filter((name) => isMarked(name) || staleReaders(name, wanted, facts).length > 0)
    .map(
      (name): Step => ({
        id: `restarted/${name}`,
        title: `Remove the restart annotation from Secret ${name}`,
        call: annotate(place, `secret/${name}`, `${MARK}-`),
      }),
    );
  return [...restarts, ...done];
}

const markOf = (secret: string, wanted: WantedRelease, facts: InstallFacts): Pick<KubernetesObject['metadata'], 'annotations'> =>
  staleReaders(secret, wanted, facts).length === 0 ? {} : {annotations: {[MARK]: ''}};

/** Workloads that run with the old content of a Secret, and get no new pods from a start or from the upgrade. */
function staleReaders(secret: string, {manifest}: WantedRelease, {installed, release, stopped}: InstallFacts): KubernetesObject[] {
  return objectsIn(manifest).filter((object) => {
    const before = installed.find((each) => nameOf(each) === nameOf(object));
    if (!RESTARTED.has(object.kind ?? '') || stopped.has(nameOf(object))) return false;
    if (before === undefined || !reads(before, secret) || !reads(object, secret)) return false;
    // A failed revision may have replaced some of the pods.
    return release?.status !== 'deployed' || sameTree(podTemplates(before), podTemplates(object));
  });
}

const RESTARTED: ReadonlySet<string> = new Set(['Deployment', 'DaemonSet', 'StatefulSet']);

const nameOf = ({kind, metadata}: KubernetesObject): string => `${kind} ${metadata.name}`;

const reads = (object: KubernetesObject, secret: string): boolean =>
  podTemplates(object).some(({spec}) => secretNames(spec).includes(secret));
