import {imagesOf, selectsImagesOfRuns} from '../../charts/images.ts';
import {agentVersionOf} from '../../charts/releases/schema.ts';
import {kubectlCommand} from '../../ground/command-line.ts';
import {ExpectedError, failed} from '../../ground/errors.ts';
import type {Values} from '../../ground/tree.ts';
import {cache, cacheSize, efsHandle} from '../../settings/cache.ts';
import {cloud} from '../../settings/cluster.ts';
import {imagePullSecret} from '../../settings/images.ts';
import {affinity, nodeSelector, toleration} from '../../settings/placement.ts';
import {namespace, release} from '../../settings/release.ts';
import {getFrom, type Settings} from '../../settings/settings.ts';
import {toYaml} from '../../values/document.ts';
import type {Generated} from '../../values/generate.ts';
import {effectiveValues} from '../../values/read-values.ts';
import type {Export} from '../machine/files.ts';

type ManifestExport = Export & {notes: string[]};

/** User and group of runs in all charts. */
const USER = 1000;

const NAMESPACE = 'The namespace must exist.';

interface SharedStorage {
  provisioner: string;
  /** The smallest size that the cloud provides. */
  size: string;
  parameters(settings: Settings): Values;
  mountOptions?: readonly string[];
  requires: string;
}

const FILESTORE: SharedStorage = {
  provisioner: 'filestore.csi.storage.gke.io',
  size: '1Ti',
  parameters: () => ({tier: 'standard', network: 'default'}),
  requires:
    'The cluster requires the Filestore CSI driver; set the network of the cluster in volume.yaml.',
};

/** Storage that pods on all nodes can mount, and that user 1000 can write. */
const STORAGE: Readonly<Record<string, SharedStorage>> = {
  eks: {
    provisioner: 'efs.csi.aws.com',
    size: '5Gi',
    parameters: (settings) => ({
      provisioningMode: 'efs-ap',
      fileSystemId: settings.get(efsHandle)?.replace(/:.*/, '') ?? '',
      basePath: '/scalr-agent',
      directoryPerms: '700',
      uid: String(USER),
      gid: String(USER),
    }),
    requires:
      'The cluster requires the EFS CSI driver. Without an access point in --efs-handle, the driver needs permission to create them.',
  },
  gke: FILESTORE,
  'gke-autopilot': FILESTORE,
  aks: {
    provisioner: 'file.csi.azure.com',
    size: '100Gi',
    parameters: () => ({skuName: 'Premium_LRS'}),
    mountOptions: [
      `uid=${USER}`,
      `gid=${USER}`,
      'dir_mode=0755',
      'file_mode=0755',
      'mfsymlinks',
      'nosharesock',
      'actimeo=30',
    ],
    requires: 'The cluster requires the Azure Files CSI driver, which AKS installs by default.',
  },
};

/** What a volume depends on. */
export const VOLUME_SETTINGS = [cloud, namespace, release, cache, cacheSize, efsHandle];

