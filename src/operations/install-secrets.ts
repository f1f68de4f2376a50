import {annotate, applyObjects, FIELD_MANAGER, restart} from '../cluster/kubernetes/changes.ts';
import {deleteByHand} from '../cluster/kubernetes/deletions.ts';
import {kindAndName, refOf} from '../cluster/kubernetes/object-refs.ts';
import type {KubernetesObject, SecretObject} from '../cluster/kubernetes/objects.ts';
import {isOwn, isOwnFor, ownLabels, releaseOf} from '../cluster/kubernetes/own-objects.ts';
import {podTemplates, secretNames} from '../cluster/kubernetes/pod-specs.ts';
import type {Reader} from '../cluster/kubernetes/resources.ts';
import {ROTATED} from '../cluster/release/account-token.ts';
import {
  type DesiredRelease,
  type DesiredSecret,
  PLACEHOLDER,
  type RenderedRelease,
  type SecretMetadata,
} from '../cluster/release/desired-release.ts';
import type {InstallFacts} from '../cluster/release/read-release.ts';
import {readsSecret, readUsers} from '../cluster/release/workload-users.ts';
import {callText} from '../ground/call-arguments.ts';
import {ExpectedError, failed} from '../ground/errors.ts';
import {changing, type SettingFinding, warningOf} from '../ground/finding.ts';
import type {Secret} from '../ground/secret.ts';
import {sameTree, type Tree} from '../ground/tree.ts';
import {isReservedKey, secretAnnotation, secretLabel} from '../settings/agent.ts';
import {spell} from '../settings/define.ts';
import {withValue} from '../settings/spelling.ts';
import type {Step} from './step.ts';

type DesiredObjects = Pick<RenderedRelease, 'name' | 'manifest' | 'secrets'>;

/** Creates missing Secrets, and updates existing ones to the given content. @throws ExpectedError for a Secret of others */
export function secretSteps(desired: DesiredObjects, facts: InstallFacts): Step[] {
  for (const secret of desired.secrets) requireOwn(secret, desired, facts);
  return desired.secrets
    .filter((secret) => isChanged(secret, facts) || isRelabeled(secret, desired, facts))
    .map((secret) => secretStep(secret, desired, facts));
}

/** Reads who uses the Secrets that the plan would change. */
export async function withSecretUsers(
  facts: InstallFacts,
  {name, secrets}: Pick<DesiredRelease, 'name' | 'secrets'>,
  kubernetes: Reader,
  signal: AbortSignal,
): Promise<InstallFacts> {
  const changed = secrets.filter(
    (secret) => facts.secrets.get(secret.name) !== undefined && isChanged(secret, facts),
  );
  if (changed.length === 0) return facts;
  const {release, kubeTarget} = name;
  const {users, unlisted} = await readUsers(
    {release, namespace: kubeTarget.namespace, manifest: facts.installed},
    kubeTarget,
    kubernetes,
    signal,
  );
  return {...facts, secretUsers: usersBySecret(changed, users), unlistedUsers: unlisted};
}

/** For Secrets that the plan changes although some of their users are unknown. */
export function userWarnings({secrets}: RenderedRelease, facts: InstallFacts): SettingFinding[] {
  const changed = secrets.filter(
    (secret) => facts.secrets.get(secret.name) !== undefined && isChanged(secret, facts),
  );
  const {unlistedUsers = []} = facts;
  if (unlistedUsers.length === 0) return [];
  return changed.map(({name}) =>
    warningOf(
      'SECRET_USERS',
      `Secret ${name} changes. Your Kubernetes user may not list ${unlistedUsers.join(', ')}, so it is unknown whether one of them uses it.`,
    ),
  );
}

