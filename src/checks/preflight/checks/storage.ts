import type {Claim, KubernetesObject} from '../../../cluster/kubernetes/objects.ts';
import type {StorageClass} from '../../../cluster/platform/cluster-facts.ts';
import type {AccessMode} from '../../../cluster/platform/provisioners.ts';
import {kubectlCommand} from '../../../ground/command-line.ts';
import {type Fact, isKnown, known, knownValue, mapped} from '../../../ground/fact.ts';
import {changing} from '../../../ground/finding.ts';
import {few} from '../../../ground/text.ts';
import {getAt, type Tree} from '../../../ground/tree.ts';
import {cache, cacheClaim, cacheStorageClass} from '../../../settings/cache.ts';
import {release} from '../../../settings/release.ts';
import {withValue} from '../../../settings/spelling.ts';
import {nodesForRuns} from '../facts/chart-pods.ts';
import type {PreflightContext} from '../facts/context.ts';
import {referencedClaims} from '../facts/referenced-objects.ts';
import {type Check, check} from './check.ts';
import {
  type CheckResult,
  cannot,
  fail,
  ifKnown,
  notChecked,
  pass,
  unreadable,
  warn,
  worstOf,
} from './check-result.ts';

/** Runs for the rendered chart; does not apply if it could not be rendered and the settings require no volume. */
function withManifest(
  {manifest, get}: PreflightContext,
  conclude: (objects: readonly KubernetesObject[]) => CheckResult | undefined,
): CheckResult | undefined {
  const isDesired = ['pvc', 'existing-pvc', 'efs'].includes(get(cache) ?? '');
  if (!isKnown(manifest) && !isDesired) return undefined;
  return ifKnown(manifest, 'render the chart', conclude);
}

/** PersistentVolumeClaims that the chart creates. */
const newClaims = (objects: readonly KubernetesObject[]): Claim[] =>
  objects.filter(({kind}) => kind === 'PersistentVolumeClaim') as Claim[];

/** Names of PersistentVolumeClaims that pods mount and the chart does not create. */
function existingClaims(objects: readonly KubernetesObject[]): string[] {
  const created = newClaims(objects).map(({metadata}) => metadata.name);
  return referencedClaims(objects).filter((name) => !created.includes(name));
}

const eachClaim = (
  context: PreflightContext,
  names: readonly string[],
  conclude: (claim: Claim | undefined, name: string) => CheckResult | undefined,
): CheckResult | undefined =>
  worstOf(
    names.map((name) => {
      const fact = context.claims.get(name);
      if (fact === undefined) return notChecked(`PVC ${name} was not checked`);
      return ifKnown(fact, `read PVC ${name}`, (claim) => conclude(claim, name));
    }),
  );

/** The StorageClass of a PVC; undefined if it does not exist, or there is no default. */
const classOf = (claim: Claim, classes: readonly StorageClass[]): StorageClass | undefined => {
  const desired = claim.spec?.storageClassName;
  return classes.find(({name, isDefault}) =>
    desired === undefined ? isDefault : name === desired,
  );
};

/** The chart creates the StorageClass, or a volume of that class. */
const isClassOfChart = ({spec}: Claim, objects: readonly KubernetesObject[]): boolean =>
  spec?.storageClassName !== undefined &&
  objects.some(
    (each) =>
      (each.kind === 'StorageClass' && each.metadata.name === spec.storageClassName) ||
      (each.kind === 'PersistentVolume' &&
        (each as Claim).spec?.storageClassName === spec.storageClassName),
  );

const CLASSES = 'list StorageClasses';

const storageClass = check('Storage', 'storage-class', 'StorageClass of new PVCs', {
  ref: 'https://kubernetes.io/docs/concepts/storage/storage-classes/',
  run: (context) =>
    withManifest(context, (objects) => {
      const claims = newClaims(objects).filter((claim) => !isClassOfChart(claim, objects));
      if (claims.length === 0) return undefined;
      return ifKnown(context.facts.storageClasses, CLASSES, (classes) =>
        worstOf(claims.map((claim) => hasClass(claim, classes))),
      );
    }),
});

