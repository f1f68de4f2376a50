import type {ValuesRule} from './define.ts';
import {at, getAt, isMap, type Tree, type Values} from './tree.ts';

export const textAt = (values: Values, path: string): string => {
  const found = getAt(values, at(path));
  return typeof found === 'string' ? found : '';
};

export const isOn = (values: Values, path: string): boolean => getAt(values, at(path)) === true;

const itemsAt = (values: Values, path: string): Tree[] => {
  const found = getAt(values, at(path));
  return Array.isArray(found) ? found : [];
};

const nameOf = (item: Tree): string | undefined => (isMap(item) && typeof item['name'] === 'string' ? item['name'] : undefined);

/** R1: Helm puts the token into the Secret as it stands. */
export const tokenInOnePiece: ValuesRule = {
  id: 'R1',
  code: 'BROKEN_TOKEN',
  severity: 'error',
  test: (values) =>
    /\s/.test(textAt(values, 'agent.token'))
      ? [
          {
            path: at('agent.token'),
            message: 'The token holds blanks or line ends, and the agent sends them along.',
            suggestion: 'Copy it again in one piece',
          },
        ]
      : [],
};

/** R25: certificates here go into a Secret as they stand; base64 would be encoded twice. */
export const wantsPem = (path: string, range: string): ValuesRule => ({
  id: 'R25',
  code: 'NOT_PEM',
  in: range,
  severity: 'error',
  test: (values) => {
    const text = textAt(values, path);
    return text === '' || text.includes('-----BEGIN ')
      ? []
      : [
          {
            path: at(path),
            message: 'This takes the text of a PEM file (-----BEGIN …), neither base64 nor a path.',
            suggestion: `${path}: |`,
          },
        ];
  },
});

/** Two ways to give the same, of which one wins in silence. */
export const wins = (id: string, range: string, winner: string, loser: string): ValuesRule => ({
  id,
  code: 'OTHER_KEY_WINS',
  in: range,
  severity: 'warning',
  test: (values) =>
    textAt(values, winner) !== '' && textAt(values, loser) !== ''
      ? [{path: at(loser), message: `${winner} is set and wins; this is dropped without a word.`}]
      : [],
});

/** R27: without the other half the templates leave mutual TLS off in silence. */
export const bothHalves = (certificate: string, key: string, instead: string, range: string): ValuesRule => ({
  id: 'R27',
  code: 'HALF_CLIENT_CERTIFICATE',
  in: range,
  severity: 'error',
  test: (values) => {
    const [one, other] = [textAt(values, certificate), textAt(values, key)];
    if (textAt(values, instead) !== '' || (one === '') === (other === '')) return [];
    const [given, missing] = one === '' ? [key, certificate] : [certificate, key];
    return [
      {
        path: at(given),
        message: `${missing} is missing, so the templates leave client certificates off.`,
        suggestion: `Set ${missing} too, or ${instead}`,
      },
    ];
  },
});

/** Lists of mounts: at the keys themselves, and in each container of a list. */
const mountLists = (values: Values, mounts: readonly string[], containers?: string): [(string | number)[], Tree[]][] => [
  ...mounts.map((path): [(string | number)[], Tree[]] => [[...at(path)], itemsAt(values, path)]),
  ...(containers === undefined ? [] : itemsAt(values, containers)).map((each, index): [(string | number)[], Tree[]] => {
    const found = isMap(each) ? each['volumeMounts'] : undefined;
    return [[...at(containers as string), index, 'volumeMounts'], Array.isArray(found) ? found : []];
  }),
];

/** Kubernetes refuses a mount of a volume that is not there, and two volumes of one name. */
export const mountsOfVolumes = (
  volumes: string,
  mounts: readonly string[],
  own: readonly string[],
  range: string,
  containers?: string,
): ValuesRule => ({
  id: 'API',
  code: 'VOLUME_NOT_FOUND',
  in: range,
  severity: 'error',
  test: (values) => {
    const extra = itemsAt(values, volumes).map(nameOf);
    const repeated = extra.flatMap((name, index) =>
      name !== undefined && own.includes(name)
        ? [
            {
              path: [...at(volumes), index, 'name'],
              message: `The chart has a volume ${name} of its own.`,
              suggestion: 'Choose another name',
            },
          ]
        : [],
    );
    const dangling = mountLists(values, mounts, containers).flatMap(([path, items]) =>
      items.flatMap((mount, index) => {
        const name = nameOf(mount);
        if (name === undefined || extra.includes(name) || own.includes(name)) return [];
        return [{path: [...path, index, 'name'], message: `There is no volume ${name}.`, suggestion: `Add it to ${volumes}`}];
      }),
    );
    return [...repeated, ...dangling];
  },
});

/** Labels by which the chart's own selectors find pods. */
export const selectorLabels = (
  id: string,
  range: string,
  paths: readonly string[],
  labels: readonly string[],
  because: string,
): ValuesRule => ({
  id,
  code: 'SELECTOR_LABEL',
  in: range,
  severity: 'error',
  test: (values) =>
    paths.flatMap((path) => {
      const found = getAt(values, at(path));
      return labels
        .filter((label) => isMap(found) && found[label] !== undefined)
        .map((label) => ({path: [...at(path), label], message: because, suggestion: `Leave ${label} out`}));
    }),
});

/** R22: one directory cannot hold two mounts. */
export const separateDirectories: ValuesRule = {
  id: 'R22',
  code: 'DIRECTORIES_COLLIDE',
  in: '>=0.5.64',
  severity: 'error',
  test: (values) =>
    textAt(values, 'agent.dataDir') !== '' && textAt(values, 'agent.dataDir') === textAt(values, 'agent.cacheDir')
      ? ['agent.dataDir', 'agent.cacheDir'].map((path) => ({
          path: at(path),
          message: 'agent.dataDir and agent.cacheDir are the same directory, and each is mounted there.',
        }))
      : [],
};