/** A given token that replaces a newer one is often the old token, from CI or an answers file. */
export function rotatedWarnings({secrets}: RenderedRelease, facts: InstallFacts): SettingFinding[] {
  return secrets.flatMap((secret) => {
    const rotated = facts.secrets.get(secret.name)?.metadata.annotations?.[ROTATED];
    const isGivenByUser =
      secret.annotations === undefined && !Object.values(secret.data).includes(PLACEHOLDER);
    if (rotated === undefined || !isGivenByUser || !isChanged(secret, facts)) return [];
    const message = `Secret ${secret.name} contains a token that rotate-token wrote on ${rotated}. This install replaces it. If your token is the old one, agents lose access: omit it, or provide the new one.`;
    return [warningOf('ROTATED_TOKEN', message)];
  });
}

/** Helm deletes only the Secrets of the chart, so a removed certificate keeps its private key in the cluster. */
export function unusedSecretWarnings(
  {name: {release, kubeTarget}, manifest}: RenderedRelease,
  {installed}: Pick<InstallFacts, 'installed'>,
): SettingFinding[] {
  const read = (objects: readonly KubernetesObject[]) =>
    new Set(objects.flatMap((each) => secretNames(each as unknown as Tree)));
  const next = read(manifest);
  const ofChart = (secret: string): boolean =>
    installed.some(({kind, metadata}) => kind === 'Secret' && metadata.name === secret);
  return [...read(installed)]
    .filter((secret) => !next.has(secret) && !ofChart(secret))
    .map((secret) => {
      const remove = callText(deleteByHand(kubeTarget, {kind: 'Secret', name: secret}));
      return warningOf(
        'UNUSED_SECRET',
        `Release ${release} no longer uses Secret ${secret}, which remains with its content. When nothing else uses it: ${remove}`,
      );
    });
}

export const usersBySecret = (
  secrets: readonly DesiredSecret[],
  users: readonly KubernetesObject[],
): Map<string, string[]> =>
  new Map(secrets.map(({name}) => [name, users.filter(readsSecret(name)).map(kindAndName)]));

/** Only Secrets that this program created for the release, and that nothing else reads, are written. */
function requireOwn(secret: DesiredSecret, desired: DesiredObjects, facts: InstallFacts): void {
  const reason = whyNotOwn(secret, desired, facts);
  if (reason === undefined) return;
  const isComplete = hasKeys(secret, facts.secrets.get(secret.name));
  throw failed(
    'OBJECT_NOT_OWNED',
    `Secret ${secret.name} in ${desired.name.kubeTarget.namespace} ${reason}.`,
    [
      changing`Use another Secret: ${withValue(secret.setting, `${secret.name}-2`)}`,
      ...(isComplete && isGiven(secret)
        ? [
            `To use its content, omit the ${secret.type === 'Opaque' ? 'token' : 'certificate and key'}`,
          ]
        : []),
      ...(isRelabeled(secret, desired, facts)
        ? [
            `To keep its labels and annotations, omit ${spell(secretLabel)} and ${spell(secretAnnotation)}`,
          ]
        : []),
    ],
  );
}

function whyNotOwn(
  secret: DesiredSecret,
  desired: DesiredObjects,
  facts: InstallFacts,
): string | undefined {
  const {name} = secret;
  const {manifest} = desired;
  const {release} = desired.name;
  const isRendered = (objects: readonly KubernetesObject[]): boolean =>
    objects.some(({kind, metadata}) => kind === 'Secret' && metadata.name === name);
  if (isRendered(facts.installed) && !isRendered(manifest))
    return `is part of the installed release, and Helm deletes it with this change`;
  const found = facts.secrets.get(name);
  const hasNewContent = isChanged(secret, facts);
  if (found === undefined || !(hasNewContent || isRelabeled(secret, desired, facts)))
    return undefined;
  const difference = hasNewContent ? 'other content' : 'other labels or annotations';
  if (!isOwn(found)) return `already exists with ${difference}, and was not created by scalr-agent`;
  if (!isOwnFor(found, release))
    return `already exists with ${difference}, and belongs to release ${releaseOf(found)}`;
  const users = hasNewContent ? (facts.secretUsers?.get(name) ?? []) : [];
  return users.length === 0
    ? undefined
    : `is also used by ${users.join(', ')}, so its content is not replaced`;
}

