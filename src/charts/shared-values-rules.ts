import {at, getAt, isMap, isOn, itemsAt, type Tree, textAt, type Values} from '../ground/tree.ts';
import {isHost, withoutCredentials} from '../settings/addresses.ts';
import {identities} from './clouds.ts';
import type {ValuesRule} from './define.ts';

const nameOf = (item: Tree): string | undefined =>
  isMap(item) && typeof item['name'] === 'string' ? item['name'] : undefined;

type Text = string | ((values: Values, key: string) => string);

interface KeyRule extends Pick<ValuesRule, 'in'> {
  keys: readonly string[];
  isWrong(values: Values, key: string): boolean;
  message: Text;
  suggestion?: Text | undefined;
}

/** One finding per invalid key. */
const keyRule =
  (severity: ValuesRule['severity']) =>
  (code: string, {keys, isWrong, message, suggestion, ...rule}: KeyRule): ValuesRule => ({
    ...rule,
    code,
    severity,
    test: (values) => {
      const say = (text: Text, key: string): string =>
        typeof text === 'string' ? text : text(values, key);
      return keys
        .filter((key) => isWrong(values, key))
        .map((key) => ({
          path: at(key),
          message: say(message, key),
          suggestion: suggestion && say(suggestion, key),
        }));
    },
  });

export const keyError = keyRule('error');
export const keyWarning = keyRule('warning');

/** Keys and their versions (default: all). */
type Keys = Pick<KeyRule, 'in' | 'keys'>;

/** The chart copies the token into the Secret unchanged. */
const tokenInOnePiece = keyError('BROKEN_TOKEN', {
  keys: ['agent.token'],
  isWrong: (values, key) => /\s/.test(textAt(values, key)),
  message: 'The token contains whitespace, which the agent sends as part of the token.',
  suggestion: 'Copy the token again without spaces and line breaks',
});

/** The Scalr URL must be an https URL with a valid host. */
const urlOfAccount: ValuesRule = {
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
  if (!isHost(parsed.hostname) || parsed.port === '0')
    return {message: `"${parsed.host}" is not a host with an optional port.`};
  const isMore =
    parsed.username !== '' || parsed.pathname !== '/' || parsed.search !== '' || parsed.hash !== '';
  return isMore
    ? {message: 'The URL contains more than a host.', suggestion: `"${parsed.origin}"`}
    : undefined;
}

/** Provider mirrors must use https. */
export const httpsMirrors: ValuesRule = {
  code: 'INVALID_URL',
  in: '>=0.6.4',
  severity: 'error',
  test: (values) =>
    itemsAt(values, 'agent.providerNetworkMirrors').flatMap((item, index) => {
      const url = isMap(item) ? item['url'] : undefined;
      if (typeof url !== 'string' || (URL.canParse(url) && new URL(url).protocol === 'https:'))
        return [];
      return [
        {
          path: [...at('agent.providerNetworkMirrors'), index, 'url'],
          message: `"${url}" is not an https:// URL.`,
        },
      ];
    }),
};

/** Numbers for which zero disables the feature. */
export const zeroDisables = ({message, ...keys}: Keys & {message: string}): ValuesRule =>
  keyWarning('ZERO_VALUE', {
    ...keys,
    isWrong: (values, key) => /^0+(\.0*)?[A-Za-z]*$/.test(String(getAt(values, at(key)) ?? '')),
    message,
    suggestion: 'Remove it to use the chart default',
  });

/** The component that starts runs authenticates to Kubernetes with its service account token. */
export const requiresServiceAccountToken = (program: string): ValuesRule =>
  keyError('NO_PERMISSIONS', {
    keys: ['serviceAccount.automountToken'],
    isWrong: (values, key) => getAt(values, at(key)) === false,
    message: `Without its service account token, ${program} cannot create run pods.`,
    suggestion: 'Set it to true',
  });

/** Rules that hold for all three charts. */
export const sharedValuesRules: readonly ValuesRule[] = [tokenInOnePiece, urlOfAccount, identities];

/** Two volumes cannot have the same mount path. */
export const separateDirectories = keyError('DIRECTORIES_COLLIDE', {
  in: '>=0.5.64',
  keys: ['agent.dataDir', 'agent.cacheDir'],
  isWrong: (values) =>
    textAt(values, 'agent.dataDir') !== '' &&
    textAt(values, 'agent.dataDir') === textAt(values, 'agent.cacheDir'),
  message:
    'agent.dataDir and agent.cacheDir must be different directories, because each is a mount path.',
});

/** Directories where a volume is mounted. */
export const directories = (keys: Keys): ValuesRule =>
  keyError('DIRECTORY_REQUIRED', {
    ...keys,
    isWrong: (values, key) => getAt(values, at(key)) === '',
    message: 'The value must not be empty, because a volume is mounted at this path.',
    suggestion: 'Remove it to use the chart default',
  });

