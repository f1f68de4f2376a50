/**
 * How bad it is. `error`: something fails, and waiting does not help. `warning`: it works, but not as meant, or it may pass by itself. `note`: not a
 * problem. `unknown`: it could not be found out, which never counts as healthy.
 */
export type Verdict = 'error' | 'warning' | 'note' | 'unknown';

/** From the worst to the least. */
export const VERDICT_ORDER: readonly Verdict[] = ['error', 'unknown', 'warning', 'note'];

/** An object of Kubernetes, Docker, systemd, Helm or of the Scalr account. */
export interface ObjectSubject {
  /** `pod/name` as kubectl takes it; `release/name`, `container/name` and `unit/name` alike. */
  object: string;
}

/** A key of a values file. Line and column are 1-based, and absent where something is missing. */
export interface KeySubject {
  /** Dotted, list items as [0]; empty for the whole file. */
  path: string;
  /** Set where several files are merged. */
  file?: string;
  line?: number;
  column?: number;
}

/** A setting, or the whole command. */
export interface SettingSubject {
  /** Id of the setting. */
  setting?: string;
  /** Where an answers file is wrong, 1-based. */
  line?: number;
  column?: number;
}

/** A requirement of an install, such as "Node readiness". */
export interface RequirementSubject {
  requirement: string;
}

export type Subject = ObjectSubject | KeySubject | SettingSubject | RequirementSubject;

/** The only correct change of a values file: the scalar at `path` becomes `value`, its key is renamed to `name`, or both move `to` another place. */
export interface Edit {
  path: readonly (string | number)[];
  value?: string | number | boolean;
  name?: string;
  to?: readonly string[];
}

/** A setting in a text, or one value of it. */
export interface Mention {
  /** Id of the setting. */
  setting: string;
  value?: string;
}

/** One way to remove a problem. */
export interface Remedy {
  /** A sentence without a full stop, which may end in a command to copy, or in lines of YAML. It spells settings as flags. */
  text: string;
  /** The same sentence with its settings as data, so that others can spell them otherwise. */
  parts?: readonly (string | Mention)[];
  /** Id of the setting that it changes. */
  setting?: string;
  edit?: Edit | undefined;
}

/** Where the problem can be seen. */
export interface Evidence {
  /** File of a bundle. */
  file: string;
  /** 1-based. */
  line?: number;
}

/** `logs/pod/agent.log:12` */
export const evidenceText = ({file, line}: Evidence): string =>
  line === undefined ? file : `${file}:${line}`;

/** One problem, or a fact worth a look. Every command that tells about problems tells them in this shape. */
export interface Finding<S extends Subject = Subject> {
  /** Stable: `OOM_KILLED`. templates/findings explains it. */
  code: string;
  verdict: Verdict;
  subject: S;
  /** What is wrong, with names and numbers. */
  message: string;
  /** The best one first. */
  remedies: readonly Remedy[];
  evidence?: Evidence | undefined;
}

export type ObjectFinding = Finding<ObjectSubject>;

/** A finding about a values file. */
export type KeyFinding = Finding<KeySubject>;

/** Orders findings from the worst to the least. */
export const byVerdict = (one: Pick<Finding, 'verdict'>, other: Pick<Finding, 'verdict'>): number =>
  VERDICT_ORDER.indexOf(one.verdict) - VERDICT_ORDER.indexOf(other.verdict);

/** What is wrong with what, without the code: pod/x: out of memory */
export function findingSentence({subject, message}: Pick<Finding, 'subject' | 'message'>): string {
  const about = subjectText(subject);
  return about === '' ? message : `${about}: ${message}`;
}

/** The same after the code, as a line of a list: OOM_KILLED  pod/x: out of memory */
export const headline = (finding: Pick<Finding, 'code' | 'subject' | 'message'>): string =>
  `${finding.code}  ${findingSentence(finding)}`;

