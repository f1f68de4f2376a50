import skeleton from '../../../templates/export/flux/base.json' with {type: 'json'};
import readme from '../../../templates/export/flux/README.md';
import {CHART_REPOSITORY} from '../../ground/command-line.ts';
import type {Values} from '../../ground/tree.ts';
import type {ExportedFile} from '../../host/files.ts';
import {
  type Engine,
  encryptedFile,
  externalSecret,
  type Fleet,
  filled,
  type Member,
  manifest,
  namespaceObject,
  type Prepared,
  remoteKey,
  textFile,
} from './fleet.ts';

/** A Kustomization per cluster over one per chart version, namespace and release. */
export const flux: Engine = {
  readme,
  tokenFile: (fleet, name) => `clusters/${name}/${encryptedFile(fleet, 'token') ?? ''}`,
  cluster: 'default',
  tokens: ['existing', 'external-secrets', 'sops', 'sealed-secrets'],
  files: (fleet, prepared) => [
    ...[...new Map(prepared.members.map((member) => [baseOf(member), member]))].flatMap(([path, member]) => [
      ...baseFiles(path, member, prepared, fleet),
      textFile(`${path}/values.yaml`, member.baseText),
    ]),
    ...prepared.members.map((member) =>
      manifest(`clusters/${member.name}/kustomization.yaml`, member.header, clusterKustomization(member, fleet)),
    ),
  ],
};

/** Other namespaces and releases than the usual ones have a base of their own. */
const baseOf = ({base, namespace, release}: Member): string =>
  `base/${[base, ...new Set([namespace, release])].filter((each) => each !== 'scalr-agent').join('-')}`;

function baseFiles(path: string, member: Member, {engine, header}: Prepared, fleet: Fleet): ExportedFile[] {
  const {namespace, release, target} = member;
  const words = {namespace, release, chart: target.chart, version: target.version, repository: CHART_REPOSITORY};
  const {repository, release: helmRelease, kustomization, keepClaims, omitReplicas, ignoreReplicas} = filled(skeleton, words);
  const {spec, ...head} = helmRelease;
  // Helm would delete PVCs on uninstall, and reset replicas on upgrade.
  const patches = [keepClaims, ...(fleet.isAutoscaled ? [omitReplicas] : [])];
  const driftDetection = {mode: 'enabled', ...(fleet.isAutoscaled ? {ignore: ignoreReplicas} : {})};
  const objects: Record<string, Values> = {
    namespace: namespaceObject(member, engine),
    repository,
    release: {...head, spec: {...spec, driftDetection, postRenderers: [{kustomize: {patches}}]}},
    ...(fleet.token === 'external-secrets' ? {'external-secret': externalSecret({...member, name: 'CLUSTER'}, fleet)} : {}),
  };
  const resources = Object.keys(objects).map((name) => `${name}.yaml`);
  return Object.entries({...objects, kustomization: {...kustomization, resources}}).map(([name, object]) =>
    manifest(`${path}/${name}.yaml`, header, object),
  );
}

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
