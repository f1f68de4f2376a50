import {EFS_HANDLE} from '../settings/storage.ts';

const LABEL = '[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?';
const HOST = new RegExp(`^${LABEL}(\\.${LABEL})*\\.?$`);

/** A DNS name; IPv4 addresses have the same format. */
export const isHost = (text: string): boolean => text.length <= 253 && HOST.test(text);

export const isPort = (text: string): boolean => /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;

/** host:port, with an optional scheme as in the default of agent-job. */
export function isHostAndPort(text: string): boolean {
  const [, host, port] = /^(?:https?:\/\/)?(\[[\da-fA-F:]+\]|[^:/@]+):(\d+)\/?$/.exec(text) ?? [];
  return host !== undefined && port !== undefined && (host.startsWith('[') || isHost(host)) && isPort(port);
}

/** `<file system>[:<directory>[:<access point>]]`, as the CSI driver of Amazon EFS reads it. */
export const isEfsHandle = (text: string): boolean => EFS_HANDLE.test(text);

/** Formats of cloud identities in service account annotations. */
export const IDENTITIES: Readonly<Record<string, {form: RegExp; example: string}>> = {
  'eks.amazonaws.com/role-arn': {form: /^arn:aws[a-z-]*:iam::\d{12}:role\/\S+$/, example: 'arn:aws:iam::123456789012:role/scalr'},
  'azure.workload.identity/client-id': {
    form: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
    example: '00000000-0000-0000-0000-000000000001',
  },
  'iam.gke.io/gcp-service-account': {
    form: /^[a-z0-9-]+@[a-z0-9.:-]+\.gserviceaccount\.com$/,
    example: 'scalr@my-project.iam.gserviceaccount.com',
  },
};
