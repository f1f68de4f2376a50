import {Document, isMap, LineCounter, type Node, parseDocument, visit, type YAMLError} from 'yaml';
import {refuseEncrypted} from '../ground/encryption.ts';
import {type ExpectedError, failed} from '../ground/errors.ts';
import {remedyTexts, type SettingFinding, settingProblem} from '../ground/finding.ts';
import {closest} from '../ground/similar-text.ts';
import {yamlProblem} from '../ground/yaml-text.ts';

import {catalog} from '../settings/catalog.ts';
import {type Setting, spell} from '../settings/define.ts';
import {withoutCredentials} from '../settings/kinds/urls.ts';
import {type Answer, hasPassword, holdsSecret, type Settings} from '../settings/settings.ts';
import {fromAnswers, type SettingsSource} from './sources.ts';

/** A file that was parsed, with what its errors refer to. */
interface AnswersDocument {
  path: string;
  document: Document.Parsed;
  lines: LineCounter;
}

/** The settings of an answers file, and why others are none. @throws ExpectedError */
export function answersFileSource(
  text: string,
  path: string,
): {source: SettingsSource; unknown: ExpectedError | undefined} {
  const {answers, unknown, document, lines} = readAnswers(text, path, []);
  const spelled: SettingsSource['spelled'] = ({id}) =>
    `${path}${lineOf(id, document, lines)}: ${id}`;
  return {source: {...fromAnswers(answers), spelled}, unknown};
}

/** Reads an answers file: a YAML or JSON mapping from setting to value, and from `others`. @throws ExpectedError */
export function parseAnswers(
  text: string,
  path: string,
  others: readonly string[] = [],
): ReadonlyMap<string, unknown> {
  const {answers, unknown} = readAnswers(text, path, others);
  if (unknown !== undefined) throw unknown;
  return answers;
}

interface ReadAnswers extends AnswersDocument {
  answers: ReadonlyMap<string, unknown>;
  /** Lists all keys that are no settings. */
  unknown: ExpectedError | undefined;
}

/** @throws ExpectedError for a file that is no mapping */
function readAnswers(text: string, path: string, others: readonly string[]): ReadAnswers {
  refuseEncrypted(path, text, (decrypt) => `Use the decrypted content: --answers <(${decrypt})`);
  const lines = new LineCounter();
  const options = {
    uniqueKeys: true,
    stringKeys: true,
    logLevel: 'error',
    lineCounter: lines,
  } as const;
  const document = parseDocument(text, options);
  const [problem] = document.errors;
  if (problem) throw invalidYaml(problem, path);
  refuseOdd(document, path, lines);
  const content = contentOf(document, path) ?? {};
  if (typeof content !== 'object' || Array.isArray(content))
    throw wrong(path, 'expected a mapping of settings to values');
  const read = {path, document, lines};
  const answers = Object.entries(content).filter(
    ([key, value]) => key !== '$schema' && value !== null,
  );
  return {
    ...read,
    answers: new Map(answers),
    unknown: unknownKeys(Object.keys(content), others, read),
  };
}

function invalidYaml({code, message: text, linePos}: YAMLError, path: string): ExpectedError {
  const [start] = linePos ?? [];
  if (code === 'MULTIPLE_DOCS')
    return wrong(path, `line ${start?.line} starts a second YAML document`, [
      'Keep one document in the file: remove ---',
    ]);
  const message = yamlProblem(text).replace(/\.$/, '');
  if (start === undefined) return wrong(path, message, ['Correct the YAML of the file']);
  const {line, col: column} = start;
  const at = `line ${line}, column ${column}`;
  const problem = settingProblem(INVALID, {line, column}, {message: `${message}.`});
  return wrong(path, `${at}: ${message}`, [`Correct the YAML of ${at}`], [problem]);
}

function unknownKeys(
  keys: readonly string[],
  others: readonly string[],
  {path, document, lines}: AnswersDocument,
): ExpectedError | undefined {
  const settings = catalog.filter((setting) => setting.onlyEnv === undefined);
  const known = [...settings.map(({id}) => id), ...others];
  const unknown = keys.filter((key) => !known.includes(key) && key !== '$schema');
  if (unknown.length === 0) return undefined;
  const problems = unknown.map((setting) =>
    settingProblem(
      INVALID,
      {setting},
      {message: 'Unknown setting.', suggestion: suggestionFor(setting, known)},
    ),
  );
  const listed = unknown.map((key) => `"${key}"${lineOf(key, document, lines)}`).join(', ');
  return wrong(
    path,
    `unknown ${unknown.length === 1 ? 'setting' : 'settings'} ${listed}`,
    remedyTexts(problems),
    problems,
  );
}