/** The policy of some versions does not select run pods. */
export const runsNotCovered = ({
  covered,
  fixedIn,
  ...rule
}: {
  in?: string;
  covered: string;
  fixedIn?: string;
}): ValuesRule =>
  keyWarning('RUNS_NOT_COVERED', {
    ...rule,
    keys: ['restrictMetadataService'],
    isWrong: isOn,
    message: `The policy applies to ${covered}, not to run pods, and has no DNS rule. Where it is enforced, it can block DNS.${fixedIn === undefined ? '' : ` Fixed in ${fixedIn}.`}`,
  });

/** Certificates are copied into a Secret unchanged; base64 would be encoded twice. */
const wantsPem = (keys: Keys): ValuesRule =>
  keyError('NOT_PEM', {
    ...keys,
    isWrong: (values, key) =>
      textAt(values, key) !== '' && !textAt(values, key).includes('-----BEGIN '),
    message: 'The value must be the content of a PEM file (-----BEGIN …), not base64 or a path.',
    suggestion: (_, key) => `${key}: |`,
  });

/** Two keys for the same value, one of which is silently ignored. */
export const overriddenKey = ({
  in: range,
  winner,
  loser,
}: {
  in: string;
  winner: string;
  loser: string;
}): ValuesRule =>
  keyWarning('KEY_OVERRIDDEN', {
    in: range,
    keys: [loser],
    isWrong: (values) => textAt(values, winner) !== '' && textAt(values, loser) !== '',
    message: `Ignored, because ${winner} is set and takes precedence.`,
  });

/** Without both certificate and key, mutual TLS is silently disabled. */
const bothHalves = (tls: string, range: string): ValuesRule => {
  const certificate = `${tls}.clientCert`;
  const key = `${tls}.clientKey`;
  const instead = `${tls}.clientCertSecret.name`;
  const missing = (given: string): string => (given === key ? certificate : key);
  return keyError('INCOMPLETE_CLIENT_CERTIFICATE', {
    in: range,
    keys: [certificate, key],
    isWrong: (values, given) =>
      textAt(values, given) !== '' &&
      textAt(values, missing(given)) === '' &&
      textAt(values, instead) === '',
    message: (_, given) =>
      `${missing(given)} is missing, so the chart does not configure client certificates.`,
    suggestion: (_, given) => `Set ${missing(given)} or ${instead}`,
  });
};

/** Rules for `global.tls` and `agent.tls`, in the versions that have CA bundles and client certificates. */
export const certificateRules = ({
  tls,
  bundles,
  mutualTls,
}: {
  tls: string;
  bundles: string;
  mutualTls: string;
}): ValuesRule[] => [
  wantsPem({in: bundles, keys: [`${tls}.caBundle`]}),
  overriddenKey({in: bundles, winner: `${tls}.caBundleSecret.name`, loser: `${tls}.caBundle`}),
  unquotedInTemplate({
    in: bundles,
    keys: [`${tls}.caBundleSecret.name`, `${tls}.caBundleSecret.key`],
  }),
  keyOfSecret({
    in: bundles,
    secrets: [`${tls}.caBundleSecret.name`, `${tls}.caBundle`],
    keys: [`${tls}.caBundleSecret.key`],
  }),
  bothHalves(tls, mutualTls),
  wantsPem({in: mutualTls, keys: [`${tls}.clientCert`]}),
  overriddenKey({
    in: mutualTls,
    winner: `${tls}.clientCertSecret.name`,
    loser: `${tls}.clientCert`,
  }),
  unquotedInTemplate({
    in: mutualTls,
    keys: ['name', 'certKey', 'keyKey'].map((key) => `${tls}.clientCertSecret.${key}`),
  }),
  keyOfSecret({
    in: mutualTls,
    secrets: [`${tls}.clientCertSecret.name`, `${tls}.clientCert`],
    keys: [`${tls}.clientCertSecret.certKey`, `${tls}.clientCertSecret.keyKey`],
  }),
];

