import {getAt, type Tree} from '../../charts/tree.ts';
import {isKnown, knownValue} from '../../cluster/facts/fact.ts';
import type {AccessMode, StorageClass} from '../../cluster/facts/storage.ts';
import type {Claim, KubernetesObject} from '../../cluster/objects.ts';
import {kubectlCommand} from '../../command-line.ts';
import {cache} from '../../settings/storage.ts';
import {type Check, type CheckResult, fail, few, ifKnown, pass, skip, warn, worstOf} from '../check.ts';
import type {PreflightContext} from '../preflight-context.ts';
import {referencedClaims} from '../referenced-objects.ts';
import {nodesForRuns} from './available-nodes.ts';

/** Runs for the rendered chart; does not apply where it could not be rendered and the settings ask for no volume. */
function withManifest(
  {manifest, get}: PreflightContext,
  conclude: (objects: readonly KubernetesObject[]) => CheckResult | undefined,
): CheckResult | undefined {
  const isWanted = ['pvc', 'existing-pvc', 'efs'].includes(get(cache) ?? '');
  if (!isKnown(manifest) && !isWanted) return undefined;
  return ifKnown(manifest, 'What the chart makes of the values is', conclude);
}

/** PersistentVolumeClaims that the chart creates. */
const newClaims = (objects: readonly KubernetesObject[]): Claim[] =>
  objects.filter(({kind}) => kind === 'PersistentVolumeClaim') as Claim[];

/** Names of PersistentVolumeClaims that pods mount and the chart does not create. */
function existingClaims(objects: readonly KubernetesObject[]): string[] {
  const created = newClaims(objects).map(({metadata}) => metadata.name);
  return referencedClaims(objects).filter((name) => !created.includes(name));
}

/** The worst result for the claims of these names. */
const eachClaim = (
  context: PreflightContext,
  names: readonly string[],
  conclude: (claim: Claim | undefined, name: string) => CheckResult | undefined,
): CheckResult | undefined =>
  worstOf(
    names.map((name) => {
      const fact = context.claims.get(name);
      if (fact === undefined) return skip(`The claim ${name} was not looked up`);
      return ifKnown(fact, `The claim ${name} is`, (claim) => conclude(claim, name));
    }),
  );

/** The StorageClass of a claim; undefined where there is none of that name, or no default. */
const classOf = (claim: Claim, classes: readonly StorageClass[]): StorageClass | undefined => {
  const wanted = claim.spec?.storageClassName;
  return classes.find(({name, isDefault}) => (wanted === undefined ? isDefault : name === wanted));
};

/** The chart creates the StorageClass, or a volume of that class. */
const isClassOfChart = ({spec}: Claim, objects: readonly KubernetesObject[]): boolean =>
  spec?.storageClassName !== undefined &&
  objects.some(
    (each) =>
      (each.kind === 'StorageClass' && each.metadata.name === spec.storageClassName) ||
      (each.kind === 'PersistentVolume' && (each as Claim).spec?.storageClassName === spec.storageClassName),
  );

const CLASSES = 'Storage classes are';
const asks = (name: string): string => `The claim ${name} asks for`;

const storageClass: Check = {
  id: 'storage-class',
  group: 'Storage',
  title: 'there is a storage class for every claim that the chart makes',
  ref: 'https://kubernetes.io/docs/concepts/storage/storage-classes/',
  run: (context) =>
    withManifest(context, (objects) => {
      const claims = newClaims(objects).filter((claim) => !isClassOfChart(claim, objects));
      if (claims.length === 0) return undefined;
      return ifKnown(context.facts.storageClasses, CLASSES, (classes) => worstOf(claims.map((claim) => hasClass(claim, classes))));
    }),
};