function secretStep(secret: DesiredSecret, desired: DesiredObjects, facts: InstallFacts): Step {
  const {name, type} = secret;
  const {release, kubeTarget} = desired.name;
  const found = facts.secrets.get(name);
  const hasNewContent = isChanged(secret, facts);
  const mark = staleReaders(name, desired, facts).length === 0 ? {} : {[MARK]: ''};
  const ownFound = Object.entries(found?.metadata.annotations ?? {}).filter(([key]) =>
    isReservedKey(key),
  );
  const own = hasNewContent ? {...secret.annotations, ...mark} : Object.fromEntries(ownFound);
  const wantedMetadata = secret.metadata ?? appliedMetadata(found);
  const annotations = {...own, ...wantedMetadata.annotations};
  const labels = {...wantedMetadata.labels, ...ownLabels(release)};
  // Without its content, a server-side apply would remove it; content that was replaced since it was read must not come back.
  const {resourceVersion} = found?.metadata ?? {};
  const version = hasNewContent || resourceVersion === undefined ? {} : {resourceVersion};
  const metadata = {
    name,
    labels,
    ...version,
    ...(Object.keys(annotations).length === 0 ? {} : {annotations}),
  };
  const content = hasNewContent
    ? {stringData: Object.fromEntries(given(secret).map(([key, text]) => [key, text.reveal()]))}
    : {data: found?.data ?? {}};
  const secretObject = {apiVersion: 'v1', kind: 'Secret', type, metadata, ...content};
  const change = hasNewContent ? 'Update' : 'Change labels and annotations of';
  return {
    id: `secret/${name}`,
    title: `${found ? change : 'Create'} Secret ${name}`,
    call: applyObjects(kubeTarget, [secretObject]),
    ...(hasNewContent ? {stores: {name, data: Object.fromEntries(given(secret))}} : {}),
  };
}

/** Labels and annotations that this program has set for the user; others may have added more. */
function appliedMetadata(secret: SecretObject | undefined): SecretMetadata {
  const applied = secret?.metadata.managedFields?.find(
    ({manager, operation}) => manager === FIELD_MANAGER && operation === 'Apply',
  );
  const fields = applied?.fieldsV1?.['f:metadata'] ?? {};
  const part = (name: keyof SecretMetadata): Record<string, string> =>
    Object.fromEntries(
      Object.entries(secret?.metadata[name] ?? {}).filter(
        ([key]) => `f:${key}` in (fields[`f:${name}`] ?? {}) && !isReservedKey(key),
      ),
    );
  return {labels: part('labels'), annotations: part('annotations')};
}

/** The Secret lacks labels or annotations, or has some that are no longer desired. */
function isRelabeled(
  {name, metadata}: DesiredSecret,
  desired: DesiredObjects,
  {secrets}: InstallFacts,
): boolean {
  const found = secrets.get(name);
  if (found === undefined || metadata === undefined) return false;
  const applied = appliedMetadata(isOwnFor(found, desired.name.release) ? found : undefined);
  return (['labels', 'annotations'] as const).some(
    (part) =>
      Object.entries(metadata[part]).some(
        ([key, value]) => found.metadata[part]?.[key] !== value,
      ) || Object.keys(applied[part]).some((key) => metadata[part][key] === undefined),
  );
}

const isGiven = ({data}: DesiredSecret): boolean =>
  Object.values(data).every((content) => content !== undefined);
const hasKeys = ({data}: DesiredSecret, found: SecretObject | undefined): boolean =>
  found !== undefined && Object.keys(data).every((key) => found.data?.[key] !== undefined);