function suggestionFor(key: string, known: readonly string[]): string | undefined {
  if (key === 'agent')
    return 'For the values of a chart, which begin with agent, use --values-file';
  if (key === 'token')
    return 'Remove token, and set SCALR_AGENT_TOKEN or token-file: a token is never read from the answers file';
  const near = closest(key.replaceAll('_', '-').toLowerCase(), known);
  return near && `Did you mean ${near} instead of ${key}?`;
}

function lineOf(key: string, document: Document.Parsed, lines: LineCounter): string {
  const pair = isMap(document.contents)
    ? document.contents.items.find((each) => String(each.key) === key)
    : undefined;
  const {range} = (pair?.key ?? {}) as {range?: [number, number, number]};
  return range === undefined ? '' : ` (line ${lines.linePos(range[0]).line})`;
}

const TAGS = /^tag:yaml\.org,2002:(str|int|float|bool|null|map|seq)$/;

/** Rejects YAML that does not parse to a string, number, boolean, list or mapping. */
function refuseOdd(document: Document.Parsed, path: string, lines: LineCounter): void {
  const at = ({range}: Node): string => {
    const {line, col} = lines.linePos(range?.[0] ?? 0);
    return `line ${line}, column ${col}`;
  };
  visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document) !== undefined) return;
      const message = `${at(alias)}: anchor &${alias.source} not found for alias *${alias.source}`;
      throw wrong(path, message, ['Quote strings that start with *']);
    },
    Value(_, node) {
      if (node.tag === undefined || TAGS.test(node.tag)) return;
      const tag = node.tag.replace(/^tag:yaml\.org,2002:/, '!!');
      throw wrong(path, `${at(node)}: unsupported tag ${tag}`, ['Remove the tag']);
    },
  });
}

function contentOf(document: Document.Parsed, path: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    throw wrong(path, yamlProblem((error as Error).message).replace(/\.$/, ''));
  }
}

const INVALID = 'INVALID_ANSWERS_FILE';

const wrong = (
  path: string,
  message: string,
  suggestions: string[] = [],
  problems: readonly SettingFinding[] = [settingProblem(INVALID, {}, {message: `${message}.`})],
): ExpectedError =>
  failed(
    INVALID,
    `${path}: ${message}.`,
    suggestions.length > 0
      ? suggestions
      : ['Use flag names without dashes as keys, for example url: https://acme.scalr.io'],
    {problems},
  );

const HEADER = ' Answers file for scalr-agent, without secrets. Use it with --answers FILE.';

interface Entry {
  setting: Setting;
  answer: Answer;
}

/** The line of an answers file about its cluster. */
export const contextComment = (context: string): string =>
  ` Saved for the kubeconfig context ${context}. Select it with --kube-context.`;

/**
 * The explicit settings as an answers file, readable by parseAnswers. Secrets are omitted, credentials in URLs replaced; both are listed by
 * name. The kubeconfig context is a comment, because it can be another cluster on another machine.
 */
export function answersText(settings: Settings, context?: string): string {
  const explicit = settings.entries().filter(
    ({setting, answer}) =>
      settings.isExplicit(setting) ||
      // The Scalr URL in the token would be lost with the token.
      (setting.required && answer.source === 'default'),
  );
  const {answers, secrets} = rawAnswers(explicit);
  const urls = explicit.filter(
    ({setting, answer}) => secrets.includes(setting) && hasPassword(answer),
  );
  const document = new Document({
    ...answers,
    ...Object.fromEntries(
      urls.map(({setting, answer}) => [setting.id, withoutCredentials(String(answer.value))]),
    ),
  });
  const left = secrets
    .filter((each) => urls.every(({setting}) => setting !== each))
    .map((each) => spell(each));
  document.commentBefore = [
    HEADER,
    ...(context ? [contextComment(context)] : []),
    ...(left.length ? [` Omitted, because they are or contain secrets: ${left.join(', ')}`] : []),
    ...urls.map(
      ({setting}) =>
        ` The password of ${setting.id} was left out: set the complete URL in ${setting.env}`,
    ),
  ].join('\n');
  return document.toString({lineWidth: 0});
}

/** Answers as the user types them, and the settings whose answers are or contain secrets. */
export function rawAnswers(entries: readonly Entry[]): {
  answers: Record<string, unknown>;
  secrets: Setting[];
} {
  const kept = entries.filter(({setting, answer}) => !holdsSecret(setting, answer));
  return {
    answers: Object.fromEntries(
      kept.map(({setting, answer}) => [setting.id, rawOf(setting, answer)]),
    ),
    secrets: entries.filter((each) => !kept.includes(each)).map(({setting}) => setting),
  };
}

function rawOf({kind}: Setting, {value, given}: Answer): unknown {
  if (given !== undefined) return given;
  if (kind.isSwitch) return value;
  const texts = kind.format(value);
  return kind.list ? texts : texts[0];
}
