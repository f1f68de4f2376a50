import {isMap, type Tree, type Values} from '../../charts/tree.ts';
import type {KubernetesObject} from '../../cluster/objects.ts';

/** Variables by which the agent knows its certificates, over the versions of the charts. */
const VARIABLES = ['SCALR_AGENT_CA_CERT', 'SCALR_CA_CERT', 'SSL_CERT_FILE'];

/** Where the container has the certificates that it trusts: a file of its own, or in the variable itself. */
export function certificatesOf(env: readonly {name: string; value?: string}[]): {path: string} | {text: string} | undefined {
  const value = VARIABLES.map((name) => env.find((each) => each.name === name)?.value).find(Boolean);
  if (value === undefined) return undefined;
  if (value.startsWith('/')) return {path: value};
  const text = value.includes('-----BEGIN') ? value : decoded(value);
  return isPublic(text) ? {text} : undefined;
}

/** What a Secret of the chart holds, where that is nothing but certificates. */
export function publicDataOf(secret: KubernetesObject & {data?: Tree; stringData?: Tree}): Record<string, string> | undefined {
  const texts: Record<string, string> = {
    ...mapped(secret.data, decoded),
    ...mapped(secret.stringData, (text) => text),
  };
  return Object.keys(texts).length > 0 && Object.values(texts).every(isPublic) ? texts : undefined;
}

const isPublic = (text: string): boolean => text.includes('-----BEGIN CERTIFICATE-----') && !text.includes('PRIVATE KEY');

const decoded = (base64: string): string => Buffer.from(base64, 'base64').toString('utf8');

const mapped = (tree: Tree | undefined, read: (text: string) => string): Record<string, string> =>
  isMap(tree) ? Object.fromEntries(Object.entries(tree as Values).map(([key, value]) => [key, read(String(value))])) : {};
