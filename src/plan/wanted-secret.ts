import type {InstallFacts} from '../cluster/install-facts.ts';
import type {Secret} from '../settings/secret.ts';

/** A Secret that the values name. */
export interface WantedSecret {
  name: string;
  type: 'Opaque' | 'kubernetes.io/tls';
  /** Keys that have to be in it, with the content where the operator gave one. */
  data: Readonly<Record<string, Secret | undefined>>;
  /** How the operator gives the content. */
  howToGive: string;
}

/** The operator gave a content that is not in it. */
export const isChanged = (secret: WantedSecret, {secrets}: InstallFacts): boolean =>
  given(secret).some(([key, content]) => secrets.get(secret.name)?.data?.[key] !== base64(content));

/** What the operator gave of it. */
export const given = ({data}: WantedSecret): [string, Secret][] =>
  Object.entries(data).filter((entry): entry is [string, Secret] => entry[1] !== undefined);

const base64 = (content: Secret): string => Buffer.from(content.reveal(), 'utf8').toString('base64');
