import {expect, test} from 'vitest';
import {DOWN, ENTER, PromptTerminal} from '../../support/prompt-terminal.ts';

const TEXT = {message: 'Where does the certificate of your company stand?', help: [], problem: () => undefined};
const CHOICES = ['one', 'two', 'three'].map((each) => ({
  value: each,
  label: `${each} is a choice with quite a long name, longer than a phone`,
}));

const SAID = ['✔ Before it', '  something was said'];

/** A question under what was said before. */
async function under(ask: (terminal: PromptTerminal) => Promise<unknown>, columns = 80, cutsLines = false) {
  const terminal = new PromptTerminal({columns, cutsLines});
  terminal.output.write(`${SAID.join('\n')}\n`);
  const answer = ask(terminal);
  await terminal.see('? W');
  return {terminal, answer};
}

test.each([
  false,
  true,
])('a window that becomes narrow has the question once, in lines that fit, also where it cuts lines (%s)', async (cutsLines) => {
  const {terminal, answer} = await under(({prompter}) => prompter.text(TEXT), 80, cutsLines);
  await terminal.press('/etc/ssl/company.pem');
  expect(await terminal.resize(40, 24)).toEqual([...SAID, '? Where does the certificate of your', '  company stand? /etc/ssl/company.pem']);
  expect(await terminal.press(ENTER)).toEqual([...SAID, '✔ Where does the certificate of your', '  company stand? /etc/ssl/company.pem']);
  expect(await answer).toBe('/etc/ssl/company.pem');
});

test('a window that becomes wide has it on one line again', async () => {
  const {terminal, answer} = await under(({prompter}) => prompter.text(TEXT), 40);
  await terminal.press('/etc/ssl/company.pem');
  expect(await terminal.resize(100, 24)).toEqual([...SAID, '? Where does the certificate of your company stand? /etc/ssl/company.pem']);
  expect(await terminal.press('x')).toHaveLength(SAID.length + 1);
  await terminal.press(ENTER);
  expect(await answer).toBe('/etc/ssl/company.pemx');
});

test('a list that is drawn anew leaves nothing of itself behind, resized again and again', async () => {
  const {terminal, answer} = await under(({prompter}) => prompter.choose({message: 'Which one?', help: [], choices: CHOICES}));
  for (const columns of [30, 44, 80, 25, 60]) {
    await terminal.resize(columns, 24);
    const lines = await terminal.press(DOWN);
    expect(lines.slice(0, 3)).toEqual([...SAID, '? Which one?']);
    expect(lines.filter((line) => line.includes('is a choice'))).toHaveLength(3);
  }
  expect(await terminal.press(ENTER)).toEqual([...SAID, '✔ Which one? three is a choice with quite a long name,', '  longer than a phone']);
  expect(await answer).toBe('three');
});

test('a window that becomes lower has a shorter list', async () => {
  const choices = Array.from({length: 12}, (_, index) => ({value: `${index}`, label: `choice ${index}`}));
  const {terminal} = await under(({prompter}) => prompter.choose({message: 'Which one?', help: [], choices}));
  await terminal.resize(80, 8);
  const lines = await terminal.press(DOWN.repeat(11));
  expect(lines.slice(-8, -7)).toEqual(['? Which one?']);
  expect(lines.at(-2)).toBe('❯ choice 11');
});