function hasClass(claim: Claim, classes: readonly StorageClass[]): CheckResult {
  const {name} = claim.metadata;
  const wanted = claim.spec?.storageClassName;
  const found = classOf(claim, classes);
  const names = few(classes.map((each) => each.name)) || 'none';
  if (wanted === '') return skip(`${asks(name)} no class, so a volume has to be prepared for it; volumes are not looked at`);
  if (found) return pass(`${found.name} (${found.provisioner}, ${found.bindingMode}) for the claim ${name}`);
  return fail(
    wanted === undefined
      ? `${asks(name)} the default storage class, and there is none; there is ${names}`
      : `${asks(name)} the storage class ${wanted}, which is not there; there is ${names}`,
    'Name one of them with --cache-storage-class, or use --cache ephemeral',
  );
}

const accessMode: Check = {
  id: 'access-mode',
  group: 'Storage',
  title: 'the storage class can make volumes of that access mode',
  ref: 'https://kubernetes.io/docs/concepts/storage/persistent-volumes/#access-modes',
  run: (context) =>
    withManifest(context, (objects) => {
      const claims = newClaims(objects).filter(({spec}) => spec?.storageClassName !== '');
      if (claims.length === 0) return undefined;
      return ifKnown(context.facts.storageClasses, CLASSES, (classes) => worstOf(claims.map((claim) => hasAccessMode(claim, classes))));
    }),
};

/** Undefined where there is no class, which the check storage-class reports, or where the chart brings it. */
function hasAccessMode(claim: Claim, classes: readonly StorageClass[]): CheckResult | undefined {
  const found = classOf(claim, classes);
  if (found === undefined) return undefined;
  const {name, accessModes, provisioner} = found;
  const {name: claimName} = claim.metadata;
  const wanted = (claim.spec?.accessModes ?? []) as AccessMode[];
  if (!isKnown(accessModes)) return skip(`${asks(claimName)} ${wanted.join(', ')} of the class ${name}: ${accessModes.because}`);
  const missing = wanted.filter((mode) => !accessModes.value.includes(mode));
  if (missing.length === 0) return pass(`${name} (${provisioner}) can make ${wanted.join(', ')}`);
  const able = classes.filter((each) => missing.every((mode) => knownValue(each.accessModes)?.includes(mode))).map((each) => each.name);
  return fail(
    `${asks(claimName)} ${missing.join(', ')}, and volumes of the class ${name} (${provisioner}) are ${accessModes.value.join(', ')}`,
    able.length > 0
      ? `Use --cache-storage-class ${able[0]}${able.length > 1 ? ` (or ${few(able.slice(1))})` : ''}`
      : 'No class that is known here can: install a driver for shared volumes, or use --cache ephemeral',
  );
}

const claimNameFree: Check = {
  id: 'claim-name',
  group: 'Storage',
  title: 'claims that the chart makes are new, or belong to this release',
  ref: 'https://helm.sh/docs/helm/helm_install/',
  run: (context) =>
    withManifest(context, (objects) => {
      const {release, place} = context.name;
      const names = newClaims(objects).map(({metadata}) => metadata.name);
      return eachClaim(context, names, (claim, name) => {
        if (claim === undefined) return pass(`${name} is new`);
        const owner = claim.metadata.annotations?.['meta.helm.sh/release-name'];
        const ownerNamespace = claim.metadata.annotations?.['meta.helm.sh/release-namespace'];
        if (owner === release && ownerNamespace === place.namespace) return pass(`${name} belongs to release ${release}`);
        return fail(
          `There is a claim ${name} already${owner === undefined ? '' : ` of release ${ownerNamespace}/${owner}`}, and Helm refuses to take it over`,
          `Use it as it is: --cache existing-pvc --cache-claim ${name}; or choose another name with --release`,
        );
      });
    }),
};

const claimBound: Check = {
  id: 'claim',
  group: 'Storage',
  title: 'every claim that pods mount is there and has a volume, or gets one',
  ref: 'https://kubernetes.io/docs/concepts/storage/persistent-volumes/#binding',
  run: (context) =>
    withManifest(context, (objects) => eachClaim(context, existingClaims(objects), (claim, name) => isBound(claim, name, context))),
};

