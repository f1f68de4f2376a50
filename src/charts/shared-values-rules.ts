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

/** Kubernetes refuses a mount of a volume that is not there, and two volumes of one name. */
export const mountsOfVolumes = (volumes: string, mounts: readonly string[], own: readonly string[], range: string): ValuesRule => ({
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
    const dangling = mounts.flatMap((path) =>
      itemsAt(values, path).flatMap((mount, index) => {
        const name = nameOf(mount);
        if (name === undefined || extra.includes(name) || own.includes(name)) return [];
        return [{path: [...at(path), index, 'name'], message: `There is no volume ${name}.`, suggestion: `Add it to ${volumes}`}];
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
