/** A value an operator gave that cannot be meant. The message completes "--flag: …". */
export class InvalidValue extends Error {
  readonly suggestion: string | undefined;

  constructor(message: string, suggestion?: string) {
    super(message);
    this.suggestion = suggestion;
  }
}

/** What parsing may know beside the text itself. */
export interface ParseContext {
  now: Date;
}

/** How one sort of value is written, checked and written again. */
export interface Kind<T> {
  /** JSON Schema of the value in an answers file. */
  jsonSchema: Readonly<Record<string, unknown>>;
  /** Stands for the value in help: --flag <hint>. */
  hint: string;
  /** A flag without a value, with --no-<flag> as its opposite. */
  isSwitch?: boolean;
  /** The flag may be given several times; the separator splits the environment variable. */
  list?: {separator: RegExp};
  /** The answer is the path of a file; `parse` receives what is in it. `-` means standard input where `readsStdin` says so. */
  isFile?: boolean;
  readsStdin?: boolean;
  /** The value goes into a Kubernetes Secret and never into values, output or logs. */
  isSecret?: boolean;
  options?: readonly string[];
  /** @throws InvalidValue */
  parse(raw: unknown, context: ParseContext): T;
  /** The value as flag arguments; parse(format(value)) is the value again. */
  format(value: T): string[];
  /** The value for eyes and logs, where it is not the value itself. */
  shown?(value: T): string;
}

/** Reads another setting. */
export type Get = <T>(setting: Setting<T>) => T | undefined;

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
  | 'Escape hatch';

interface Declaration<T> {
  /** Flag and answers key alike. */
  id: string;
  group: Group;
  question: string;
  summary: string;
  kind: Kind<T>;
  /** What "?" adds to the summary at its question: what follows from it, and where to read more. */
  explained?: {text: string; reference: string};
  /** What each choice means. */
  meanings?: Readonly<Record<string, string>>;
  /** Nothing works without it and no default is possible. */
  required?: boolean;
  /** Only an environment variable of this name gives it: no flag, no answers key. */
  onlyEnv?: string;
  /** Elsewhere the setting would do nothing; `needs` says what it takes, as flags. */
  appliesWhen?: {test: (get: Get) => boolean; needs: string};
  /** The value when nobody gave one. */
  fallback?(get: Get): T | undefined;
  /** Where a fallback that follows from other settings comes from. */
  fallbackFrom?: string;
  /** What it must not be together with other settings. */
  rule?(value: T, get: Get): InvalidValue | undefined;
  /** What is allowed and probably not meant. */
  caution?(value: T, get: Get): string | undefined;
  /** The value holds a secret although the setting is none: files and commands to be kept go without it. */
  holdsSecret?(value: T): boolean;
  /** Reaches the cluster in an object the named setting refers to, so values.yaml holds only that one. */
  carriedBy?: () => Setting;
}

export interface Setting<T = unknown> extends Declaration<T> {
  /** Name of the environment variable. */
  env: string;
}

/** Declares a setting once; flag, variable, answers key, schema and documentation follow from it. */
export function defineSetting<T>(declaration: Declaration<T>): Setting<T> {
  const env = declaration.onlyEnv ?? `SCALR_AGENT_INSTALL_${declaration.id.toUpperCase().replaceAll('-', '_')}`;
  return {...declaration, env};
}

/** The setting as an operator would type it. */
export const spell = (setting: Setting): string => setting.onlyEnv ?? `--${setting.id}`;
