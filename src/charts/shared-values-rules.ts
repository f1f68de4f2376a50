import {identities, urlOfAccount} from './address-rules.ts';
import type {IgnoredKey, ValuesRule} from './define.ts';
import {at, getAt, isMap, isOn, itemsAt, type Tree, textAt, type Values} from './tree.ts';

const nameOf = (item: Tree): string | undefined => (isMap(item) && typeof item['name'] === 'string' ? item['name'] : undefined);

type Text = string | ((values: Values, key: string) => string);

interface KeyRule extends Omit<ValuesRule, 'test'> {
  keys: readonly string[];
  isWrong(values: Values, key: string): boolean;
  message: Text;
  suggestion?: Text | undefined;
}

/** One finding for each of the keys that is wrong. */
export const keyRule = ({keys, isWrong, message, suggestion, ...rule}: KeyRule): ValuesRule => ({
  ...rule,
  test: (values) => {
    const say = (text: Text, key: string): string => (typeof text === 'string' ? text : text(values, key));
    return keys
      .filter((key) => isWrong(values, key))
      .map((key) => ({
        path: at(key),
        message: say(message, key),
        ...(suggestion === undefined ? {} : {suggestion: say(suggestion, key)}),
      }));
  },
});

/** Which keys of which versions; without `in` all of them. */
type Keys = Pick<KeyRule, 'in' | 'keys'>;

/** Helm puts the token into the Secret as it stands. */
const tokenInOnePiece = keyRule({
  code: 'BROKEN_TOKEN',
  severity: 'error',
  keys: ['agent.token'],
  isWrong: (values, key) => /\s/.test(textAt(values, key)),
  message: 'The token holds blanks or line ends, and the agent sends them along.',
  suggestion: 'Copy it again in one piece',
});

/** Numbers of which zero takes everything away. `what` completes "zero …". */
export const aboveZero = ({what, ...keys}: Keys & {what: string}): ValuesRule =>
  keyRule({
    ...keys,
    code: 'ZERO',
    severity: 'warning',
    isWrong: (values, key) => /^0+(\.0*)?[A-Za-z]*$/.test(String(getAt(values, at(key)) ?? '')),
    message: `Zero ${what}.`,
    suggestion: 'Leave it out to keep the default',
  });

/** The program that starts runs asks Kubernetes with the token of its account. */
export const tokenOfAccount = (program: string): ValuesRule =>
  keyRule({
    code: 'NO_PERMISSIONS',
    severity: 'error',
    keys: ['serviceAccount.automountToken'],
    isWrong: (values, key) => getAt(values, at(key)) === false,
    message: `Without the token of its service account ${program} cannot ask Kubernetes for the pods of runs.`,
    suggestion: 'Leave it true',
  });

/** All three charts drop annotations of an account that they do not create. */
export const annotationsWithoutAccount: IgnoredKey = {
  path: 'serviceAccount.annotations',
  unless: (values) => isOn(values, 'serviceAccount.create'),
  because: 'the chart creates no service account',
  instead: 'serviceAccount.create: true',
};

/** Rules that hold for all three charts. */
export const sharedValuesRules: readonly ValuesRule[] = [tokenInOnePiece, urlOfAccount, identities];

/** One directory cannot hold two mounts. */
export const separateDirectories = keyRule({
  code: 'DIRECTORIES_COLLIDE',
  in: '>=0.5.64',
  severity: 'error',
  keys: ['agent.dataDir', 'agent.cacheDir'],
  isWrong: (values) => textAt(values, 'agent.dataDir') !== '' && textAt(values, 'agent.dataDir') === textAt(values, 'agent.cacheDir'),
  message: 'agent.dataDir and agent.cacheDir are the same directory, and each is mounted there.',
});

/** A volume is mounted there. */
export const directories = (keys: Keys): ValuesRule =>
  keyRule({
    ...keys,
    code: 'NO_DIRECTORY',
    severity: 'error',
    isWrong: (values, key) => getAt(values, at(key)) === '',
    message: 'Kubernetes mounts a volume here and wants a path.',
    suggestion: 'Leave it out to keep the default',
  });

/** The policy of some versions selects their own pods only. */
export const runsNotCovered = ({covered, ...rule}: {in?: string; covered: string}): ValuesRule =>
  keyRule({
    ...rule,
    code: 'RUNS_NOT_COVERED',
    severity: 'warning',
    keys: ['restrictMetadataService'],
    isWrong: isOn,
    message: `This covers ${covered}, not the pods of runs, and its policy has no DNS rule: where it is enforced it can cut DNS as well.`,
  });

