import {getAt, isMap, type Values} from '../../charts/tree.ts';
import {milliOf} from '../../settings/quantity.ts';
import {FORMATS} from './formats.ts';
import {absent, all, between, filled, form, isSet, labelsIn, notBoth, one, type Rule, relative, say} from './kubernetes-rule-kinds.ts';

const FILE_MODE = between(0, 0o777, 'defaultMode');
const TEN_MINUTES = 600;
const MOST_SECONDS = 2 ** 32;

/** A claim that Kubernetes makes together with the pod; as ValidatePersistentVolumeClaimTemplate. */
const claim: Rule = ({volumeClaimTemplate: template}) => {
  if (!isMap(template)) return [say('There is no volumeClaimTemplate.')];
  const {metadata, spec} = template as {metadata?: Values; spec?: Values};
  const modes = spec?.['accessModes'];
  const storage = getAt(spec, ['resources', 'requests', 'storage']);
  const here = ['volumeClaimTemplate', 'spec'];
  return [
    ...Object.keys(metadata ?? {}).map(
      (key) =>
        key !== 'labels' &&
        key !== 'annotations' &&
        say(`Only labels and annotations can be set here.`, 'volumeClaimTemplate', 'metadata', key),
    ),
    (!Array.isArray(modes) || modes.length === 0) && say('A claim needs accessModes.', ...here),
    Array.isArray(modes) && modes.includes('') && say('An access mode is empty.', ...here, 'accessModes'),
    (!isSet(storage) || (milliOf(String(storage)) ?? 1n) <= 0n || String(storage).startsWith('-')) &&
      say('A claim needs resources.requests.storage, more than zero.', ...here),
  ];
};

/** Two files of one volume cannot have the same path. */
const separatePaths: Rule = ({sources}) => {
  const paths = (Array.isArray(sources) ? sources : []).flatMap((source, index) =>
    Object.values(isMap(source) ? source : {}).flatMap((each) => {
      const items = isMap(each) && Array.isArray(each['items']) ? each['items'] : [each ?? null];
      return items.map((item) => ({index, path: isMap(item) ? item['path'] : undefined}));
    }),
  );
  return paths.map(
    ({index, path}, at) =>
      typeof path === 'string' &&
      paths.findIndex((other) => other.path === path) < at &&
      say(`Two files of this volume are called ${path}.`, 'sources', index),
  );
};

const mount: Rule = ({mountPath}) => [
  typeof mountPath === 'string' &&
    mountPath.includes(':') && {
      ...say('Not every container runtime takes a colon in a mount path.', 'mountPath'),
      severity: 'warning' as const,
    },
];

const FIELDS = /^metadata\.(name|namespace|uid|labels|annotations)$|^metadata\.(labels|annotations)\['[^']+'\]$/;

/** Kubernetes takes capitals for small letters here. */
const driver: Rule = ({driver: name}) => {
  const problem = typeof name === 'string' && name !== '' ? FORMATS['object-name']?.(name.toLowerCase()) : undefined;
  return [
    problem !== undefined && say(problem, 'driver'),
    String(name).length > 63 && say('The name of a driver has 63 characters at most.', 'driver'),
  ];
};

/** What a file may hold of the pod. */
const podField: Rule = ({fieldRef, resourceFieldRef}) => {
  const path = isMap(fieldRef) ? fieldRef['fieldPath'] : undefined;
  return [
    !isSet(fieldRef) && !isSet(resourceFieldRef) && say('There is no fieldRef and no resourceFieldRef.'),
    typeof path === 'string' && !FIELDS.test(path) && say(`A file cannot hold the field ${path} of the pod.`, 'fieldRef', 'fieldPath'),
  ];
};

/** Without one Kubernetes makes an empty directory, which is seldom meant. */
const source: Rule = (volume) => {
  const isMissing = Object.keys(volume).every((field) => field === 'name' || volume[field] === null);
  const problems = one('source of the volume', (field) => field === 'name')(volume);
  return problems.map((problem) => problem && (isMissing ? {...problem, severity: 'warning' as const} : problem));
};

/** Rules of volumes and their mounts, by type. */
export const VOLUME_RULES: Readonly<Record<string, Rule>> = {
  CSIVolumeSource: all(driver, filled('driver')),
  ConfigMapProjection: absent('name'),
  ConfigMapVolumeSource: all(FILE_MODE, absent('name')),
  DownwardAPIVolumeFile: all(relative('path'), filled('path'), podField, notBoth('fieldRef', 'resourceFieldRef')),
  DownwardAPIVolumeSource: FILE_MODE,
  EphemeralVolumeSource: claim,
  HostPathVolumeSource: all(form('absolute-path', 'path'), filled('path')),
  KeyToPath: all(filled('key'), relative('path'), filled('path'), between(0, 0o777, 'mode')),
  NFSVolumeSource: all(filled('server'), filled('path'), ({path}) => [
    isSet(path) && !String(path).startsWith('/') && say(`"${path}" is not an absolute path.`, 'path'),
  ]),
  ObjectMeta: labelsIn('labels'),
  PersistentVolumeClaimSpec: form('object-name', 'storageClassName'),
  PersistentVolumeClaimVolumeSource: all(form('object-name', 'claimName'), filled('claimName')),
  ProjectedVolumeSource: all(FILE_MODE, separatePaths),
  SecretProjection: absent('name'),
  SecretVolumeSource: all(form('object-name', 'secretName'), FILE_MODE, absent('secretName')),
  ServiceAccountTokenProjection: all(between(TEN_MINUTES, MOST_SECONDS, 'expirationSeconds'), relative('path'), filled('path')),
  Volume: all(form('dns-label', 'name'), filled('name'), source),
  VolumeMount: all(
    mount,
    relative('subPath'),
    filled('name'),
    filled('mountPath'),
    filled('mountPropagation'),
    notBoth('subPath', 'subPathExpr'),
  ),
  // None is fine.
  VolumeProjection: (source) => (Object.keys(source).length > 1 ? one('source of files')(source) : []),
};