/** @throws ExpectedError when a Secret neither exists nor was given */
export function requireSecrets(
  {secrets: desired, name: {kubeTarget}}: RenderedRelease,
  {secrets}: InstallFacts,
): void {
  const missing = desired.filter(
    (secret) => !hasKeys(secret, secrets.get(secret.name)) && !isGiven(secret),
  );
  if (missing.length === 0) return;
  const lines = missing.map(({name, data}) => {
    const found = secrets.get(name);
    const keys = Object.keys(data).filter((key) => found?.data?.[key] === undefined);
    return found
      ? `Secret ${name} in ${kubeTarget.namespace} has no key ${keys.join(' and ')} (existing keys: ${Object.keys(found.data ?? {}).join(', ') || 'none'}).`
      : `Secret ${name} not found in ${kubeTarget.namespace}, and no content was given to create it.`;
  });
  throw new ExpectedError(lines.join('\n'), {
    code: 'MISSING_SETTING',
    suggestions: missing.map(({howToGive}) => howToGive),
    options: missing.map(({name, setting}) => ({
      add: `${spell(setting)} NAME`,
      when: `Use an existing Secret instead of ${name}`,
    })),
  });
}

/** Content was given that the Secret in the cluster does not have. */
const isChanged = (secret: DesiredSecret, {secrets}: InstallFacts): boolean =>
  given(secret).some(([key, content]) => !hasContent(secrets.get(secret.name), key, content));

const given = ({data}: DesiredSecret): [string, Secret][] =>
  Object.entries(data).filter((entry): entry is [string, Secret] => entry[1] !== undefined);

/** The Secret in the cluster has this content. */
export const hasContent = (
  found: SecretObject | undefined,
  key: string,
  content: Secret,
): boolean => found?.data?.[key] === Buffer.from(content.reveal(), 'utf8').toString('base64');

/** Annotates a Secret until the workloads that use it are restarted, so that an interrupted install can continue. */
const MARK = 'scalr.io/restart-readers';

/** Pods read a Secret when they start: workloads with the old content are restarted. */
export function restartSteps(desired: DesiredObjects, facts: InstallFacts): Step[] {
  const {kubeTarget} = desired.name;
  const isMarked = (name: string): boolean =>
    facts.secrets.get(name)?.metadata.annotations?.[MARK] !== undefined;
  const stale = desired.secrets
    .filter((secret) => isMarked(secret.name) || isChanged(secret, facts))
    .map(({name}) => name);
  const readers = new Map(
    stale
      .flatMap((name) => staleReaders(name, desired, facts))
      .map((each) => [kindAndName(each), each]),
  );
  const restarts = [...readers].map(
    ([reader, object]): Step => ({
      id: `restart/${object.metadata.name}`,
      title: `Restart ${reader} to load the new content of Secret ${stale.filter((name) => reads(object, name)).join(' and ')}`,
      call: restart(kubeTarget, refOf(object)),
      workloads: [refOf(object)],
    }),
  );
  const done = stale
    .filter((name) => isMarked(name) || staleReaders(name, desired, facts).length > 0)
    .map(
      (name): Step => ({
        id: `restarted/${name}`,
        title: `Remove the restart annotation from Secret ${name}`,
        call: annotate(kubeTarget, {kind: 'Secret', name}, {[MARK]: null}),
      }),
    );
  return [...restarts, ...done];
}

/** Workloads that run with the old content of a Secret, and get no new pods from a start or from the upgrade. */
function staleReaders(
  secret: string,
  {manifest}: DesiredObjects,
  {installed, release, stopped}: InstallFacts,
): KubernetesObject[] {
  return manifest.filter((object) => {
    const before = installed.find((each) => kindAndName(each) === kindAndName(object));
    if (!RESTARTED.has(object.kind ?? '') || stopped.has(kindAndName(object))) return false;
    if (before === undefined || !reads(before, secret) || !reads(object, secret)) return false;
    // A failed revision may have replaced some of the pods.
    return release?.status !== 'deployed' || sameTree(podTemplates(before), podTemplates(object));
  });
}

const RESTARTED: ReadonlySet<string> = new Set(['Deployment', 'DaemonSet', 'StatefulSet']);

const reads = (object: KubernetesObject, secret: string): boolean =>
  podTemplates(object).some(({spec}) => secretNames(spec).includes(secret));