/** Certificates here go into a Secret as they stand; base64 would be encoded twice. */
const wantsPem = (keys: Keys): ValuesRule =>
  keyRule({
    ...keys,
    code: 'NOT_PEM',
    severity: 'error',
    isWrong: (values, key) => textAt(values, key) !== '' && !textAt(values, key).includes('-----BEGIN '),
    message: 'This takes the text of a PEM file (-----BEGIN …), neither base64 nor a path.',
    suggestion: (_, key) => `${key}: |`,
  });

/** Two ways to give the same, of which one wins in silence. */
export const otherKeyWins = ({in: range, winner, loser}: {in: string; winner: string; loser: string}): ValuesRule =>
  keyRule({
    code: 'OTHER_KEY_WINS',
    in: range,
    severity: 'warning',
    keys: [loser],
    isWrong: (values) => textAt(values, winner) !== '' && textAt(values, loser) !== '',
    message: `${winner} is set and wins; this is dropped without a word.`,
  });

/** Without the other half the templates leave mutual TLS off in silence. */
const bothHalves = (tls: string, range: string): ValuesRule => {
  const [certificate, key, instead] = [`${tls}.clientCert`, `${tls}.clientKey`, `${tls}.clientCertSecret.name`];
  const missing = (given: string): string => (given === key ? certificate : key);
  return keyRule({
    code: 'HALF_CLIENT_CERTIFICATE',
    in: range,
    severity: 'error',
    keys: [certificate, key],
    isWrong: (values, given) => textAt(values, given) !== '' && textAt(values, missing(given)) === '' && textAt(values, instead) === '',
    message: (_, given) => `${missing(given)} is missing, so the templates leave client certificates off.`,
    suggestion: (_, given) => `Set ${missing(given)} too, or ${instead}`,
  });
};

/** What holds below `global.tls` and `agent.tls` alike, in the versions that have bundles and client certificates. */
export const certificateRules = ({tls, bundles, mutualTls}: {tls: string; bundles: string; mutualTls: string}): ValuesRule[] => [
  wantsPem({in: bundles, keys: [`${tls}.caBundle`]}),
  otherKeyWins({in: bundles, winner: `${tls}.caBundleSecret.name`, loser: `${tls}.caBundle`}),
  printedBare({in: bundles, keys: [`${tls}.caBundleSecret.name`, `${tls}.caBundleSecret.key`]}),
  keyOfSecret({in: bundles, secrets: [`${tls}.caBundleSecret.name`, `${tls}.caBundle`], keys: [`${tls}.caBundleSecret.key`]}),
  bothHalves(tls, mutualTls),
  wantsPem({in: mutualTls, keys: [`${tls}.clientCert`]}),
  otherKeyWins({in: mutualTls, winner: `${tls}.clientCertSecret.name`, loser: `${tls}.clientCert`}),
  printedBare({in: mutualTls, keys: ['name', 'certKey', 'keyKey'].map((key) => `${tls}.clientCertSecret.${key}`)}),
  keyOfSecret({
    in: mutualTls,
    secrets: [`${tls}.clientCertSecret.name`, `${tls}.clientCert`],
    keys: [`${tls}.clientCertSecret.certKey`, `${tls}.clientCertSecret.keyKey`],
  }),
];

