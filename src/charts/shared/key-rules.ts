import {at, getAt, isMap, isOn, itemsAt, textAt} from '../../ground/tree.ts';
import {isHost} from '../../settings/kinds/hosts.ts';
import {withoutCredentials} from '../../settings/kinds/urls.ts';
import {identities} from './clouds.ts';
import {type Keys, keyError, keyWarning} from './key-rule.ts';
import type {ValuesRule} from './rule.ts';

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
  verdict: 'error',
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
  verdict: 'error',
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

/** Labels that the selectors of the chart use. */
export const selectorLabels = ({
  labels,
  because,
  keys,
  ...rule
}: Keys & {labels: readonly string[]; because: string}): ValuesRule => ({
  ...rule,
  code: 'SELECTOR_LABEL',
  verdict: 'error',
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
