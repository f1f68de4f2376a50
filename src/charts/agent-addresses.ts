const LABEL = '[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?';
const HOST = new RegExp(`^${LABEL}(\\.${LABEL})*\\.?$`);

/** A name of DNS; an address in figures has the same form. */
export const isHost = (text: string): boolean => text.length <= 253 && HOST.test(text);

export const isPort = (text: string): boolean => /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;

/** host:port, with the scheme that agent-job has in its default. */
export function isHostAndPort(text: string): boolean {
  const [, host, port] = /^(?:https?:\/\/)?(\[[\da-fA-F:]+\]|[^:/@]+):(\d+)\/?$/.exec(text) ?? [];
  return host !== undefined && port !== undefined && (host.startsWith('[') || isHost(host)) && isPort(port);
}

/** `<file system>[:<directory>[:<access point>]]`, as the CSI driver of Amazon EFS reads it. */
export const isEfsHandle = (text: string): boolean => /^fs-([0-9a-f]{8}|[0-9a-f]{17})(:(\/[^:\s]*)?(:fsap-[0-9a-f]{17})?)?$/.test(text);

/** What names an identity in an annotation of a service account. */
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
