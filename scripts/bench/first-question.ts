import {spawn} from '@lydell/node-pty';
import {ROOT, WIZARD} from '../../test/package/built.ts';

const FIRST_QUESTION = /Where will the agent run/;

/** Starts the wizard, and leaves it at its first question. No tool is on its PATH, so that it is the same everywhere. */
export function untilFirstQuestion(
  env: Readonly<Record<string, string>>,
  [command = '', ...args]: readonly string[] = [process.execPath],
): Promise<void> {
  const window = {
    cols: 80,
    rows: 24,
    cwd: ROOT,
    env: {...env, PATH: '/missing', TERM: 'xterm', LANG: 'C.UTF-8'},
  };
  const pty = spawn(command, [...args, WIZARD], window);
  let screen = '';
  let hasCome = false;
  pty.onData((text) => {
    screen += text;
    if (hasCome || !FIRST_QUESTION.test(screen)) return;
    hasCome = true;
    pty.write('\u0003');
  });
  return new Promise((resolve, reject) => {
    pty.onExit(({exitCode}) => {
      if (hasCome && exitCode === 130) resolve();
      else reject(new Error(`The wizard ended with ${exitCode}:\n${screen}`));
    });
  });
}