/** A PVC for the cache with a StorageClass, or with a PersistentVolume for an EFS access point. Pure. @throws ExpectedError */
export function volume(settings: Settings): ManifestExport {
  const [provider = '', handle] = [settings.get(cloud), settings.get(efsHandle)];
  const storage = STORAGE[provider];
  if (storage === undefined)
    throw new ExpectedError('The volume depends on the cloud.', {
      code: 'MISSING_SETTING',
      suggestions: ['Add --cloud eks with --efs-handle, --cloud gke or --cloud aks'],
      options: [
        {add: `--cloud eks --efs-handle HANDLE`, when: 'For a cluster in EKS'},
        {add: '--cloud gke', when: 'For a cluster in GKE'},
        {add: '--cloud aks', when: 'For a cluster in AKS'},
      ],
    });
  if (provider !== 'eks' && handle !== undefined)
    throw failed(
      'UNSUPPORTED_SETTING',
      `--efs-handle is only for EFS, not for --cloud ${provider}.`,
      ['Use --cloud eks', 'Remove --efs-handle'],
    );
  if (provider === 'eks' && handle === undefined)
    throw new ExpectedError('EFS volumes require a file system.', {
      code: 'MISSING_SETTING',
      suggestions: ['Add --efs-handle, for example fs-0123456789abcdef0'],
      options: [{add: '--efs-handle HANDLE', when: 'Select the file system'}],
    });
  const name = `${settings.get(release)}-cache`;
  const home = settings.get(namespace) as string;
  const size = settings.get(cacheSize) ?? storage.size;
  const isStatic = handle?.includes(':') ?? false;
  const metadata = {name: `${home}-${name}`};
  const source: Values = isStatic
    ? {
        apiVersion: 'v1',
        kind: 'PersistentVolume',
        metadata,
        spec: {
          capacity: {storage: size},
          accessModes: ['ReadWriteMany'],
          persistentVolumeReclaimPolicy: 'Retain',
          storageClassName: '',

          claimRef: {namespace: home, name},
          csi: {driver: storage.provisioner, volumeHandle: handle as string},
        },
      }
    : {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'StorageClass',
        metadata,
        provisioner: storage.provisioner,
        parameters: storage.parameters(settings),
        reclaimPolicy: 'Retain',
        ...(storage.mountOptions === undefined ? {} : {mountOptions: [...storage.mountOptions]}),
      };
  const claim: Values = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {name, namespace: home},
    spec: {
      accessModes: ['ReadWriteMany'],
      ...(isStatic
        ? {storageClassName: '', volumeName: metadata.name}
        : {storageClassName: metadata.name}),
      resources: {requests: {storage: size}},
    },
  };
  const access = `The access point must use user and group ${USER}.`;
  return {
    ...manifests('volume.yaml', [source, claim]),
    steps: [kubectlCommand({}, 'apply', '--filename', 'volume.yaml', '--namespace', home)],
    notes: [
      storage.requires,
      ...(isStatic ? [access] : []),
      NAMESPACE,
      `To use the volume, add these flags to scalr-agent install: --cache existing-pvc --cache-claim ${name} --cache-access-mode ReadWriteMany`,
    ],
  };
}

/** A DaemonSet that keeps the runner images on the nodes where runs are placed. Pure. @throws ExpectedError */
export function prepull({target, settings, effective, values}: Generated): ManifestExport {
  const seen = effectiveValues(values, target);
  const images = imagesOf(seen, target, agentVersionOf(target) ?? 'latest').filter(
    ({used}) => used !== 'controller',
  );
  const names = [...new Set(images.map(({rendered}) => rendered))];
  const get = getFrom(effective);
  const labels = {
    'app.kubernetes.io/name': 'scalr-agent-prepull',
    'app.kubernetes.io/instance': settings.get(release) as string,
  };
  const container = (image: string, index: number): Values => ({
    name: `image-${index + 1}`,
    image,
    command: ['sleep', 'infinity'],
    resources: {requests: {cpu: '1m', memory: '8Mi'}, limits: {memory: '32Mi'}},
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: {drop: ['ALL']},
    },
  });
  const selector = get(nodeSelector);
  const tolerations = get(toleration);
  const near = get(affinity);
  const secrets = get(imagePullSecret);
  const spec: Values = {
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 0,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: USER,
      runAsGroup: USER,
      seccompProfile: {type: 'RuntimeDefault'},
    },
    ...(selector ? {nodeSelector: {...selector}} : {}),
    ...(tolerations ? {tolerations: tolerations.map((each) => ({...each}))} : {}),
    ...(near ? {affinity: near} : {}),
    ...(secrets ? {imagePullSecrets: secrets.map((name) => ({name}))} : {}),
    containers: names.map(container),
  };
  const daemonSet: Values = {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: {
      name: `${settings.get(release)}-prepull`,
      namespace: settings.get(namespace) as string,
      labels: {...labels},
    },
    spec: {selector: {matchLabels: {...labels}}, template: {metadata: {labels: {...labels}}, spec}},
  };
  const unknown =
    'The agent selects a runner image per tool and version, which cannot be pulled in advance. Set --runner-image.';
  return {
    ...manifests('prepull.yaml', [daemonSet]),
    steps: [
      kubectlCommand(
        {},
        'apply',
        '--filename',
        'prepull.yaml',
        '--namespace',
        settings.get(namespace) as string,
      ),
    ],
    notes: [...(selectsImagesOfRuns(seen, target) ? [unknown] : []), NAMESPACE],
  };
}

const manifests = (path: string, objects: readonly Values[]): Pick<Export, 'files'> => ({
  files: [{path, text: objects.map((each) => toYaml(each)).join('---\n'), isPrivate: false}],
});
