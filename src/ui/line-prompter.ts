import {createInterface} from 'node:readline';
import {type ChoiceQuestion, isYes, type Prompter, type TextQuestion, yesOrNo} from '../ports/prompter.ts';
import {noteOf} from './prompts/frame.ts';

interface Streams {
  input: NodeJS.ReadStream;
  output: NodeJS.WritableStream;
  signal?: AbortSignal;
}

/** Prompts line by line, for terminals that cannot move their cursor (TERM=dumb) and for screen readers. */
export const linePrompter = (streams: Streams): Prompter => {
  const write = (text: string): void => void streams.output.write(text);
  const text = async (question: TextQuestion): Promise<string> => {
    const note = noteOf(question.default, question.note);
    const line = `? ${question.message}${note === undefined ? '' : ` (${note})`}: `;
    for (;;) {
      const typed = (await (question.isSecret ? readHidden(line, streams) : readLine(line, streams))).trim();
      if (typed === '?') {
        write(question.help.map((each) => `  ${each}\n`).join(''));
        continue;
      }
      const answer = typed === '' ? (question.default ?? '') : typed;
      const problem = question.problem(answer) ?? (await question.check?.(answer));
      if (problem === undefined) return answer;
      write(`  ${problem}\n`);
    }
  };
  const ask = async ({message, choices, help, default: first, note}: ChoiceQuestion, isSeveral: boolean): Promise<readonly string[]> => {
    const lines = choices.map(({label, meaning, unavailable}, index) => {
      const said = unavailable ?? meaning;
      return `  ${unavailable === undefined ? index + 1 : '-'}. ${label}${said === undefined ? '' : ` - ${said}`}\n`;
    });
    write(`? ${message}\n${lines.join('')}`);
    const at = choices.findIndex(({value, unavailable}) => value === first && unavailable === undefined);
    const pick = (typed: string): string[] | undefined => {
      const numbers = typed.split(/[\s,]+/).filter(Boolean);
      const found = numbers.map((number) => choices[Number(number) - 1]);
      if (!isSeveral && found.length !== 1) return undefined;
      return found.some((choice) => choice === undefined || choice.unavailable !== undefined)
        ? undefined
        : (found as typeof choices).map(({value}) => value);
    };
    const typed = await text({
      message: isSeveral ? 'Numbers, with blanks between them' : 'Number',
      help,
      ...(at >= 0 && !isSeveral ? {default: String(at + 1)} : {}),
      ...(isSeveral ? {note: 'none'} : note === undefined ? {} : {note}),
      problem: (number) => (pick(number) === undefined ? `Type a number from 1 to ${choices.length}` : undefined),
    });
    return pick(typed) as string[];
  };
  return {
    confirm: async (question) => isYes(await text(yesOrNo(question))),
    text,
    choose: async (question) => (await ask(question, false))[0] as string,
    chooseSeveral: (question) => ask(question, true),
  };
};

class Cancelled extends Error {
  override readonly name = 'ExitPromptError';
}

function readLine(prompt: string, {input, output, signal}: Streams): Promise<string> {
  const lines = createInterface({input, output, terminal: false});
  return new Promise((resolve, reject) => {
    const give = (error: Error): void => {
      lines.close();
      reject(error);
    };
    signal?.addEventListener('abort', () => give(new Cancelled()), {once: true});
    lines.once('line', (line) => {
      resolve(line);
      lines.close();
    });
    lines.once('close', () => give(new Cancelled()));
    output.write(prompt);
  });
}

/** The terminal shows nothing of what is typed; Ctrl-C and Ctrl-D arrive as keys. */
function readHidden(prompt: string, {input, output, signal}: Streams): Promise<string> {
  return new Promise((resolve, reject) => {
    let typed = '';
    const end = (settle: () => void): void => {
      input.off('data', hear);
      input.setRawMode?.(false);
      input.pause();
      output.write('\n');
      settle();
    };
    const hear = (chunk: Buffer | string): void => {
      for (const key of String(chunk)) {
        if (key === '\r' || key === '\n') {
          end(() => resolve(typed));
          return;
        }
        if (key === '\u0003' || key === '\u0004') {
          end(() => reject(new Cancelled()));
          return;
        }
        if (key === '\u007f' || key === '\b') typed = typed.slice(0, -1);
        else if (key === '\u0015') typed = '';
        else typed += key;
      }
    };
    signal?.addEventListener('abort', () => end(() => reject(new Cancelled())), {once: true});
    output.write(prompt);
    input.setRawMode?.(true);
    input.on('data', hear);
    input.resume();
  });
}