function hasClass(claim: Claim, classes: readonly StorageClass[]): CheckResult {
  const {name} = claim.metadata;
  const desired = claim.spec?.storageClassName;
  const found = classOf(claim, classes);
  const names = few(classes.map((each) => each.name)) || 'none';
  if (desired === '')
    return notChecked(
      `PVC ${name} disables dynamic provisioning and requires an existing volume; volumes are not checked`,
    );
  if (found)
    return pass(`${found.name} (${found.provisioner}, ${found.bindingMode}) for PVC ${name}`);
  return fail(
    desired === undefined
      ? `PVC ${name} requires a default StorageClass, but the cluster has none (existing: ${names})`
      : `StorageClass ${desired} of PVC ${name} not found (existing: ${names})`,
    changing`Use an existing one with ${cacheStorageClass}, or use ${withValue(cache, 'ephemeral')}`,
  );
}

const accessMode = check('Storage', 'access-mode', 'Access mode of the StorageClass', {
  ref: 'https://kubernetes.io/docs/concepts/storage/persistent-volumes/#access-modes',
  run: (context) =>
    withManifest(context, (objects) => {
      const claims = newClaims(objects).filter(({spec}) => spec?.storageClassName !== '');
      if (claims.length === 0) return undefined;
      return ifKnown(context.facts.storageClasses, CLASSES, (classes) =>
        worstOf(claims.map((claim) => hasAccessMode(claim, classes))),
      );
    }),
});

/** Undefined if there is no StorageClass, which the check storage-class reports, or if the chart creates it. */
function hasAccessMode(claim: Claim, classes: readonly StorageClass[]): CheckResult | undefined {
  const found = classOf(claim, classes);
  if (found === undefined) return undefined;
  const {name, accessModes, provisioner} = found;
  const {name: claimName} = claim.metadata;
  const desired = (claim.spec?.accessModes ?? []) as AccessMode[];
  if (!isKnown(accessModes))
    return cannot(
      `determine whether StorageClass ${name} supports ${desired.join(', ')} for PVC ${claimName}`,
      accessModes.because,
    );
  const missing = desired.filter((mode) => !accessModes.value.includes(mode));
  if (missing.length === 0) return pass(`${name} (${provisioner}) supports ${desired.join(', ')}`);
  const able = classes
    .filter((each) => missing.every((mode) => knownValue(each.accessModes)?.includes(mode)))
    .map((each) => each.name);
  return fail(
    `PVC ${claimName} requires ${missing.join(', ')}, but StorageClass ${name} (${provisioner}) only supports ${accessModes.value.join(', ')}`,
    able.length > 0
      ? changing`Use ${withValue(cacheStorageClass, able[0])}${able.length > 1 ? ` (or ${few(able.slice(1))})` : ''}`
      : changing`Install a CSI driver for shared volumes, because no known StorageClass supports it, or use ${withValue(cache, 'ephemeral')}`,
  );
}

const claimNameFree = check('Storage', 'pvc-name', 'Ownership of chart PVCs', {
  ref: 'https://helm.sh/docs/helm/helm_install/',
  run: (context) =>
    withManifest(context, (objects) => {
      const {release: own, kubeTarget} = context.name;
      const names = newClaims(objects).map(({metadata}) => metadata.name);
      return eachClaim(context, names, (claim, name) => {
        if (claim === undefined) return pass(`${name} is new`);
        const owner = claim.metadata.annotations?.['meta.helm.sh/release-name'];
        const ownerNamespace = claim.metadata.annotations?.['meta.helm.sh/release-namespace'];
        if (owner === own && ownerNamespace === kubeTarget.namespace)
          return pass(`${name} belongs to release ${own}`);
        return fail(
          `PVC ${name} already exists${owner === undefined ? '' : ` in release ${ownerNamespace}/${owner}`}, and Helm cannot adopt it`,
          changing`Use it with ${withValue(cache, 'existing-pvc')} ${withValue(cacheClaim, name)}, or use another name with ${release}`,
        );
      });
    }),
});

const claimBound = check('Storage', 'pvc', 'Existing PVCs', {
  ref: 'https://kubernetes.io/docs/concepts/storage/persistent-volumes/#binding',
  run: (context) =>
    withManifest(context, (objects) =>
      eachClaim(context, existingClaims(objects), (claim, name) => isBound(claim, name, context)),
    ),
});

