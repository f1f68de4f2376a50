import {type Fields, isFields} from '../ground/tree.ts';
import {isHarmless} from './harmless.ts';
import {keyKind} from './key-names.ts';

/** Copies of the whole object in annotations, including secrets. */
const COPIES = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  'objectset.rio.cattle.io/applied',
  'kapp.k14s.io/original',
  'kapp.k14s.io/original-diff',
  'banzaicloud.com/last-applied',
]);

/**
 * A Kubernetes object, or a list of objects, without parts that must never be in the bundle. The result is still redacted
 * as text. `hide` returns the placeholder of a secret value.
 */
export function withoutSecrets<T>(object: T, hide: (value: string) => string): T {
  return cleaned(object, hide) as T;
}

function cleaned(value: unknown, hide: (value: string) => string): unknown {
  if (Array.isArray(value)) return value.map((each) => cleaned(each, hide));
  if (!isFields(value)) return value;
  const fields = withoutData(value);
  const entries = Object.entries(fields).flatMap(([key, each]): [string, unknown][] => {
    if (key === 'managedFields') return [];
    if (key === 'annotations' && isFields(each)) return [[key, cleaned(withoutCopies(each), hide)]];
    return [[key, isHiddenVariable(key, each, fields) ? hide(each) : cleaned(each, hide)]];
  });
  return Object.fromEntries(entries);
}

const withoutCopies = (annotations: Fields): Fields => Object.fromEntries(Object.entries(annotations).filter(([key]) => !COPIES.has(key)));

/** Names and sizes are sufficient for support: whether the key exists, is empty or ends in a line break. */
function withoutData(fields: Fields): Fields {
  const isSecret = fields['kind'] === 'Secret' || (typeof fields['type'] === 'string' && isFields(fields['data']));
  const hidden = (data: unknown, size: (text: string) => number, keys: (key: string) => boolean): unknown =>
    isFields(data)
      ? Object.fromEntries(Object.entries(data).map(([key, each]) => [key, keys(key) ? `[redacted: ${size(String(each))} bytes]` : each]))
      : data;
  const replaced = (keys: (key: string) => boolean): Fields => ({
    ...fields,
    ...('data' in fields && {data: hidden(fields['data'], isSecret ? decodedSize : Buffer.byteLength, keys)}),
    ...('stringData' in fields && {stringData: hidden(fields['stringData'], Buffer.byteLength, keys)}),
  });
  if (isSecret) return replaced(() => true);
  return isHelmRecord(fields) ? replaced((key) => key === 'release') : fields;
}

const decodedSize = (text: string): number => Buffer.from(text, 'base64').length;

/** Helm stores manifests and values, including Secrets in clear text, in its own Secrets or ConfigMaps. */
function isHelmRecord({metadata}: Fields): boolean {
  if (!isFields(metadata)) return false;
  const {labels, name} = metadata as {labels?: Fields; name?: unknown};
  return labels?.['owner'] === 'helm' || labels?.['OWNER'] === 'TILLER' || String(name).startsWith('sh.helm.release.');
}

const isHiddenVariable = (key: string, value: unknown, {name}: Fields): value is string =>
  key === 'value' && typeof value === 'string' && !isHarmless(value) && typeof name === 'string' && keyKind(name) === 'secret';
