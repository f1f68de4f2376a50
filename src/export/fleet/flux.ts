import readme from '../../../templates/export/flux/README.md';
import {CHART_REPOSITORY} from '../../ground/command-line.ts';
import type {Values} from '../../ground/tree.ts';
import type {ExportedFile} from '../../host/files.ts';
import type {Engine} from './engines.ts';
import {type Fleet, headerOf, type Member, manifest, membersOf, namespaceObject, textFile} from './fleet.ts';
import {encryptedFile, externalSecret, remoteKey} from './token.ts';

const ENGINE = 'flux';
const VALUES = 'scalr-agent-values';
const SOURCE = 'scalr';

const tokenFile = (fleet: Fleet, name: string): string => `clusters/${name}/${encryptedFile(fleet, 'token') ?? ''}`;

/** A Kustomization per cluster over one per chart version, namespace and release. */
function files(fleet: Fleet): ExportedFile[] {
  const {members, bases} = membersOf(fleet, ENGINE);
  const shared = new Map(members.map((member) => [baseOf(member), member]));
  return [
    ...[...shared].flatMap(([path, member]) => [
      ...baseFiles(path, member, fleet),
      textFile(`${path}/values.yaml`, bases.get(member.base)?.text ?? ''),
    ]),
    ...members.map((member) => manifest(`clusters/${member.name}/kustomization.yaml`, member.header, clusterKustomization(member, fleet))),
  ];
}

/** Other namespaces and releases than the usual ones have a base of their own. */
const baseOf = ({base, namespace, release}: Member): string =>
  `base/${[base, ...new Set([namespace, release])].filter((each) => each !== 'scalr-agent').join('-')}`;

function baseFiles(path: string, member: Member, fleet: Fleet): ExportedFile[] {
  const header = headerOf(fleet, ENGINE);
  const file = (name: string, object: Values): ExportedFile => manifest(`${path}/${name}.yaml`, header, object);
  const {namespace} = member;
  const secrets =
    fleet.token === 'external-secrets' ? [file('external-secret', externalSecret({...member, name: 'CLUSTER'}, fleet.store ?? ''))] : [];
  return [
    file('namespace', namespaceObject(member, ENGINE)),
    file('repository', {
      apiVersion: 'source.toolkit.fluxcd.io/v1',
      kind: 'HelmRepository',
      metadata: {name: SOURCE, namespace},
      spec: {interval: '1h', url: CHART_REPOSITORY},
    }),
    file('release', helmRelease(member, fleet)),
    ...secrets,
    file('kustomization', {
      apiVersion: 'kustomize.config.k8s.io/v1beta1',
      kind: 'Kustomization',
      resources: ['namespace.yaml', 'repository.yaml', 'release.yaml', ...secrets.map(() => 'external-secret.yaml')],
      configMapGenerator: [
        {
          name: VALUES,
          namespace,
          files: ['values.yaml'],
          options: {disableNameSuffixHash: true, labels: {'reconcile.fluxcd.io/watch': 'Enabled'}},
        },
      ],
    }),
  ];
}

const helmRelease = ({release, namespace, target}: Member, {isAutoscaled}: Fleet): Values => ({
  apiVersion: 'helm.toolkit.fluxcd.io/v2',
  kind: 'HelmRelease',
  metadata: {name: release, namespace},
  spec: {
    interval: '10m',
    releaseName: release,
    maxHistory: 5,
    chart: {spec: {chart: target.chart, version: target.version, interval: '1h', sourceRef: {kind: 'HelmRepository', name: SOURCE}}},
    install: {crds: 'Create', remediation: {retries: 3}},
    upgrade: {crds: 'CreateReplace', cleanupOnFail: true, remediation: {retries: 3, remediateLastFailure: true}},
    driftDetection: {
      mode: 'enabled',
      ...(isAutoscaled ? {ignore: [{paths: ['/spec/replicas'], target: {kind: 'Deployment'}}]} : {}),
    },
    // Helm would delete PVCs on uninstall, and reset replicas on upgrade.
    postRenderers: [{kustomize: {patches: [KEEP_CLAIMS, ...(isAutoscaled ? [OMIT_REPLICAS] : [])]}}],
    valuesFrom: [{kind: 'ConfigMap', name: VALUES}],
  },
});

const KEEP_CLAIMS = {
  target: {kind: 'PersistentVolumeClaim'},
  patch: JSON.stringify({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {name: 'any', annotations: {'helm.sh/resource-policy': 'keep'}},
  }),
};

const OMIT_REPLICAS = {target: {kind: 'Deployment'}, patch: JSON.stringify([{op: 'remove', path: '/spec/replicas'}])};

function clusterKustomization(member: Member, fleet: Fleet): Values {
  const encrypted = encryptedFile(fleet, 'token');
  const {override} = member;
  // An operation of JSON Patch keeps null, which a merge would drop.
  const patches = {
    HelmRelease: {
      '/spec/timeout': `${Math.ceil(member.timeoutSeconds / 60)}m`,
      ...(Object.keys(override).length === 0 ? {} : {'/spec/values': override}),
    },
    ...(fleet.token === 'external-secrets' ? {ExternalSecret: {'/spec/data/0/remoteRef/key': remoteKey(member.name)}} : {}),
  };
  return {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [`../../${baseOf(member)}`, ...(encrypted === undefined ? [] : [encrypted])],
    labels: [{pairs: {'scalr-agent/ring': member.ring}}],
    patches: Object.entries(patches).map(([kind, operations]) => ({
      target: {kind},
      patch: JSON.stringify(
        Object.entries(operations).map(([path, value]) => ({op: 'add', path, value})),
        null,
        2,
      ),
    })),
  };
}

export const flux: Engine = {
  readme,
  tokenFile,
  files,
  cluster: 'default',
  tokens: ['existing', 'external-secrets', 'sops', 'sealed-secrets'],
};
