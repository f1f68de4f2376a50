import {changing} from '../ground/finding.ts';
import {hostInToken} from '../ground/secret.ts';
import {defineSetting, type Get, type Setting} from './define.ts';
import {InvalidValue} from './kinds/kind.ts';
import {annotations, labels} from './kinds/lists.ts';
import {choice, dataKey, objectName, onOff} from './kinds/texts.ts';
import {secret} from './kinds/token.ts';
import {accountUrl, accountUrlOf} from './kinds/urls.ts';
import {release, secretNamesOf} from './release.ts';

export const url = defineSetting('Agent', 'url', {
  variable: 'SCALR_URL',
  question: 'Scalr URL',
  summary: 'Scalr URL, https://<account>.scalr.io. Not required if the token contains the host.',
  kind: accountUrl(),
  meant: accountUrlOf,
  explained: 'The URL in your browser when you are logged in to Scalr. Newer tokens contain it.',
  reference: 'https://docs.scalr.io/docs/agent-pools',
  required: true,
  fallback: hostOfToken,
  fallbackFrom: 'from the token',
  caution: (value, get) => {
    const host = hostOfToken(get);
    return host === undefined || host === value
      ? undefined
      : `The token was created for ${host}, but the URL is ${value}.`;
  },
});

export const token = defineSetting('Agent', 'token', {
  onlyEnv: 'SCALR_AGENT_TOKEN',
  question: 'Agent pool token',
  summary:
    'Agent pool token. Stored in a Secret; values.yaml contains only the name of the Secret.',
  kind: secret(),
  explained: 'Scalr shows the token once, when you add it to the agent pool.',
  reference: 'https://docs.scalr.io/docs/agent-pools',
  carriedBy: () => tokenSecret,
});

export const tokenFile = defineSetting('Agent', 'token-file', {
  variable: 'SCALR_AGENT_TOKEN',
  question: 'Agent pool token file',
  summary: 'Agent pool token file. Use - for standard input.',
  kind: secret({isFile: true}),
  rule: (_, get) =>
    get(token)
      ? new InvalidValue('The token is also set in SCALR_AGENT_TOKEN', 'Set only one of the two')
      : undefined,
  carriedBy: () => tokenSecret,
});

function hostOfToken(get: Get): string | undefined {
  const given = get(token) ?? get(tokenFile);
  return given && hostInToken(given);
}

export const tokenSecret = defineSetting('Agent', 'token-secret', {
  question: 'Secret with the agent pool token',
  summary:
    'Secret that contains the agent pool token, in the namespace of the release. Default: RELEASE-token.',
  kind: objectName(),
  explained:
    'install creates the Secret; values and GitOps exports require that it exists in the namespace. An installed release keeps its Secret.',
  reference: 'https://kubernetes.io/docs/concepts/configuration/secret/',
  fallback: (get) => secretNamesOf(get(release)).token,
  fallbackFrom: 'from the release name',
});

export const HOW_TO_GIVE_TOKEN = changing`Set the agent pool token with ${token} or ${tokenFile}, or use an existing Secret with ${tokenSecret}`;

export const tokenSecretKey = defineSetting('Agent', 'token-secret-key', {
  question: 'Key of the token in the Secret',
  kind: dataKey(),
  fallback: () => 'token',
});

/** Labels and annotations by which this program recognizes its objects. */
export const isReservedKey = (key: string): boolean =>
  /^scalr\.io\/|^app\.kubernetes\.io\/managed-by$/.test(key);

const reservedKey = (map: Readonly<Record<string, string>>): InvalidValue | undefined => {
  const own = Object.keys(map).find(isReservedKey);
  return own === undefined
    ? undefined
    : new InvalidValue(`${own} is reserved for scalr-agent`, 'Use another key');
};

export const secretLabel = defineSetting('Agent', 'secret-label', {
  question: 'Label for created Secrets',
  summary: 'Label for the Secrets that "install" creates.',
  kind: labels(),
  rule: reservedKey,
});

export const secretAnnotation = defineSetting('Agent', 'secret-annotation', {
  question: 'Annotation for created Secrets',
  summary: 'Annotation for the Secrets that "install" creates.',
  kind: annotations(),
  rule: reservedKey,
});

export const debug = defineSetting('Agent', 'debug', {
  variable: 'SCALR_AGENT_DEBUG',
  question: 'Enable debug logging?',
  summary: 'Enable debug logging of the agent.',
  kind: onOff(),
});

export const logFormat = defineSetting('Agent', 'log-format', {
  variable: 'SCALR_AGENT_LOG_FORMAT',
  question: 'Log format',
  summary: 'Agent log format.',
  kind: choice(['json', 'plain', 'dev']),
});

export const agentSettings: readonly Setting[] = [
  url,
  token,
  tokenFile,
  tokenSecret,
  tokenSecretKey,
  secretLabel,
  secretAnnotation,
  debug,
  logFormat,
];
