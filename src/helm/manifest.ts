import {parseAllDocuments} from 'yaml';
import type {KubernetesObject} from '../kubernetes/objects.ts';

/** The objects of a rendered chart. */
export const objectsIn = (manifest: string): KubernetesObject[] =>
  parseAllDocuments(manifest, {logLevel: 'silent'}).flatMap((document) => {
    const object: unknown = 'toJS' in document ? document.toJS() : undefined;
    return typeof object === 'object' && object !== null ? [object as KubernetesObject] : [];
  });
