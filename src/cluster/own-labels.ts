import type {KubernetesObject} from './objects.ts';

const MANAGER = {key: 'app.kubernetes.io/managed-by', value: 'scalr-agent-install'};
const RELEASE = 'scalr.io/release';

/** What this program makes beside a release carries these, so that it knows it again. */
export const ownLabels = (release: string): Readonly<Record<string, string>> => ({[MANAGER.key]: MANAGER.value, [RELEASE]: release});

export const isOwn = ({metadata}: KubernetesObject): boolean => metadata.labels?.[MANAGER.key] === MANAGER.value;

export const isMadeFor = (object: KubernetesObject, release: string): boolean =>
  isOwn(object) && object.metadata.labels?.[RELEASE] === release;
