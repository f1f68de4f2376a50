import {mkdir, writeFile} from 'node:fs/promises';
import {dirname} from 'node:path';
import {fileURLToPath} from 'node:url';
import {token} from '../../src/settings/agent.ts';
import {concurrency} from '../../src/settings/purpose.ts';
import {Film} from './film.ts';
import {setStage} from './stage.ts';
import {svgOf} from './svg.ts';

/** `npm run record`: films a real install and makes the picture in the README of it. */
const PICTURE = fileURLToPath(new URL('../../docs/install.svg', import.meta.url));
const SIZE = {columns: 90, rows: 26};
const ENTER = '\r';
const CLEAR = '\u0015';
const part = (content: object): string =>
  Buffer.from(JSON.stringify(content)).toString('base64url');
const TOKEN = `${part({alg: 'HS256', typ: 'JWT'})}.${part({host: 'acme.scalr.io'})}.${'made-up'.repeat(6)}`;

/** What is pressed at a question, the first time and the next; at all others Enter. The one decision: the number of the command is too large for the nodes. */
const KEYS: Readonly<Record<string, (readonly string[])[]>> = {
  [token.question]: [[TOKEN, ENTER]],
  'What do you want to do?': [['f', ENTER], [ENTER]],
  [concurrency.question]: [[CLEAR, '6', ENTER]],
};

/** Seconds for a question, and for one with a failed check and its remedy. */
const ASKED = 2;
const EXPLAINED = 3.5;
const PROMPT = '$';
const lastOf = (screen: readonly string[]): string | undefined =>
  screen.findLast((line) => line !== '');
/** The question on the screen: everything below the last step. Nothing is asked during a wait or an install. */
function asked(screen: readonly string[]): string | undefined {
  const step = screen.findLastIndex((line) => line.startsWith('◆'));
  const text = screen.slice(step).join('\n');
  return step < 0 || /[\u2800-\u28FF]|│ {2}[✓◌○] |└|^◆ {2}Install/m.test(text) ? undefined : text;
}
const isOver = (screen: readonly string[]): boolean => lastOf(screen) === PROMPT;

const stage = await setStage();
try {
  const film = new Film('/bin/sh', {...SIZE, cwd: stage.directory, env: stage.env});
  await film.until((screen) => isOver(screen) || undefined);
  await film.type('scalr-agent-install --concurrency 10');
  film.begin();
  await film.press(ENTER);
  for (;;) {
    const question = await film.until(
      (screen) => asked(screen) ?? (isOver(screen) ? PROMPT : undefined),
    );
    if (question === PROMPT) break;
    film.hold(question.includes('×') ? EXPLAINED : ASKED);
    const keys = Object.entries(KEYS)
      .find(([text]) => question.startsWith(`◆  ${text}`))?.[1]
      .shift() ?? [ENTER];
    for (const key of keys) await film.press(key, key === ENTER ? undefined : 0.07);
    await film.until((screen) => asked(screen) !== question || undefined);
  }
  const end = film.screen.join('\n');
  if (!end.includes('Agent registered with'))
    throw new Error(`It did not come to a good end:\n${end}`);
  film.end(2.5);
  await mkdir(dirname(PICTURE), {recursive: true});
  await writeFile(PICTURE, svgOf(film.frames, 'Installing a Scalr agent with the wizard', SIZE));
} finally {
  await stage.clear();
}