function isBound(claim: Claim | undefined, name: string, {name: {place}, facts}: PreflightContext): CheckResult {
  const describe = kubectlCommand(place, 'describe', 'pvc', name, '--namespace', place.namespace);
  if (claim === undefined)
    return fail(
      `There is no claim ${name} in ${place.namespace}, and pods that mount it never start`,
      'Make it first, or have the chart make one: --cache pvc',
    );
  if (claim.metadata.deletionTimestamp !== undefined)
    return fail(`The claim ${name} is being deleted`, `Wait until it is gone and make it anew: ${describe}`);
  const phase = claim.status?.phase ?? 'Pending';
  if (phase === 'Bound') return pass(`${name} is bound`);
  if (phase === 'Lost') return fail(`The claim ${name} lost its volume`, describe);
  return ifKnown(facts.storageClasses, `The claim ${name} has no volume yet, and whether it gets one is`, (classes) => {
    const found = classOf(claim, classes);
    if (found?.bindingMode === 'WaitForFirstConsumer') return pass(`${name} gets its volume with the first pod (class ${found.name})`);
    return warn(`The claim ${name} is ${phase}: nothing has made a volume for it`, `See why: ${describe}`);
  });
}

const claimShared: Check = {
  id: 'claim-access-mode',
  group: 'Storage',
  title: 'claims that several pods mount can be shared between nodes',
  ref: 'https://kubernetes.io/docs/concepts/storage/persistent-volumes/#access-modes',
  run: (context) =>
    withManifest(context, (objects) => {
      const who = sharingPods(context);
      if (who === undefined) return undefined;
      return eachClaim(context, existingClaims(objects), (claim, name) => {
        const modes = claim?.spec?.accessModes;
        if (modes === undefined) return undefined;
        if (modes.includes('ReadWriteMany')) return pass(`${name} is ReadWriteMany`);
        const message = `The claim ${name} is ${modes.join(', ')}, and ${who} mount it`;
        if (modes.includes('ReadWriteOnce') && knownValue(nodesForRuns(context))?.length === 1)
          return warn(
            `${message}: that works on the one node there is, and on no second one`,
            'Name a claim that is ReadWriteMany with --cache-claim before there are more nodes',
          );
        return fail(
          `${message}: on a second node they do not start`,
          'Name a claim that is ReadWriteMany with --cache-claim, or use --cache ephemeral',
        );
      });
    }),
};

/** Several pods, maybe on several nodes, that mount the same claim; undefined where a single pod does. */
function sharingPods({target, values}: PreflightContext): string | undefined {
  if (target.chart === 'agent-job') return 'the controller and the pods of all runs';
  const replicas = Number(values['replicaCount'] ?? 1);
  return target.chart === 'agent-local' && replicas > 1 ? `${replicas} agents` : undefined;
}

const EFS = 'efs.csi.aws.com';

const isOfEfs = (object: KubernetesObject): boolean =>
  getAt(object as unknown as Tree, ['spec', 'csi', 'driver']) === EFS || (object as {provisioner?: string}).provisioner === EFS;

const efsDriver: Check = {
  id: 'efs-driver',
  group: 'Storage',
  title: 'the driver for EFS runs on the nodes',
  ref: 'https://docs.aws.amazon.com/eks/latest/userguide/efs-csi.html',
  run: (context) =>
    withManifest(context, (objects) => {
      if (!objects.some(isOfEfs)) return undefined;
      return ifKnown(context.readings.daemonSets, 'DaemonSets are', (sets) => {
        const found = sets.find(({metadata}) => metadata.name.includes('efs-csi'));
        return found
          ? pass(`DaemonSet ${found.metadata.name} in ${found.metadata.namespace}`)
          : fail(
              'No DaemonSet of the EFS CSI driver runs here, so pods wait for their volume for good',
              'Install the add-on: aws eks create-addon --addon-name aws-efs-csi-driver --cluster-name CLUSTER',
            );
      });
    }),
};

/** Whether every volume that pods mount exists or can be provisioned. */
export const storageChecks: readonly Check[] = [storageClass, accessMode, claimNameFree, claimBound, claimShared, efsDriver];
