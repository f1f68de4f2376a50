import type {ValuesRule} from '../define.ts';
import {getAt} from '../tree.ts';
import {directories, separateDirectories, tokenInOnePiece, urlOfAccount} from '../values-rules/agent.ts';
import {certificateRules} from '../values-rules/certificates.ts';
import {textAt} from '../values-rules/reading.ts';
import {keyOfSecret, printedBare} from '../values-rules/texts.ts';
import {mountsOfVolumes, needsSwitch, relativeSubPaths, sizedClaims} from '../values-rules/volumes.ts';

const MUTUAL_TLS = '0.5.73 - 0.5.74 || >=0.6.1';
const OLD = 'persistence.persistentVolumeClaim';
const CACHE = 'persistence.cache.persistentVolumeClaim';
const DATA = 'persistence.data.persistentVolumeClaim';
const SPLIT = '0.5.74 || >=0.6.1';

/** Rules between keys of agent-local. */
export const valuesRules: readonly ValuesRule[] = [
  tokenInOnePiece,
  urlOfAccount,
  separateDirectories,
  ...certificateRules('agent.tls', '>=0.6.1', MUTUAL_TLS),
  mountsOfVolumes('extraVolumes', ['extraVolumeMounts'], ['data-dir', 'cache-dir', 'client-cert', 'ca-bundle'], '>=0.6.1'),
  needsSwitch('T19', '*', 'persistence.persistentVolumeClaim.claimName', 'persistence.enabled'),
  ...['data', 'cache'].map((name) =>
    needsSwitch('T15', SPLIT, `persistence.${name}.persistentVolumeClaim.claimName`, `persistence.${name}.enabled`),
  ),
  printedBare(
    '*',
    'nameOverride',
    'fullnameOverride',
    'serviceAccount.name',
    'agent.dataDir',
    'agent.cacheDir',
    `${OLD}.claimName`,
    `${OLD}.subPath`,
  ),
  printedBare(SPLIT, `${CACHE}.claimName`, `${CACHE}.subPath`, `${DATA}.claimName`, `${DATA}.subPath`),
  printedBare('<=0.6.1', `${OLD}.storageClassName`, `${CACHE}.storageClassName`, `${DATA}.storageClassName`),
  sizedClaims('*', 'persistence'),
  sizedClaims(SPLIT, 'persistence.cache', 'persistence.data'),
  keyOfSecret('*', ['agent.tokenExistingSecret.name'], 'agent.tokenExistingSecret.key'),
  relativeSubPaths('*', OLD, CACHE, DATA),
  {
    id: 'R4',
    code: 'TEXT_FOR_NUMBER',
    severity: 'error',
    test: (values) =>
      textAt(values, 'terminationGracePeriodSeconds') === ''
        ? []
        : [{path: ['terminationGracePeriodSeconds'], message: 'The schema of the chart wants a number here, without quotes.'}],
  },
  {
    id: 'API',
    code: 'NOTHING_TO_ROLL',
    severity: 'error',
    test: (values) => {
      const [surge, unavailable] = ['maxSurge', 'maxUnavailable'].map((key) => getAt(values, ['strategy', 'rollingUpdate', key]));
      const isNothing = [surge, unavailable].every((each) => /^0+%?$/.test(String(each)));
      const path = ['strategy', 'rollingUpdate'];
      return isNothing && textAt(values, 'strategy.type') === 'RollingUpdate'
        ? ['maxSurge', 'maxUnavailable'].map((key) => ({
            path: [...path, key],
            message: 'One of maxSurge and maxUnavailable has to be above zero.',
          }))
        : [];
    },
  },
  directories('*', 'agent.dataDir'),
  directories('>=0.5.64', 'agent.cacheDir'),
];
