import {stripVTControlCharacters} from 'node:util';
import * as Args from '@oclif/core/args';
import {originOf} from '../cli/app.ts';
import {BaseCommand} from '../cli/base-command.ts';
import {
  type CodeOfLine,
  closestCode,
  type Explanation,
  explain,
  explanations,
} from '../findings/catalog.ts';
import {type ExpectedError, usageError} from '../ground/errors.ts';
import {codeOfToolLine} from '../ground/known-failures.ts';
import {oneLine} from '../ground/one-line.ts';
import {codesText, explanationText, pageOf} from '../ui/explain.ts';
import {docsOf} from '../ui/messages.ts';
import type {Screen} from '../ui/theme.ts';

interface Result {
  findings: (Omit<Explanation, 'symptom' | 'topic'> & {topic: string; page: string})[];
}

export default class Explain extends BaseCommand<Result> {
  static override summary = 'Explain a code that this program prints, or a kubectl status.';
  static override description =
    'Prints what a code means, why it matters, what to do, and an example. Words such as ImagePullBackOff, disk full or x509 lead to codes, and so does a line of a log. With `-`, a log is read from standard input, and each code is below its first line. Without an argument, all codes are listed. Requires neither a cluster nor a network.';
  static override usage = '<%= command.id %> [CODE|WORD...] [flags]';
  static override strict = false;
  static override examples = [
    '<%= config.bin %> <%= command.id %> OOM_KILLED',
    '<%= config.bin %> <%= command.id %> ImagePullBackOff',
    '<%= config.bin %> <%= command.id %> - < run.log',
  ];
  static override args = {
    code: Args.string({
      description:
        'Code of a finding or an error, id of a preflight check, or what you see: a kubectl status such as CrashLoopBackOff, words such as disk full, or a line of a log.',
      ignoreStdin: true,
    }),
  };

  override async run(): Promise<Result> {
    const {argv} = await this.parse(Explain);
    const word = argv.length === 0 ? undefined : argv.join(' ');
    const docs = docsOf(originOf(this.config.pjson));
    const found = await this.#explained(word);
    const isCommand = this.config.commandIDs.includes(argv.join(':'));
    if (word !== undefined && (found.length === 0 || isCommand))
      throw unknownCode(word, {docs, isCommand});
    if (!this.jsonEnabled()) this.show(explainedText(word, found, docs, this.resultScreen));
    return {findings: found.map((each) => documentOf(each, docs))};
  }

  async #explained(word: string | undefined): Promise<Explanation[]> {
    if (word === undefined) return explanations();
    return word === '-' ? explainedLog(String(await this.app.files.readStdin())) : explained(word);
  }
}

/** One code in full, above others that its name leads to; several as a list. */
function explainedText(
  word: string | undefined,
  found: readonly Explanation[],
  docs: string,
  screen: Screen,
): string {
  const [first, ...others] = found;
  if (first === undefined || (others.length > 0 && first.code !== word))
    return codesText(found, screen, word !== undefined);
  const text = explanationText(first, docs, screen);
  return others.length === 0 ? text : `${text}\n${codesText(others, screen, true)}`;
}

async function explained(text: string): Promise<Explanation[]> {
  const ofWord = text.includes(' ') ? [] : explain(ofContainer(text));
  return ofWord.length > 0 ? ofWord : explain(text, await codesOf(text));
}

/** The causes that the lines of a log tell, without those that only have a word in common with it. */
async function explainedLog(log: string): Promise<Explanation[]> {
  const lines = new Map<string | undefined, string>();
  for (const line of new Set(stripVTControlCharacters(log).split('\n'))) {
    const {certain, probable} = await codesOf(line);
    const code = certain ?? probable;
    if (!lines.has(code)) lines.set(code, oneLine(line));
  }
  return explanations().flatMap((each) => {
    const line = lines.get(each.code);
    return line === undefined ? [] : [{...each, line}];
  });
}

/** An error of helm or kubectl has one code, and so has an event, and a line of a run. */
async function codesOf(line: string): Promise<CodeOfLine> {
  const {codeOfEvent} = await import('../checks/diagnose/explain.ts');
  const {isOtherLogin, matchLine} = await import('../checks/diagnose/agent-log.ts');
  const {codeOfRun} = await import('../checks/diagnose/run-lines.ts');
  return {
    certain: codeOfToolLine(line) ?? codeOfEvent(line) ?? codeOfRun(line),
    probable: matchLine(line)?.meaning,
    isOfOthers: isOtherLogin(line),
  };
}

/** kubectl prints `Init:0/1` while an init container runs, and `Init:Error` for the state Error of one. */
const ofContainer = (status: string): string =>
  /^Init:\d/.test(status) ? 'Init' : status.replace(/^Init:/, '');

const documentOf = (
  {topic, words = [], symptom, ...entry}: Explanation,
  docs: string,
): Result['findings'][number] => ({
  ...entry,
  topic: topic.title,
  words,
  page: pageOf({...entry, topic, symptom}, docs),
});

function unknownCode(
  word: string,
  {docs, isCommand}: {docs: string; isCommand: boolean},
): ExpectedError {
  const near = closestCode(word);
  const guess = near && `Did you mean ${near}? scalr-agent explain ${JSON.stringify(near)}`;
  const first = isCommand ? `It is a command: scalr-agent ${word} --help` : guess;
  const failure =
    word === '-' ? 'No line has a known cause.' : `No code or word ${JSON.stringify(word)}.`;
  return usageError(failure, [
    ...(first === undefined ? [] : [first]),
    'List all codes: scalr-agent explain',
    `Start at what you see: ${docs}/guide/symptoms.md`,
  ]);
}
