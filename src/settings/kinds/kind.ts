import {type Remedy, remediesOf} from '../../ground/finding.ts';
import type {Tree} from '../../ground/tree.ts';

/** An invalid value from the user. The message completes "--flag: …". */
export class InvalidValue extends Error {
  readonly suggestion: Remedy | undefined;

  constructor(message: string, suggestion?: string | Remedy) {
    super(message);
    this.suggestion = remediesOf(suggestion)[0];
  }
}

/** A refused assignment such as `NAME: value`, which can contain a password. */
export function noAssignment(text: string): InvalidValue {
  const [name = ''] = /^[^:\s]+/.exec(text) ?? [];
  return new InvalidValue(`"${name}" has no "="`, `Use ${name || 'key'}=value`);
}

/** A value that requires another setting. */
export class MissingSetting extends InvalidValue {}

/** What parsing may use besides the text. */
export interface ParseContext {
  now: Date;
  /** Tells the user how the text was read. Completes "--flag …". */
  note?(text: string): void;
}

/** How a kind of value is parsed, validated and formatted. */
export interface Kind<T> {
  /** JSON Schema of the value in an answers file. */
  jsonSchema: Readonly<Record<string, unknown>>;
  /** Placeholder of the value in help: --flag <hint>. */
  hint: string;
  /** A boolean flag, negated by --no-<flag>. */
  isSwitch?: boolean;
  /** The flag can be repeated; the separator splits the environment variable. */
  list?: {separator: RegExp};
  /** The answer is a file path; `parse` receives the file content. `-` is standard input if `readsStdin` is set. */
  isFile?: boolean;
  readsStdin?: boolean;
  /** The value is stored in a Kubernetes Secret, never in values, output or logs. */
  isSecret?: boolean;
  options?: readonly string[];
  /** @throws InvalidValue */
  parse(raw: unknown, context: ParseContext): T;
  /** The value as flag arguments; parse(format(value)) returns the value. */
  format(value: T): string[];
  /** The value for output and logs, if it differs from the formatted value. */
  shown?(value: T): string;
  /** Reads it from a values.yaml that spells it as the setting does; undefined for what the setting cannot express. */
  fromValues?(tree: Tree): T | undefined;
}