/** Empty for a setting, which its message spells as the user gave it. */
function subjectText(subject: Subject): string {
  if ('object' in subject) return subject.object;
  if ('path' in subject) return subject.path;
  return 'requirement' in subject ? subject.requirement : '';
}

/** The texts of the remedies, one after the other. */
export const remedyText = ({remedies}: Pick<Finding, 'remedies'>): string =>
  remedies.map(({text}) => text).join('; ');

/** The texts of the remedies of several findings. */
export const remedyTexts = (findings: readonly Pick<Finding, 'remedies'>[]): string[] =>
  findings.flatMap(({remedies}) => remedies.map(({text}) => text));

/** What to do, also from sentences, each once; empty ones are left out. */
export const remediesOf = (...given: readonly (string | Remedy | undefined)[]): Remedy[] =>
  given
    .flatMap((each) => {
      if (each === undefined || each === '') return [];
      return [typeof each === 'string' ? {text: each} : each];
    })
    .filter(({text}, index, all) => all.findIndex((each) => each.text === text) === index);

type Inserted =
  | string
  | number
  | bigint
  | Remedy
  | {id: string; onlyEnv?: string}
  | {setting: {id: string}; value?: unknown};

/** A remedy that changes the settings in it; the first one decides: changing`Increase ${cacheSize}` */
export function changing(texts: readonly string[], ...inserted: readonly Inserted[]): Remedy {
  const all = texts.flatMap((text, index) => [
    {text},
    ...inserted.slice(index, index + 1).map(remedyOf),
  ]);
  return joined(all, '');
}

function remedyOf(part: Inserted): Remedy {
  if (typeof part !== 'object') return {text: String(part)};
  if ('text' in part) return part;
  if ('id' in part)
    return {text: part.onlyEnv ?? `--${part.id}`, parts: [{setting: part.id}], setting: part.id};
  const {setting, value} = part;
  const mention = {setting: setting.id, value: String(value)};
  return {text: `--${setting.id} ${value}`, parts: [mention], setting: setting.id};
}

/** Several remedies in one sentence. */
export function joined(remedies: readonly Remedy[], separator: string): Remedy {
  const setting = remedies.find((each) => each.setting !== undefined)?.setting;
  return {
    text: remedies.map(({text}) => text).join(separator),
    parts: remedies
      .flatMap(({text, parts = [text]}, index) => (index === 0 ? parts : [separator, ...parts]))
      .filter((part) => part !== ''),
    ...(setting === undefined ? {} : {setting}),
  };
}

/** A finding about an object. */
export const objectFinding = (
  verdict: Verdict,
  object: string,
  code: string,
  {message, remedy}: {message: string; remedy: string},
): ObjectFinding => ({code, verdict, subject: {object}, message, remedies: remediesOf(remedy)});

/** A finding about a setting, or about the whole command. */
export type SettingFinding = Finding<SettingSubject>;

/** What is unknown about an object, because of a failure; `remedy` is for a failure without next steps. */
export const unknownOf = (
  object: string,
  {code, message, remedies}: Pick<Finding, 'code' | 'message' | 'remedies'>,
  remedy = '',
): ObjectFinding => ({
  code,
  verdict: 'unknown',
  subject: {object},
  message,
  remedies: remedies.length > 0 ? remedies.slice(0, 1) : remediesOf(remedy),
});

/** A setting that stops the command. */
export const settingProblem = (
  code: string,
  subject: SettingSubject,
  {message, suggestion}: {message: string; suggestion?: string | Remedy | undefined},
): SettingFinding => ({
  code,
  verdict: 'error',
  subject,
  message,
  remedies: remediesOf(suggestion),
});

/** A problem that does not stop the command. `setting` is the id of the affected setting. */
export const warningOf = (code: string, message: string, setting?: string): SettingFinding => ({
  code,
  verdict: 'warning',
  subject: setting === undefined ? {} : {setting},
  message,
  remedies: [],
});