/** Unquoted YAML that is not a string, or a different string. */
const MISREAD = [
  /^[-+]?\.?\d[\d_]*(\.[\d_]*)?(e[-+]?\d+)?$|^[-+]?0[xob][\da-f_]+$|^[-+]?\.(inf|nan)$/i,
  /^(y|n|yes|no|on|off|true|false|null|~)$/i,
  /^[\s!&*?|>%@`"'#{}[\],]|^-$|^- |[\s]$|\n|:(\s|$)|\s#/,
];

/** Values that are rendered without quotes, so they may not be strings in the manifest. */
export function unquotedInTemplate(keys: Keys): ValuesRule {
  return keyError('MISREAD_IN_MANIFEST', {
    ...keys,
    isWrong: (values, key) => MISREAD.some((pattern) => pattern.test(textAt(values, key))),
    message: (values, key) =>
      `${JSON.stringify(textAt(values, key))} is rendered without quotes, so it is not a string in the manifest.`,
    suggestion: 'Use a name that starts with a letter and is not a YAML keyword',
  });
}

/** Keys whose default is required, so null is an error. */
export const requiredDefault = (keys: Keys): ValuesRule =>
  keyError('NULL_DELETES_DEFAULT', {
    ...keys,
    isWrong: (values, key) => getAt(values, at(key)) === undefined,
    message: 'The chart cannot be rendered with null here.',
    suggestion: 'Remove the key, or set it to {}',
  });

/** Keys of a Secret, used only if one of `secrets` is set. */
export function keyOfSecret({secrets, ...keys}: Keys & {secrets: readonly string[]}): ValuesRule {
  return keyError('SECRET_KEY_REQUIRED', {
    ...keys,
    isWrong: (values, key) =>
      secrets.some((secret) => textAt(values, secret) !== '') && getAt(values, at(key)) === '',
    message: 'The key of the Secret must not be empty.',
    suggestion: 'Remove it to use the chart default',
  });
}

/** Labels that the selectors of the chart use. */
export const selectorLabels = ({
  labels,
  because,
  keys,
  ...rule
}: Keys & {labels: readonly string[]; because: string}): ValuesRule => ({
  ...rule,
  code: 'SELECTOR_LABEL',
  severity: 'error',
  test: (values) =>
    keys.flatMap((key) => {
      const found = getAt(values, at(key));
      return labels
        .filter((label) => isMap(found) && found[label] !== undefined)
        .map((label) => ({
          path: [...at(key), label],
          message: because,
          suggestion: `Remove ${label}`,
        }));
    }),
});

interface MountKeys {
  in: string;
  /** Key of the list of extra volumes, and keys of lists of mounts. */
  volumes: string;
  mounts: readonly string[];
  /** Key of a list of containers with mounts of their own. */
  containers?: string;
  /** Names of volumes that the chart defines. */
  own: readonly string[];
}

/** Kubernetes rejects mounts of missing volumes and duplicate volume names. */
export const requiresVolumes = ({
  in: range,
  volumes,
  mounts,
  containers,
  own,
}: MountKeys): ValuesRule => ({
  code: 'VOLUME_NOT_FOUND',
  in: range,
  severity: 'error',
  test: (values) => {
    const extra = itemsAt(values, volumes).map(nameOf);
    const repeated = extra.flatMap((name, index) => {
      if (name === undefined || !own.includes(name)) return [];
      const message = `The volume name ${name} is used by the chart.`;
      return [{path: [...at(volumes), index, 'name'], message, suggestion: 'Use another name'}];
    });
    const lists = [
      ...mounts.map((key) => ({path: at(key), items: itemsAt(values, key)})),
      ...(containers === undefined ? [] : itemsAt(values, containers)).map((each, index) => ({
        path: [...at(containers as string), index, 'volumeMounts'],
        items: isMap(each) ? itemsAt(each, 'volumeMounts') : [],
      })),
    ];
    const dangling = lists.flatMap(({path, items}) =>
      items.flatMap((mount, index) => {
        const name = nameOf(mount);
        if (name === undefined || extra.includes(name) || own.includes(name)) return [];
        return [
          {
            path: [...path, index, 'name'],
            message: `Volume ${name} not found.`,
            suggestion: `Add the volume to ${volumes}`,
          },
        ];
      }),
    );
    return [...repeated, ...dangling];
  },
});

export const requiresSwitch = ({
  key,
  on,
  ...rule
}: {
  in?: string;
  key: string;
  on: string;
}): ValuesRule =>
  keyError('FEATURE_DISABLED', {
    ...rule,
    keys: [key],
    isWrong: (values) => textAt(values, key) !== '' && !isOn(values, on),
    message: `Ignored unless ${on} is true.`,
    suggestion: `${on}: true`,
  });

/** PersistentVolumeClaims that the chart creates require a size; `volumes` are their parent keys. */
export const requiresClaimSize = ({
  volumes,
  ...rule
}: {
  in?: string;
  volumes: readonly string[];
}): ValuesRule =>
  keyError('PVC_SIZE_REQUIRED', {
    ...rule,
    keys: volumes.map((volume) => `${volume}.persistentVolumeClaim.storage`),
    isWrong: (values, key) => {
      const claim = key.replace(/\.storage$/, '');
      const isMade =
        isOn(values, claim.replace(/\.persistentVolumeClaim$/, '.enabled')) &&
        textAt(values, `${claim}.claimName`) === '';
      return isMade && /^[+-]?0*(\.0*)?[A-Za-z]*$/.test(String(getAt(values, at(key)) ?? ''));
    },
    message: 'The size of a PVC must be greater than zero.',
    suggestion: '20Gi',
  });
