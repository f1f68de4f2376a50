import type {SchemaNode} from '../../charts/schema.ts';
import type {Tree} from '../../charts/tree.ts';
import {milliOf} from '../../settings/quantity.ts';

/** The JSON Schema type of a value; whole numbers are integers. */
export function typeOf(tree: Tree): string {
  if (tree === null) return 'null';
  if (Array.isArray(tree)) return 'array';
  return Number.isInteger(tree) ? 'integer' : typeof tree;
}

/** True when the value has one of the types of the schema node, or the node names none. */
export function matchesType(tree: Tree, {type}: SchemaNode): boolean {
  const types = [type ?? []].flat();
  const own = typeOf(tree);
  return types.length === 0 || types.includes(own) || (own === 'integer' && types.includes('number'));
}

/** Says what is wrong with a text; undefined when it is right. */
type Format = (text: string) => string | undefined;

const matches =
  (pattern: RegExp, expected: string): Format =>
  (text) =>
    pattern.test(text) ? undefined : `"${text}" is not ${expected}.`;

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const dnsLabel = matches(new RegExp(`^(?=.{1,63}$)${LABEL}$`), 'a name of lower-case letters, digits and - (63 at most)');
const objectName = matches(
  new RegExp(`^(?=.{1,253}$)${LABEL}(\\.${LABEL})*$`),
  'a Kubernetes name (lower-case letters, digits, - and ., from a letter or digit to a letter or digit)',
);
const NAME = '([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]';
const qualifiedName = matches(
  new RegExp(`^((?=[^/]{1,253}/)${LABEL}(\\.${LABEL})*/)?(?=[^/]{1,63}$)${NAME}$`),
  'a key of labels or annotations ([prefix.example.com/]name, 63 characters at most after the slash)',
);

/**
 * Text formats by the `format` keyword of the schemas, as Kubernetes checks them in apimachinery/pkg/util/validation and
 * apimachinery/pkg/api/resource, images as in distribution/reference.
 */
export const FORMATS: Readonly<Record<string, Format>> = {
  quantity: (text) => {
    if (isQuantity(text)) return text.startsWith('-') ? `"${text}" is less than nothing.` : undefined;
    const [, number, unit] = /^\s*(\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*$/.exec(text) ?? [];
    const meant = unit && number ? ` Did you mean ${number}${MEANT[unit.toLowerCase()] ?? 'Gi'}?` : '';
    return `"${text}" is no Kubernetes quantity, such as 500m or 2Gi.${meant}`;
  },
  'dns-label': dnsLabel,
  'object-name': objectName,
  // A dash disables dynamic provisioning.
  'storage-class': (text) => (text === '-' ? undefined : objectName(text)),
  'qualified-name': qualifiedName,
  'label-value': matches(
    new RegExp(`^((?=.{1,63}$)${NAME})?$`),
    'a value of a label (letters, digits, -, _ and ., 63 at most, from a letter or digit to a letter or digit)',
  ),
  sysctl: matches(
    /^(?=.{1,253}$)([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/,
    'a name of a kernel parameter, such as net.ipv4.tcp_syncookies',
  ),
  'port-name': matches(
    /^(?=.{1,15}$)(?=.*[a-z])(?!.*--)[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
    'a name of a port (15 lower-case letters, digits and - at most)',
  ),
  header: matches(/^[-A-Za-z0-9]+$/, 'a name of an HTTP header'),
  'data-key': matches(/^(?!\.{1,2}$)(?!\.\.)[-._a-zA-Z0-9]{1,253}$/, 'a key of a Secret (letters, digits, -, _ and .)'),
  'variable-name': matches(/^[!-<>-~]+$/, 'a name of an environment variable'),
  // Some templates remove a slash at the start.
  'sub-path': (text) =>
    text.split('/').includes('..') || /^\/(\/|$)/.test(text) ? `"${text}" is not a path below the volume.` : undefined,
  'int-or-percent': matches(/^\d+$|^(\d\d?|100)%$/, 'a whole number or a percentage'),
  'absolute-path': (text) => {
    if (!text.startsWith('/')) return `"${text}" is not an absolute path.`;
    return text.split('/').includes('..') ? `"${text}" must not hold "..".` : undefined;
  },
  // The charts put a colon between repository and tag, so a digest has its algorithm here and the rest in the tag.
  'image-repository': matches(
    /^([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?(:\d+)?\/)?[a-z0-9]+((\.|_{1,2}|-+)[a-z0-9]+)*(\/[a-z0-9]+((\.|_{1,2}|-+)[a-z0-9]+)*)*(@sha256)?$/,
    'a repository of images: no scheme, tag, blank or capital, such as registry.example.com/team/agent',
  ),
  'image-tag': matches(/^\w[\w.-]{0,127}(@sha256:[0-9a-f]{64})?$/, 'a tag of an image (letters, digits, _, . and -)'),
  registry: matches(
    /^[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?(:\d+)?(\/[a-z0-9][a-z0-9._-]*)*$/,
    'a registry without scheme and without a slash at the end, such as registry.example.com',
  ),
};

const MEANT: Readonly<Record<string, string>> = {
  k: 'Ki',
  kb: 'Ki',
  m: 'Mi',
  mb: 'Mi',
  mib: 'Mi',
  g: 'Gi',
  gb: 'Gi',
  gib: 'Gi',
  t: 'Ti',
  tb: 'Ti',
};

/** Kubernetes also accepts signs, exponents and small suffixes, which milliOf does not read. */
const isQuantity = (text: string): boolean =>
  milliOf(text) !== undefined || /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+|n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$/.test(text);
