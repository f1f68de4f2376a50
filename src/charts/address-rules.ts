import {at, isMap, itemsAt, textAt} from '../ground/tree.ts';
import {withoutCredentials} from '../settings/addresses.ts';
import {EFS_HANDLE} from '../settings/storage.ts';
import type {ValuesRule} from './define.ts';

const LABEL = '[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?';
const HOST = new RegExp(`^${LABEL}(\\.${LABEL})*\\.?$`);

/** A DNS name; IPv4 addresses have the same format. */
export const isHost = (text: string): boolean => text.length <= 253 && HOST.test(text);

const isPort = (text: string): boolean => /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;

/** host:port, with an optional scheme as in the default of agent-job. */
export function isHostAndPort(text: string): boolean {
  const [, host, port] = /^(?:https?:\/\/)?(\[[\da-fA-F:]+\]|[^:/@]+):(\d+)\/?$/.exec(text) ?? [];
  return host !== undefined && port !== undefined && (host.startsWith('[') || isHost(host)) && isPort(port);
}

/** `<file system>[:<directory>[:<access point>]]`, as the CSI driver of Amazon EFS reads it. */
const isEfsHandle = (text: string): boolean => EFS_HANDLE.test(text);

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

/** The Scalr URL must be an https URL with a valid host. */
export const urlOfAccount: ValuesRule = {
  code: 'INVALID_URL',
  severity: 'error',
  test: (values) => {
    const url = textAt(values, 'agent.url');
    if (url === '' || /[<$]|\{\{/.test(url)) return [];
    const problem = problemOf(url);
    return problem === undefined ? [] : [{path: at('agent.url'), ...problem}];
  },
};

function problemOf(url: string): {message: string; suggestion?: string} | undefined {
  const host = /^(?:\w+:\/\/)?(?:[^/@]*@)?([\w.-]+\.[a-z]{2,}(?::\d+)?)(?:[/?#]|$)/i.exec(url)?.[1];
  const instead = host === undefined ? {} : {suggestion: `"https://${host}"`};
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== 'https:' || /\s|[{}]/.test(url))
    return {message: `"${withoutCredentials(url)}" is not an https:// URL.`, ...instead};
  if (!isHost(parsed.hostname) || parsed.port === '0') return {message: `"${parsed.host}" is not a host with an optional port.`};
  const isMore = parsed.username !== '' || parsed.pathname !== '/' || parsed.search !== '' || parsed.hash !== '';
  return isMore ? {message: 'The URL contains more than a host.', suggestion: `"${parsed.origin}"`} : undefined;
}

/** Annotations that assign a cloud identity to the service account. */
export const identities: ValuesRule = {
  code: 'WRONG_IDENTITY',
  severity: 'error',
  test: (values) =>
    Object.entries(IDENTITIES).flatMap(([name, {form, example}]) => {
      const path = [...at('serviceAccount.annotations'), name];
      const text = textAt(values, path);
      return text === '' || form.test(text) ? [] : [{path, message: `"${text}" is not a valid identity.`, suggestion: `"${example}"`}];
    }),
};

/** Provider mirrors must use https. */
export const secureMirrors: ValuesRule = {
  code: 'INVALID_URL',
  in: '>=0.6.4',
  severity: 'error',
  test: (values) =>
    itemsAt(values, 'agent.providerNetworkMirrors').flatMap((item, index) => {
      const url = isMap(item) ? item['url'] : undefined;
      if (typeof url !== 'string' || (URL.canParse(url) && new URL(url).protocol === 'https:')) return [];
      return [{path: [...at('agent.providerNetworkMirrors'), index, 'url'], message: `"${url}" is not an https:// URL.`}];
    }),
};

/** The volume handle must be valid for the EFS CSI driver. */
export const efsHandles = (range: Pick<ValuesRule, 'in'>): ValuesRule => ({
  ...range,
  code: 'WRONG_HANDLE',
  severity: 'error',
  test: (values) => {
    const handle = textAt(values, 'efsVolumeHandle');
    if (handle === '' || isEfsHandle(handle)) return [];
    const message = `"${handle}" is not a valid EFS volume handle (file system ID, optionally with an access point).`;
    return [{path: at('efsVolumeHandle'), message, suggestion: '"fs-0123456789abcdef0::fsap-0123456789abcdef0"'}];
  },
});
