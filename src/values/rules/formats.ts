import {binaryUnit, milliOf} from '../../settings/kinds/quantities.ts';

/** What is wrong with a text, and what to write instead. */
export interface Misspelling {
  message: string;
  suggestion?: string;
}

/** Undefined for a valid text. */
type Format = (text: string) => Misspelling | undefined;

const matches =
  (pattern: RegExp, expected: string): Format =>
  (text) =>
    pattern.test(text) ? undefined : invalid(text, expected);

const invalid = (text: string, expected: string): Misspelling => ({
  message: `Invalid value "${text}": must be ${expected}.`,
});

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const dnsLabel = matches(
  new RegExp(`^(?=.{1,63}$)${LABEL}$`),
  'a lowercase RFC 1123 label (at most 63 letters, digits and "-", starting and ending with a letter or digit)',
);
const kindAndName = matches(
  new RegExp(`^(?=.{1,253}$)${LABEL}(\\.${LABEL})*$`),
  'a lowercase RFC 1123 subdomain (letters, digits, "-" and ".", starting and ending with a letter or digit)',
);
const NAME = '([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]';
const qualifiedName = matches(
  new RegExp(`^((?=[^/]{1,253}/)${LABEL}(\\.${LABEL})*/)?(?=[^/]{1,63}$)${NAME}$`),
  'a label or annotation key ([prefix.example.com/]name, at most 63 characters after the slash)',
);

/**
 * Text formats by the `format` keyword of the schemas, as Kubernetes checks them in apimachinery/pkg/util/validation and
 * apimachinery/pkg/api/resource, images as in distribution/reference.
 */
export const FORMATS: Readonly<Record<string, Format>> = {
  quantity: (text) => {
    if (isQuantity(text))
      return text.startsWith('-') ? invalid(text, 'greater than or equal to 0') : undefined;
    const {message} = invalid(text, 'a Kubernetes quantity, such as 500m or 2Gi');
    const suggestion = meantQuantity(text);
    return suggestion === undefined ? {message} : {message, suggestion};
  },
  'dns-label': dnsLabel,
  'object-name': kindAndName,
  // A dash disables dynamic provisioning.
  'storage-class': (text) => (text === '-' ? undefined : kindAndName(text)),
  'qualified-name': qualifiedName,
  'label-value': matches(
    new RegExp(`^((?=.{1,63}$)${NAME})?$`),
    'a label value (at most 63 letters, digits, "-", "_" and ".", starting and ending with a letter or digit)',
  ),
  sysctl: matches(
    /^(?=.{1,253}$)([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/,
    'a kernel parameter name, such as net.ipv4.tcp_syncookies',
  ),
  'port-name': matches(
    /^(?=.{1,15}$)(?=.*[a-z])(?!.*--)[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
    'a port name (at most 15 lowercase letters, digits and "-")',
  ),
  header: matches(/^[-A-Za-z0-9]+$/, 'an HTTP header name'),
  'data-key': matches(
    /^(?!\.{1,2}$)(?!\.\.)[-._a-zA-Z0-9]{1,253}$/,
    'a Secret key (letters, digits, "-", "_" and ".")',
  ),
  'variable-name': matches(/^[!-<>-~]+$/, 'an environment variable name'),
  'relative-path': matches(/^(?!\/)(?!.*(?:^|\/)\.\.(?:\/|$))/s, 'a relative path without ".."'),
  // Some templates remove a slash at the start.
  'sub-path': (text) =>
    text.split('/').includes('..') || /^\/(\/|$)/.test(text)
      ? invalid(text, 'a relative path without ".."')
      : undefined,
  'int-or-percent': matches(/^\d+$|^(\d\d?|100)%$/, 'an integer or a percentage'),
  'absolute-path': (text) => {
    if (!text.startsWith('/')) return invalid(text, 'an absolute path');
    return text.split('/').includes('..')
      ? {message: `Invalid value "${text}": must not contain "..".`}
      : undefined;
  },
  // The charts put a colon between repository and tag, so a digest has its algorithm here and the rest in the tag.
  'image-repository': matches(
    /^([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?(:\d+)?\/)?[a-z0-9]+((\.|_{1,2}|-+)[a-z0-9]+)*(\/[a-z0-9]+((\.|_{1,2}|-+)[a-z0-9]+)*)*(@sha256)?$/,
    'an image repository without scheme, tag, spaces or capital letters, such as registry.example.com/team/agent',
  ),
  'image-tag': matches(
    /^\w[\w.-]{0,127}(@sha256:[0-9a-f]{64})?$/,
    'an image tag (letters, digits, "_", "." and "-")',
  ),
  registry: matches(
    /^[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?(:\d+)?(\/[a-z0-9][a-z0-9._-]*)*$/,
    'a registry without scheme or trailing slash, such as registry.example.com',
  ),
};

/** What people write for amounts: `2 cores`, `1,5`, `1.5g`, `500MB`. */
function meantQuantity(text: string): string | undefined {
  const [, number = '', unit = ''] = /^\s*(\d+(?:[.,]\d+)?)\s*([A-Za-z]*)\s*$/.exec(text) ?? [];
  if (number === '') return undefined;
  const amount = number.replace(',', '.');
  if (unit === '' || /^v?(?:cores?|cpus?)$/i.test(unit)) return amount;
  if (/^milli(?:cores?|cpus?)$/i.test(unit)) return `${amount}m`;
  return `${amount}${binaryUnit(unit)}`;
}

/** Kubernetes also accepts signs, exponents and small suffixes, which milliOf does not read. */
const isQuantity = (text: string): boolean =>
  milliOf(text) !== undefined ||
  /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+|n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$/.test(text);
