import type {InvalidValue, Kind} from './kinds/kind.ts';

/** Reads another setting. */
export type Get = <T>(setting: Setting<T>) => T | undefined;

/** Heading in prompts, help and documents. */
export type Group =
  | 'Release'
  | 'Agent'
  | 'Purpose'
  | 'Cluster'
  | 'Network'
  | 'TLS'
  | 'Storage'
  | 'Size'
  | 'Placement'
  | 'Identity'
  | 'Images'
  | 'Observability'
  | 'Lifecycle'
  | 'Chart values';

export interface Declaration<T> {
  question: string;
  /** Default: the question, which must then have no question mark. */
  summary?: string;
  kind: Kind<T>;
  /** The full spelling of a text that can only mean one value, such as eks for aws; undefined for all other texts. */
  meant?(text: string): string | undefined;
  /** Help text that "?" adds to the summary, and its source. */
  explained?: string;
  reference?: string;
  /** Names of the choices in prompts, where the values alone are not enough. */
  labels?: Readonly<Record<string, string>>;
  /** Description of each choice. */
  meanings?: Readonly<Record<string, string>>;
  /** Required, without a possible default. */
  required?: boolean;
  /** The variable that means the same to the agent, which --extra-env therefore refuses. */
  variable?: string;
  /** Set by this environment variable only: no flag, no answers key. */
  onlyEnv?: string;
  /** Otherwise the setting has no effect; `needs` names the required flags. */
  appliesWhen?: {test: (get: Get) => boolean; needs: string};
  /** Only has an effect on runs, which VCS agents do not execute. */
  isForRuns?: true;
  fallback?(get: Get): T | undefined;
  /** Source of a default that depends on other settings. */
  fallbackFrom?: string;
  /** Validates the value against other settings. */
  rule?(value: T, get: Get): InvalidValue | undefined;
  /** Warning about a valid but unlikely value. */
  caution?(value: T, get: Get): string | undefined;
  /** The value contains a secret although the setting is not secret: omitted from saved files and commands. */
  holdsSecret?(value: T): boolean;
  /** One value as others may read it in a generated file: without a secret. */
  recorded?(text: string): string;
  /** Stored in an object that the returned setting refers to, so values.yaml contains only that setting. */
  carriedBy?: () => Setting;
}

export interface Setting<T = unknown> extends Declaration<T> {
  /** Flag name and answers key. */
  id: string;
  group: Group;
  summary: string;
  /** Name of the environment variable. */
  env: string;
}

/** Describes a setting once; flag, variable, answers key, schema and documentation are derived from it. `catalog.ts` lists it. */
export function defineSetting<T>(
  group: Group,
  id: string,
  declaration: Declaration<T>,
): Setting<T> {
  const env = declaration.onlyEnv ?? `SCALR_AGENT_INSTALL_${id.toUpperCase().replaceAll('-', '_')}`;
  return {id, group, summary: `${declaration.question}.`, ...declaration, env};
}

/** The option that a text means: other spellings of it, in any case. */
export const spellings =
  (others: Readonly<Record<string, string>>) =>
  (text: string): string | undefined =>
    others[text.toLowerCase().replaceAll(/[\s_]/g, '-')];

/** As the user types it: --cache efs, --no-single-run */
export function spell(setting: Setting, value?: unknown): string {
  if (setting.kind.isSwitch) return value === false ? `--no-${setting.id}` : `--${setting.id}`;
  const name = setting.onlyEnv ?? `--${setting.id}`;
  return value === undefined ? name : `${name} ${value}`;
}

const SPELLED: Readonly<Record<string, string>> = {
  ca: 'CA',
  claim: 'PVC',
  cpu: 'CPU',
  efs: 'EFS',
  http: 'HTTP',
  https: 'HTTPS',
  os: 'OS',
  otel: 'OpenTelemetry',
  ttl: 'TTL',
  url: 'URL',
};

/** The name of a setting inside a sentence: "cache size", "CA file". */
export const settingName = ({id}: Setting): string =>
  id
    .split('-')
    .map((word) => SPELLED[word] ?? word)
    .join(' ');

/** The name of a setting as a label: "Cache size". */
export const settingLabel = (setting: Setting): string =>
  settingName(setting).replace(/^./, (first) => first.toUpperCase());
