import {type Choice, type ChoiceQuestion, isYes, type Prompter, type TextQuestion, yesOrNo} from '../ports/prompter.ts';
import {noteOf} from './prompts/frame.ts';
import {LineReader, type LineStreams} from './prompts/line-reader.ts';
import {paragraph, type Screen} from './theme.ts';

/** Takes an answer back, where Enter alone keeps it. */
const NOTHING = '-';

/** Prompts line by line, for terminals that cannot move their cursor (TERM=dumb) and for screen readers. */
export const linePrompter = (screen: Screen, streams: LineStreams): Prompter => {
  const lines = new LineReader(streams);
  const write = (first: string, text: string): void => void streams.output.write(paragraph(first, text, screen));

  const text = async (question: TextQuestion): Promise<string> => {
    const {message, help, isSecret = false} = question;
    const mayBeEmptied = question.isEdited === true && question.default !== undefined && question.problem('') === undefined;
    const note = noteOf(question.default, mayBeEmptied ? `${NOTHING} takes it back` : question.note);
    const prompt = paragraph('? ', `${message}${note === undefined ? '' : ` (${note})`}:`, screen).replace(/\n$/, ' ');
    for (;;) {
      const typed = (await lines.read(prompt, {isHidden: isSecret})).trim();
      if (typed === '?') {
        for (const line of help) write('  ', line);
        continue;
      }
      const answer = mayBeEmptied && typed === NOTHING ? '' : typed || (question.default ?? '');
      const problem = question.problem(answer) ?? (await question.check?.(answer));
      if (problem === undefined) return answer;
      write('  ', problem);
    }
  };

  const choose = async (question: ChoiceQuestion, isSeveral: boolean): Promise<readonly string[]> => {
    const {message, choices, help, note} = question;
    write('? ', message);
    for (const [index, {label, meaning, unavailable}] of choices.entries()) {
      const said = unavailable ?? meaning;
      write(`  ${unavailable === undefined ? index + 1 : '-'}. `, said === undefined ? label : `${label} - ${said}`);
    }
    const first = choices.findIndex((choice) => choice.value === question.default && choice.unavailable === undefined);
    const typed = await text({
      message: isSeveral ? 'Numbers, with blanks between them' : 'Number',
      help,
      ...(first >= 0 && !isSeveral ? {default: String(first + 1)} : {}),
      ...(isSeveral ? {note: 'none'} : note === undefined ? {} : {note}),
      problem: (numbers) => (pick(numbers, choices, isSeveral) === undefined ? `Type a number from 1 to ${choices.length}` : undefined),
    });
    return pick(typed, choices, isSeveral) as string[];
  };

  return {
    confirm: async (question) => isYes(await text(yesOrNo(question))),
    text,
    choose: async (question) => (await choose(question, false))[0] as string,
    chooseSeveral: (question) => choose(question, true),
  };
};

/** The choices with these numbers; undefined where that is no answer. */
function pick(typed: string, choices: readonly Choice[], isSeveral: boolean): string[] | undefined {
  const numbers = new Set(typed.split(/[\s,]+/).filter(Boolean));
  const taken = choices.filter(({unavailable}, index) => unavailable === undefined && numbers.has(String(index + 1)));
  const isAnswer = taken.length === numbers.size && (isSeveral || taken.length === 1);
  return isAnswer ? taken.map(({value}) => value) : undefined;
}
