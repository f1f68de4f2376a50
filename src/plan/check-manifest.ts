import {objectsIn} from '../cluster/manifest.ts';
import type {Get} from '../settings/define.ts';
import {metadataService} from '../settings/network.ts';
import {cache} from '../settings/storage.ts';

interface Container {
  name?: string;
  image?: string;
  env?: readonly {name?: string}[] | null;
}

const IMAGE = /^[\w.-]+(:\d+)?(\/[\w.-]+)*(:[\w][\w.-]{0,127})?(@sha256:[0-9a-f]{64})?$/;

/** The one warning of Helm that means nothing: a list over the empty map that agent-job has as default: docs/charts/agent-job.md, "Images and nodes". */
const HARMLESS = /topologySpreadConstraints/;

/** Warnings of Helm that mean a lost value. */
export const lostValues = (stderr: string): string[] =>
  stderr
    .split('\n')
    .filter((line) => /warning: (cannot overwrite|destination for|skipped value)/i.test(line) && !HARMLESS.test(line))
    .map((line) => line.replace(/^.*?warning: /i, '').trim());

/** What a rendered chart does not keep of what the settings promise. Pure. */
export function brokenPromises(manifest: string, get: Get): string[] {
  const objects = objectsIn(manifest);
  const containers = objects.flatMap(containersIn);
  const has = (kind: string): boolean => objects.some((object) => object.kind === kind);
  return [
    ...containers.flatMap(({name, env}) => {
      const names = (env ?? []).map((each) => each.name);
      return names.filter((each, index) => names.indexOf(each) !== index).map((each) => `The container ${name} gets ${each} twice.`);
    }),
    ...containers.flatMap(({name, image = ''}) =>
      IMAGE.test(image) ? [] : [`The image of the container ${name} is no reference: ${image}`],
    ),
    ...(get(metadataService) === 'block' && !has('NetworkPolicy') ? ['No NetworkPolicy blocks the metadata service.'] : []),
    ...(get(cache) === 'pvc' && !has('PersistentVolumeClaim') ? ['No claim is made for the cache.'] : []),
  ];
}

/** Containers wherever they are, in the templates of Jobs inside custom resources too. */
function containersIn(tree: unknown): Container[] {
  if (Array.isArray(tree)) return tree.flatMap(containersIn);
  if (typeof tree !== 'object' || tree === null) return [];
  return Object.entries(tree).flatMap(([key, below]) =>
    (key === 'containers' || key === 'initContainers') && Array.isArray(below) ? (below as Container[]) : containersIn(below),
  );
}
