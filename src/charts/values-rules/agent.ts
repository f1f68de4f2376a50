import type {ValuesRule} from '../define.ts';
import {at, getAt} from '../tree.ts';
import {isOn, textAt} from './reading.ts';

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

/** T4: the policy of some versions selects their own pods only. */
export const runsNotCovered = (range: string, covered: string): ValuesRule => ({
  id: 'T4',
  code: 'RUNS_NOT_COVERED',
  in: range,
  severity: 'warning',
  test: (values) =>
    isOn(values, 'restrictMetadataService')
      ? [
          {
            path: at('restrictMetadataService'),
            message: `This covers ${covered}, not the pods of runs, and its policy has no DNS rule (R31): where it is enforced it can cut DNS as well.`,
          },
        ]
      : [],
});
