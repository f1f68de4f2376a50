import type {KubernetesObject} from './objects.ts';

const MANAGER = {key: 'app.kubernetes.io/managed-by', value: 'scalr-agent-install'};

const RELEASE = 'scalr.io/release';

/** The labels of objects that this program creates outside of a release. */
export const ownLabels = (release: string): Readonly<Record<string, string>> => ({
  [MANAGER.key]: MANAGER.value,
  [RELEASE]: release,
});

/** Field managers of people and of Helm; what they have changed can be changed back. */
export const isUserManager = (manager: string): boolean =>
  /^(kubectl|helm(?!-controller)|scalr-agent-install)/.test(manager);

export const isOwn = ({metadata}: KubernetesObject): boolean =>
  metadata.labels?.[MANAGER.key] === MANAGER.value;

/** The release that this program created an object for. */
export const releaseOf = ({metadata}: KubernetesObject): string | undefined =>
  metadata.labels?.[RELEASE];

export const isOwnFor = (object: KubernetesObject, release: string): boolean =>
  isOwn(object) && releaseOf(object) === release;