/** A key that counts only while a switch is on. */
export const needsSwitch = (id: string, range: string, path: string, on: string): ValuesRule => ({
  id,
  code: 'SWITCH_IS_OFF',
  in: range,
  severity: 'error',
  test: (values) =>
    textAt(values, path) !== '' && !isOn(values, on)
      ? [{path: at(path), message: `This counts only with ${on}: true.`, suggestion: `${on}: true`}]
      : [],
});

/** R3: what an agent can reach under its URL. */
export const urlOfAccount: ValuesRule = {
  id: 'R3',
  code: 'INVALID_URL',
  severity: 'error',
  test: (values) => {
    const url = textAt(values, 'agent.url');
    if (url === '' || /[<{]/.test(url)) return [];
    const isHttps = URL.canParse(url) && new URL(url).protocol === 'https:' && !/\s/.test(url);
    const host = /^(?:\w+:\/\/)?([\w.-]+\.[a-z]{2,}(?::\d+)?)\/?/i.exec(url)?.[1];
    return isHttps
      ? []
      : [{path: at('agent.url'), message: `"${url}" is no https:// URL.`, ...(host ? {suggestion: `"https://${host}"`} : {})}];
  },
};

/** Plain YAML that is no text, or another one. */
const MISREAD = [
  /^[-+]?\.?\d[\d_]*(\.[\d_]*)?(e[-+]?\d+)?$|^[-+]?0[xob][\da-f_]+$|^[-+]?\.(inf|nan)$/i,
  /^(y|n|yes|no|on|off|true|false|null|~)$/i,
  /^[\s!&*?|>%@`"'#{}[\],]|^-$|^- |[\s]$|\n|:(\s|$)|\s#/,
];

/** Templates print these without quotes, so the manifest may hold a number or nothing where the file holds a text. */
export const printedBare = (range: string, ...paths: readonly string[]): ValuesRule => ({
  id: 'R39',
  code: 'MISREAD_IN_MANIFEST',
  in: range,
  severity: 'error',
  test: (values) =>
    paths
      .filter((path) => MISREAD.some((pattern) => pattern.test(textAt(values, path))))
      .map((path) => ({
        path: at(path),
        message: `The templates print ${JSON.stringify(textAt(values, path))} without quotes, and Helm reads something else from the manifest.`,
        suggestion: 'Choose a name that begins with a letter and is no YAML word',
      })),
});

/** A claim that the chart makes needs a size. */
export const sizedClaims = (range: string, ...parents: readonly string[]): ValuesRule => ({
  id: 'API',
  code: 'CLAIM_WITHOUT_SIZE',
  in: range,
  severity: 'error',
  test: (values) =>
    parents
      .filter((parent) => isOn(values, `${parent}.enabled`) && textAt(values, `${parent}.persistentVolumeClaim.claimName`) === '')
      .map((parent) => at(`${parent}.persistentVolumeClaim.storage`))
      .filter((path) => /^[+-]?0*(\.0*)?[A-Za-z]*$/.test(String(getAt(values, path) ?? '')))
      .map((path) => ({path, message: 'A claim needs a size above zero.', suggestion: '20Gi'})),
});

/** null takes a default away that these templates cannot do without. */
export const notNull = (range: string, ...paths: readonly string[]): ValuesRule => ({
  id: 'R36',
  code: 'NULL_DELETES_DEFAULT',
  in: range,
  severity: 'error',
  test: (values) =>
    paths
      .filter((path) => getAt(values, at(path)) === undefined)
      .map((path) => ({path: at(path), message: 'The templates break on null here.', suggestion: 'Leave the key out, or write {}'})),
});

/** The key of a Secret, which only counts together with the Secret. */
export const keyOfSecret = (range: string, secret: readonly string[], ...keys: readonly string[]): ValuesRule => ({
  id: 'R2',
  code: 'NO_KEY_OF_SECRET',
  in: range,
  severity: 'error',
  test: (values) =>
    secret.some((path) => textAt(values, path) !== '')
      ? keys
          .filter((path) => getAt(values, at(path)) === '')
          .map((path) => ({
            path: at(path),
            message: 'Without the key nothing is taken from the Secret.',
            suggestion: 'Leave it out to keep the default',
          }))
      : [],
});

/** Kubernetes takes no slash at the start, and these templates leave it there. */
export const relativeSubPaths = (range: string, ...claims: readonly string[]): ValuesRule => ({
  id: 'API',
  code: 'ABSOLUTE_SUB_PATH',
  in: range,
  severity: 'error',
  test: (values) =>
    claims
      .map((claim) => `${claim}.subPath`)
      .filter((path) => textAt(values, path).startsWith('/'))
      .map((path) => ({
        path: at(path),
        message: 'A sub path starts without a slash.',
        suggestion: JSON.stringify(textAt(values, path).replace(/^\/+/, '')),
      })),
});

/** A volume is mounted there. */
export const directories = (range: string, ...paths: readonly string[]): ValuesRule => ({
  id: 'R22',
  code: 'NO_DIRECTORY',
  in: range,
  severity: 'error',
  test: (values) =>
    paths
      .filter((path) => getAt(values, at(path)) === '')
      .map((path) => ({
        path: at(path),
        message: 'Kubernetes mounts a volume here and wants a path.',
        suggestion: 'Leave it out to keep the default',
      })),
});