function isBound(
  claim: Claim | undefined,
  name: string,
  {name: {kubeTarget}, facts}: PreflightContext,
): CheckResult {
  const describe = kubectlCommand(
    kubeTarget,
    'describe',
    'pvc',
    name,
    '--namespace',
    kubeTarget.namespace,
  );
  if (claim === undefined)
    return fail(
      `PVC ${name} not found in ${kubeTarget.namespace}, so pods that mount it cannot start`,
      changing`Create it first, or let the chart create one with ${withValue(cache, 'pvc')}`,
    );
  if (claim.metadata.deletionTimestamp !== undefined)
    return fail(
      `PVC ${name} is being deleted`,
      `Create it again after its deletion. Show its status: ${describe}`,
    );
  const phase = claim.status?.phase ?? 'Pending';
  if (phase === 'Bound') return pass(`${name} is bound`);
  if (phase === 'Lost') return fail(`PVC ${name} lost its volume`, `Show the reason: ${describe}`);
  return ifKnown(facts.storageClasses, `determine whether PVC ${name} can be bound`, (classes) => {
    const found = classOf(claim, classes);
    if (found?.bindingMode === 'WaitForFirstConsumer')
      return pass(`${name} is bound when the first pod uses it (StorageClass ${found.name})`);
    return warn(
      `PVC ${name} is ${phase}: no volume was provisioned`,
      `Show the reason: ${describe}`,
    );
  });
}

const claimShared = check('Storage', 'pvc-access-mode', 'Access mode of shared PVCs', {
  ref: 'https://kubernetes.io/docs/concepts/storage/persistent-volumes/#access-modes',
  run: (context) =>
    withManifest(context, (objects) => {
      const pods = sharingPods(context);
      if (pods === undefined) return undefined;
      return eachClaim(context, existingClaims(objects), (claim, name) => {
        const modes = claim?.spec?.accessModes;
        if (modes === undefined) return undefined;
        if (modes.includes('ReadWriteMany')) return pass(`${name} is ReadWriteMany`);
        const message = `PVC ${name} is ${modes.join(', ')}, but ${pods} mount it`;
        if (modes.includes('ReadWriteOnce') && knownValue(nodesForRuns(context))?.length === 1)
          return warn(
            `${message}. This works only as long as the cluster has one node`,
            changing`Use a ReadWriteMany PVC with ${cacheClaim} before you add nodes`,
          );
        return fail(
          `${message}. Pods on a second node cannot start`,
          changing`Use a ReadWriteMany PVC with ${cacheClaim}, or use ${withValue(cache, 'ephemeral')}`,
        );
      });
    }),
});

/** Several pods, possibly on several nodes, that mount the same PVC; undefined for a single pod. */
function sharingPods({target, values}: PreflightContext): string | undefined {
  if (target.chart === 'agent-job') return 'the controller and all run pods';
  const replicas = Number(values['replicaCount'] ?? 1);
  return target.chart === 'agent-local' && replicas > 1 ? `${replicas} agents` : undefined;
}

const EFS = 'efs.csi.aws.com';

const isOfEfs = (object: KubernetesObject): boolean =>
  getAt(object as unknown as Tree, ['spec', 'csi', 'driver']) === EFS ||
  (object as {provisioner?: string}).provisioner === EFS;

function usesClassOfEfs(
  objects: readonly KubernetesObject[],
  {facts}: PreflightContext,
): Fact<boolean> {
  const names = newClaims(objects).flatMap(({spec}) => spec?.storageClassName ?? []);
  if (names.length === 0) return known(false, 'chart');
  return mapped(facts.storageClasses, (classes) =>
    classes.some(({name, provisioner}) => provisioner === EFS && names.includes(name)),
  );
}

const efsDriver = check('Storage', 'efs-driver', 'EFS CSI driver', {
  ref: 'https://docs.aws.amazon.com/eks/latest/userguide/efs-csi.html',
  run: (context) =>
    withManifest(context, (objects) => {
      const usesEfs = objects.some(isOfEfs)
        ? known(true, 'chart')
        : usesClassOfEfs(objects, context);
      if (!isKnown(usesEfs)) return unreadable(usesEfs, CLASSES);
      if (!usesEfs.value) return undefined;
      return ifKnown(context.readings.daemonSets, 'list DaemonSets', (sets) => {
        const found = sets.find(({metadata}) => metadata.name.includes('efs-csi'));
        const name = found && `DaemonSet ${found.metadata.name} in ${found.metadata.namespace}`;
        if (found?.status?.numberReady === 0)
          return warn(`No pod of ${name} is ready`, 'Check the pods of the EFS CSI driver');
        return name !== undefined
          ? pass(name)
          : fail(
              'DaemonSet of the EFS CSI driver not found, so pods cannot mount their volume',
              'Install the add-on: aws eks create-addon --addon-name aws-efs-csi-driver --cluster-name CLUSTER',
            );
      });
    }),
});

export const storageChecks: readonly Check[] = [
  storageClass,
  accessMode,
  claimNameFree,
  claimBound,
  claimShared,
  efsDriver,
];