/** Plain YAML that is no text, or another one. */
const MISREAD = [
  /^[-+]?\.?\d[\d_]*(\.[\d_]*)?(e[-+]?\d+)?$|^[-+]?0[xob][\da-f_]+$|^[-+]?\.(inf|nan)$/i,
  /^(y|n|yes|no|on|off|true|false|null|~)$/i,
  /^[\s!&*?|>%@`"'#{}[\],]|^-$|^- |[\s]$|\n|:(\s|$)|\s#/,
];

/** Templates print these without quotes, so the manifest may hold a number or nothing where the file holds a text. */
export function printedBare(keys: Keys): ValuesRule {
  return keyRule({
    ...keys,
    code: 'MISREAD_IN_MANIFEST',
    severity: 'error',
    isWrong: (values, key) => MISREAD.some((pattern) => pattern.test(textAt(values, key))),
    message: (values, key) =>
      `The templates print ${JSON.stringify(textAt(values, key))} without quotes, and Helm reads something else from the manifest.`,
    suggestion: 'Choose a name that begins with a letter and is no YAML word',
  });
}

/** null takes a default away that these templates cannot do without. */
export const notNull = (keys: Keys): ValuesRule =>
  keyRule({
    ...keys,
    code: 'NULL_DELETES_DEFAULT',
    severity: 'error',
    isWrong: (values, key) => getAt(values, at(key)) === undefined,
    message: 'The templates break on null here.',
    suggestion: 'Leave the key out, or write {}',
  });

/** Keys of a Secret, which only count together with one of the `secrets`. */
export function keyOfSecret({secrets, ...keys}: Keys & {secrets: readonly string[]}): ValuesRule {
  return keyRule({
    ...keys,
    code: 'NO_KEY_OF_SECRET',
    severity: 'error',
    isWrong: (values, key) => secrets.some((secret) => textAt(values, secret) !== '') && getAt(values, at(key)) === '',
    message: 'Without the key nothing is taken from the Secret.',
    suggestion: 'Leave it out to keep the default',
  });
}

/** Labels below these keys by which the chart's own selectors find pods. */
export const selectorLabels = ({labels, because, keys, ...rule}: Keys & {labels: readonly string[]; because: string}): ValuesRule => ({
  ...rule,
  code: 'SELECTOR_LABEL',
  severity: 'error',
  test: (values) =>
    keys.flatMap((key) => {
      const found = getAt(values, at(key));
      return labels
        .filter((label) => isMap(found) && found[label] !== undefined)
        .map((label) => ({path: [...at(key), label], message: because, suggestion: `Leave ${label} out`}));
    }),
});

interface MountKeys {
  in: string;
  /** Key of the list of extra volumes, and keys of lists of mounts. */
  volumes: string;
  mounts: readonly string[];
  /** Key of a list of containers with mounts of their own. */
  containers?: string;
  /** Names of the chart's own volumes. */
  own: readonly string[];
}

/** Kubernetes refuses a mount of a volume that is not there, and two volumes of one name. */
export const mountsOfVolumes = ({in: range, volumes, mounts, containers, own}: MountKeys): ValuesRule => ({
  code: 'VOLUME_NOT_FOUND',
  in: range,
  severity: 'error',
  test: (values) => {
    const extra = itemsAt(values, volumes).map(nameOf);
    const repeated = extra.flatMap((name, index) => {
      if (name === undefined || !own.includes(name)) return [];
      const message = `The chart has a volume ${name} of its own.`;
      return [{path: [...at(volumes), index, 'name'], message, suggestion: 'Choose another name'}];
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
        return [{path: [...path, index, 'name'], message: `There is no volume ${name}.`, suggestion: `Add it to ${volumes}`}];
      }),
    );
    return [...repeated, ...dangling];
  },
});

/** A key that counts only while a switch is on. */
export const needsSwitch = ({key, on, ...rule}: {in?: string; key: string; on: string}): ValuesRule =>
  keyRule({
    ...rule,
    code: 'SWITCH_IS_OFF',
    severity: 'error',
    keys: [key],
    isWrong: (values) => textAt(values, key) !== '' && !isOn(values, on),
    message: `This counts only with ${on}: true.`,
    suggestion: `${on}: true`,
  });

/** Claims that the chart makes need a size; `volumes` are the maps that hold them. */
export const sizedClaims = ({volumes, ...rule}: {in?: string; volumes: readonly string[]}): ValuesRule =>
  keyRule({
    ...rule,
    code: 'CLAIM_WITHOUT_SIZE',
    severity: 'error',
    keys: volumes.map((volume) => `${volume}.persistentVolumeClaim.storage`),
    isWrong: (values, key) => {
      const claim = key.replace(/\.storage$/, '');
      const isMade = isOn(values, claim.replace(/\.persistentVolumeClaim$/, '.enabled')) && textAt(values, `${claim}.claimName`) === '';
      return isMade && /^[+-]?0*(\.0*)?[A-Za-z]*$/.test(String(getAt(values, at(key)) ?? ''));
    },
    message: 'A claim needs a size above zero.',
    suggestion: '20Gi',
  });

/** Kubernetes takes no slash at the start, and these templates leave it there. */
export const relativeSubPaths = (keys: readonly string[]): ValuesRule =>
  keyRule({
    code: 'ABSOLUTE_SUB_PATH',
    severity: 'error',
    keys,
    isWrong: (values, key) => textAt(values, key).startsWith('/'),
    message: 'A sub path starts without a slash.',
    suggestion: (values, key) => JSON.stringify(textAt(values, key).replace(/^\/+/, '')),
  });
