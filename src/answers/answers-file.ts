import {type Document, parseDocument} from 'yaml';
import {ExitCode, ExpectedError} from '../errors.ts';
import {catalogue} from '../settings/catalogue.ts';
import {closest} from '../settings/similar.ts';

/** Reads an answers file: a YAML or JSON mapping from setting to value. @throws ExpectedError */
export function parseAnswers(text: string, path: string): ReadonlyMap<string, unknown> {
  const document = parseDocument(text, {uniqueKeys: true, stringKeys: true, logLevel: 'error'});
  const [problem] = document.errors;
  if (problem) {
    const line = problem.linePos?.[0];
    throw wrong(
      path,
      `${line ? `line ${line.line}, column ${line.col}: ` : ''}${problem.message.split('\n')[0]?.replace(/ at line.*/, '')}`,
    );
  }
  const answers = contentOf(document, path);
  if (answers === null || answers === undefined) return new Map();
  if (typeof answers !== 'object' || Array.isArray(answers)) throw wrong(path, 'it is not a mapping of settings to values');
  const known = catalogue.filter((setting) => setting.onlyEnv === undefined).map((setting) => setting.id);
  const unknown = Object.keys(answers).filter((key) => !known.includes(key) && key !== '$schema');
  if (unknown.length > 0) {
    throw wrong(
      path,
      `${unknown.map((key) => `"${key}"`).join(', ')} ${unknown.length === 1 ? 'is no setting' : 'are no settings'}`,
      unknown.flatMap((key) => {
        const near = closest(key.replaceAll('_', '-').toLowerCase(), known);
        return near ? [`Did you mean ${near} instead of ${key}?`] : [];
      }),
    );
  }
  return new Map(Object.entries(answers).filter(([key, value]) => key !== '$schema' && value !== null));
}

function contentOf(document: Document.Parsed, path: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    throw wrong(path, (error as Error).message);
  }
}

const wrong = (path: string, message: string, suggestions: string[] = []): ExpectedError =>
  new ExpectedError(`${path}: ${message}.`, {
    code: 'INVALID_ANSWERS_FILE',
    exit: ExitCode.usage,
    suggestions: suggestions.length > 0 ? suggestions : ['Its keys are the flags without the dashes, such as url: https://acme.scalr.io'],
  });
