import * as Args from '@oclif/core/args';
import {originOf} from '../cli/app.ts';
import {BaseCommand} from '../cli/base-command.ts';
import {closestCode, type Explanation, explain, explanations} from '../findings/catalog.ts';
import {type ExpectedError, usageError} from '../ground/errors.ts';
import {codeOfToolLine} from '../ground/known-failures.ts';
import {codesText, explanationText, pageOf} from '../ui/explain.ts';
import {docsOf} from '../ui/messages.ts';
import type {Screen} from '../ui/theme.ts';

interface Result {
  findings: (Omit<Explanation, 'symptom' | 'topic'> & {topic: string; page: string})[];
}

export default class Explain extends BaseCommand<Result> {
  static override summary = 'Explain a code that this program prints, or a kubectl status.';
  static override description =
    'Prints what a code means, why it matters, what to do, and an example. Words such as ImagePullBackOff, disk full or x509 lead to codes, and so does a line of a log. Without an argument, all codes are listed. Requires neither a cluster nor a network.';
  static override usage = '<%= command.id %> [CODE|WORD...] [flags]';
  static override strict = false;
  static override examples = [
    '<%= config.bin %> <%= command.id %> OOM_KILLED',
    '<%= config.bin %> <%= command.id %> ImagePullBackOff',
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
    const found = word === undefined ? explanations() : await explained(word);
    const isCommand = this.config.commandIDs.includes(argv.join(':'));
    if (word !== undefined && (found.length === 0 || isCommand))
      throw unknownCode(word, {docs, isCommand});
    if (!this.jsonEnabled()) this.show(explainedText(word, found, docs, this.resultScreen));
    return {findings: found.map((each) => documentOf(each, docs))};
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

/** An error of helm or kubectl has one code, and so has an event, and a line of a run. */
async function explained(text: string): Promise<Explanation[]> {
  const ofWord = text.includes(' ') ? [] : explain(ofContainer(text));
  if (ofWord.length > 0) return ofWord;
  const {codeOfEvent} = await import('../checks/diagnose/explain.ts');
  const {isOtherLogin, matchLine} = await import('../checks/diagnose/agent-log.ts');
  const {codeOfRun} = await import('../checks/diagnose/run-lines.ts');
  return explain(text, {
    certain: codeOfToolLine(text) ?? codeOfEvent(text) ?? codeOfRun(text),
    probable: matchLine(text)?.meaning,
    isOfOthers: isOtherLogin(text),
  });
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
  return usageError(`No code or word ${JSON.stringify(word)}.`, [
    ...(first === undefined ? [] : [first]),
    'List all codes: scalr-agent explain',
    `Start at what you see: ${docs}/guide/symptoms.md`,
  ]);
}
