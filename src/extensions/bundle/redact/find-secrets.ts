import type {Container, KubernetesObject} from '../../../cluster/kubernetes/objects.ts';
import {type Fields, isFields} from '../../../ground/json.ts';
import {Secret} from '../../../ground/secret.ts';
import type {Variable} from '../../../ground/variable.ts';
import {FileRedactor, type SecretSearch} from './file-redactor.ts';
import {isCode, isErrorText, isHarmless, isProse} from './harmless.ts';
import {isPlace, keyKind} from './key-names.ts';
import {KnownValueSearch} from './known-value-search.ts';
import type {KnownSecret} from './known-values.ts';
import {ruleScanner} from './scanner.ts';

export interface SecretContent extends KubernetesObject {
  type?: string;
  data?: Readonly<Record<string, string>>;
}

/** Keys of Secrets whose values are names and addresses, which support has to read. */
const NO_SECRETS: ReadonlySet<string> = new Set(
  'namespace username user name email host hostname server port region type database dbname engine project'.split(
    ' ',
  ),
);

/** Secret values: contents of Secrets, and variables and arguments of commands. Helm release Secrets are too large and only repeat them. */
export const knownSecretsOf = (
  secrets: readonly SecretContent[],
  objects: readonly KubernetesObject[],
): KnownSecret[] => [
  ...secrets
    .filter(({type = ''}) => !type.startsWith('helm.sh/'))
    .flatMap(({metadata, data = {}}) =>
      Object.entries(data).map(([key, content]) => [metadata.name, key, content] as const),
    )
    .filter(([, key]) => !NO_SECRETS.has(key))
    .flatMap(([secret, key, content]) => {
      const bytes = Buffer.from(content, 'base64');
      const text = bytes.toString('utf8');
      const isBinary = !Buffer.from(text).equals(bytes);
      return [
        {
          ...knownSecret(key, isBinary ? bytes.toString('latin1') : text),
          isBinary,
          source: `${secret}/${key}`,
        },
        ...knownSecretsWithin(text),
      ];
    }),
  ...containersIn(objects).flatMap(({env, command, args}) => [
    ...knownSecretsOfVariables(
      (env ?? []).flatMap(({name, value}) => (value === undefined ? [] : [{name, value}])),
    ),
    ...knownSecretsOfWords([...(command ?? []), ...(args ?? [])]),
  ]),
];

const CONTAINERS = new Set(['containers', 'initContainers', 'ephemeralContainers']);

/** Containers of pods, workloads and templates. */
function containersIn(value: unknown): Container[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) =>
    CONTAINERS.has(key) && Array.isArray(each) ? (each as Container[]) : containersIn(each),
  );
}

/** Only the rules: what they find is learned, and the redacted text is not used. */
const RULES_ONLY: SecretSearch = {
  isStrict: false,
  rules: ruleScanner('standard'),
  knownValues: new KnownValueSearch({known: [], notUsed: []}),
  pseudonymOf: () => 'secret',
};

/** Secrets inside a value that can also stand alone: what the rules of the redactor find in it, such as passwords of URLs and files. */
function knownSecretsWithin(text: string, kind = 'password'): KnownSecret[] {
  const found = new Map<string, KnownSecret>();
  const file = new FileRedactor(RULES_ONLY, ({key = kind}, bytes) => {
    const value = Buffer.from(bytes, 'latin1').toString('utf8');
    if (!found.has(value)) found.set(value, knownSecret(key, value));
    const password = key === 'auth' ? passwordIn(value) : undefined;
    if (password !== undefined) found.set(password, knownSecret('password', password));
  });
  file.push(Buffer.from(text, 'utf8'));
  file.end();
  return [...found.values()];
}

/** `auth` of a registry is user and password in base64. */
const passwordIn = (auth: string): string | undefined =>
  /^[\x20-\x7e]+?:([\x20-\x7e]+)$/.exec(Buffer.from(auth, 'base64').toString('latin1'))?.[1];

export const knownSecret = (name: string, value: string): KnownSecret => ({
  kind: name.replace(/^-+/, '').toLowerCase().replaceAll('_', '-'),
  value: new Secret(value),
});

/** Excludes references to a secret and its type, which would be redacted everywhere. */
function isSecret(key: string, value: string): boolean {
  const kind = keyKind(key);
  if (
    isHarmless(value) ||
    isCode(value) ||
    isErrorText(value) ||
    isPlace(key, value) ||
    (kind === 'word' && /^[/~]/.test(value))
  )
    return false;
  return kind === 'secret' || (kind === 'word' && !isProse(value));
}

export const looksSecret = ({name, value}: Variable): boolean => isSecret(name, value);

/** Values to redact everywhere: variables that look secret, and secrets inside of others. */
export const knownSecretsOfVariables = (variables: readonly Variable[]): KnownSecret[] =>
  variables.flatMap((variable) => [
    ...(looksSecret(variable) ? [knownSecret(variable.name, variable.value)] : []),
    ...knownSecretsWithin(variable.value, 'proxy-password'),
  ]);

/** Secrets in the words of a command, such as `--token VALUE`, also inside of a script. */
export const knownSecretsOfWords = (words: readonly string[]): KnownSecret[] =>
  knownSecretsWithin(JSON.stringify(words));

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
export const withoutSecrets = <T>(object: T, hide: (value: string) => string): T =>
  cleaned(object, hide) as T;

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

const withoutCopies = (annotations: Fields): Fields =>
  Object.fromEntries(Object.entries(annotations).filter(([key]) => !COPIES.has(key)));

/** Names and sizes are sufficient for support: whether the key exists, is empty or ends in a line break. */
function withoutData(fields: Fields): Fields {
  const isSecret =
    fields['kind'] === 'Secret' || (typeof fields['type'] === 'string' && isFields(fields['data']));
  const hidden = (
    data: unknown,
    size: (text: string) => number,
    keys: (key: string) => boolean,
  ): unknown =>
    isFields(data)
      ? Object.fromEntries(
          Object.entries(data).map(([key, each]) => [
            key,
            keys(key) ? `[redacted: ${size(String(each))} bytes]` : each,
          ]),
        )
      : data;
  const replaced = (keys: (key: string) => boolean): Fields => ({
    ...fields,
    ...('data' in fields && {
      data: hidden(fields['data'], isSecret ? decodedSize : Buffer.byteLength, keys),
    }),
    ...('stringData' in fields && {
      stringData: hidden(fields['stringData'], Buffer.byteLength, keys),
    }),
  });
  if (isSecret) return replaced(() => true);
  return isHelmRecord(fields) ? replaced((key) => key === 'release') : fields;
}

const decodedSize = (text: string): number => Buffer.from(text, 'base64').length;

/** Helm stores manifests and values, including Secrets in clear text, in its own Secrets or ConfigMaps. */
function isHelmRecord({metadata}: Fields): boolean {
  if (!isFields(metadata)) return false;
  const {labels, name} = metadata as {labels?: Fields; name?: unknown};
  return (
    labels?.['owner'] === 'helm' ||
    labels?.['OWNER'] === 'TILLER' ||
    String(name).startsWith('sh.helm.release.')
  );
}

const isHiddenVariable = (key: string, value: unknown, {name}: Fields): value is string =>
  key === 'value' &&
  typeof value === 'string' &&
  !isHarmless(value) &&
  typeof name === 'string' &&
  keyKind(name) === 'secret';
