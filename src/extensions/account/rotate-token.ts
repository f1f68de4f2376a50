import {scalrChart} from '../../charts/releases/chart-name.ts';
import type {Target} from '../../charts/releases/target.ts';
import {readSnapshot} from '../../checks/diagnose/read-snapshot.ts';
import type {ReleaseRecord} from '../../cluster/helm/release-record.ts';
import type {ClusterAccess} from '../../cluster/helm/releases.ts';
import {annotate} from '../../cluster/kubernetes/changes.ts';
import type {KubernetesObject, SecretObject} from '../../cluster/kubernetes/objects.ts';
import {isOwnFor} from '../../cluster/kubernetes/own-objects.ts';
import {getObject, REQUIRED_MS} from '../../cluster/kubernetes/resources.ts';
import {
  type AccountToken,
  accountAnnotations,
  accountPoolIn,
  accountTokenIn,
  PREVIOUS_TOKEN,
  ROTATED,
} from '../../cluster/release/account-token.ts';
import {type InstallFacts, readFacts} from '../../cluster/release/read-release.ts';
import {readsSecret} from '../../cluster/release/workload-users.ts';
import {ownCommand, type ReleaseName} from '../../ground/command-line.ts';
import {type ExpectedError, failed} from '../../ground/errors.ts';
import type {Secret} from '../../ground/secret.ts';
import {requireKnownVersion} from '../../operations/debug.ts';
import {restartSteps, secretSteps, withSecretUsers} from '../../operations/install-secrets.ts';
import {runWarnings} from '../../operations/restart-warnings.ts';
import {inOrder, type Plan, type Step} from '../../operations/step.ts';
import {tokenSecret, tokenSecretKey} from '../../settings/agent.ts';
import {readValues} from '../../values/reading/read-values.ts';
import type {TokenUsers} from './account-rotation.ts';
import {tokenAttributesOf} from './release-token.ts';

/** An installed release and the Secret that its agents read the token from. */
export interface TokenHolder {
  name: ReleaseName;
  facts: InstallFacts & {release: ReleaseRecord};
  secret: SecretObject;
  key: string;
}

/** Reads the release and its Secret. Read-only. @throws ExpectedError if the Secret is not one that this program writes */
export async function readTokenHolder(
  name: ReleaseName,
  release: ReleaseRecord,
  access: ClusterAccess,
  signal: AbortSignal,
): Promise<TokenHolder> {
  const target = scalrChart(release.chart) as Target;
  requireKnownVersion(name, target);
  const {settings} = readValues(release.values, target);
  const secretName = settings.get(tokenSecret.id);
  const key = settings.get(tokenSecretKey.id);
  if (typeof secretName !== 'string' || typeof key !== 'string')
    throw failed(
      'UNSUPPORTED_SETTING',
      `The token of release ${name.release} is in its Helm values, not in its own Secret.`,
      [`Move it to a Secret: ${ownCommand('upgrade', name)}`],
    );
  const facts = await readFacts(name, [secretName], access, signal);
  const found = facts.secrets.get(secretName);
  if (found !== undefined && !isOwnFor(found, name.release)) throw notOurs(name, secretName);
  // One that was deleted is created again.
  const secret = found ?? {metadata: {name: secretName}};
  return {name, facts: {...facts, release}, secret, key};
}

const notOurs = ({release, kubeTarget}: ReleaseName, secret: string): ExpectedError =>
  failed(
    'OBJECT_NOT_OWNED',
    `Secret ${secret} in ${kubeTarget.namespace} was not created by scalr-agent for release ${release}, so its content is not replaced.`,
    [
      'Replace the token where this Secret is managed, then restart the agent with kubectl rollout restart',
    ],
  );

/** What the Secret gets: the token, and the annotations that let an interrupted rotation continue. */
interface NewToken {
  text: Secret;
  /** Absent if the token was given by the user. */
  made?: AccountToken | undefined;
}

/** Steps in the cluster: the Secret, if there is a new token, and the restart of what reads it. @throws ExpectedError */
export async function planRotation(
  {name, facts, secret, key}: TokenHolder,
  next: NewToken | undefined,
  {kubernetes}: ClusterAccess,
  signal: AbortSignal,
): Promise<Plan> {
  const old = secret.metadata.annotations?.[PREVIOUS_TOKEN] ?? accountTokenIn(secret)?.tokenId;
  const account = next?.made ?? accountPoolIn(secret);
  const annotations = {
    ...(account === undefined ? {} : accountAnnotations(account)),
    ...(old === undefined ? {} : {[PREVIOUS_TOKEN]: old}),
    [ROTATED]: new Date().toISOString(),
  };
  const desired = {
    name,
    manifest: facts.installed,
    secrets: [
      {
        name: secret.metadata.name,
        type: 'Opaque' as const,
        annotations,
        data: {[key]: next?.text},
        howToGive: {text: ''},
        setting: tokenSecret,
      },
    ],
  };
  const known = await withSecretUsers(facts, desired, kubernetes, signal);
  const steps = inOrder({
    secrets: secretSteps(desired, known),
    restart: restartSteps(desired, known),
  });
  const manifest = facts.installed;
  return {
    steps,
    warnings: await runWarnings({name, steps, manifest, facts: known}, {kubernetes}, signal),
  };
}

/** The agents of a release: each has the name of its pod. @throws ExpectedError */
export async function agentsOfRelease(
  {name, secret}: TokenHolder,
  {kubernetes}: Pick<ClusterAccess, 'kubernetes'>,
  timeoutMs: number,
): Promise<TokenUsers> {
  const options = {signal: AbortSignal.timeout(timeoutMs), idleMs: REQUIRED_MS};
  const {object: system} = await getObject<KubernetesObject>(
    kubernetes,
    'namespaces',
    'kube-system',
    options,
  );
  const {release, kubeTarget} = name;
  return {
    release,
    isIdentified: system !== undefined,
    keepsNames: false,
    attributes: tokenAttributesOf({
      release,
      namespace: kubeTarget.namespace,
      clusterId: system?.metadata.uid,
    }),
    current: accountTokenIn(secret)?.tokenId,
    replaced: secret.metadata.annotations?.[PREVIOUS_TOKEN],
    async agents() {
      const {snapshot} = await readSnapshot(name, kubernetes, AbortSignal.timeout(timeoutMs));
      return snapshot.pods
        .filter(
          (pod) =>
            readsSecret(secret.metadata.name)(pod) && pod.metadata.deletionTimestamp === undefined,
        )
        .filter((pod) => pod.metadata.ownerReferences?.some(({kind}) => kind === 'Job') !== true)
        .map((pod) => pod.metadata.name);
    },
  };
}

/** Forgets the replaced token after it was revoked. */
export const removePreviousToken = ({name: {kubeTarget}, secret}: TokenHolder): Step => ({
  id: `rotated/${secret.metadata.name}`,
  title: `Remove the ID of the revoked token from Secret ${secret.metadata.name}`,
  call: annotate(
    kubeTarget,
    {kind: 'Secret', name: secret.metadata.name},
    {[PREVIOUS_TOKEN]: null},
  ),
});
