import type {CalledResource, ObjectIdentity} from '../../ground/call.ts';
import type {KubernetesObject} from './objects.ts';

/** Kind and name of an object, in one namespace or in the cluster. */
export interface ObjectRef {
  kind: string;
  name: string;
}

export const refOf = ({kind = '', metadata}: KubernetesObject): ObjectRef => ({
  kind,
  name: metadata.name,
});

export const isSameRef = (one: ObjectRef, other: ObjectRef): boolean =>
  one.kind === other.kind && one.name === other.name;

export const includesRef = (one: ObjectRef, others: readonly ObjectRef[]): boolean =>
  others.some((each) => isSameRef(one, each));

export const uniqueRefs = (refs: readonly ObjectRef[]): ObjectRef[] =>
  refs.filter((each, index) => refs.findIndex((other) => isSameRef(each, other)) === index);

/** An object without its content, which may be secret. */
export const identityOf = (object: KubernetesObject): ObjectIdentity => {
  const {apiVersion = '', kind = '', metadata} = object;
  const {name, namespace} = metadata;
  return {apiVersion, kind, metadata: namespace === undefined ? {name} : {name, namespace}};
};

/** For a call of kubectl. */
export const resourceOfRef = ({kind, name}: ObjectRef): CalledResource => ({
  kind: kind.toLowerCase(),
  name,
});

/** For a person: Deployment scalr-agent. */
export const refText = ({kind, name}: ObjectRef): string => `${kind} ${name}`;

export const kindAndName = (object: KubernetesObject): string => refText(refOf(object));
