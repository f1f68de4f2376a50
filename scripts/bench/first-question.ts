import {performance} from 'node:perf_hooks';
import {spawn} from '@lydell/node-pty';
import {ROOT, WIZARD} from '../../test/package/built.ts';

const FIRST_QUESTION = /Where will the agent run/;

/** When the first question of the wizard has come, by the clock of performance.now(). There is no kubectl, so that it is the same everywhere. */
export function untilFirstQuestion(
  env: Readonly<Record<string, string>>,
  node = process.execPath,
): Promise<number> {
  const window = {cols: 80, rows: 24, cwd: ROOT, env: {...env, TERM: 'xterm', LANG: 'C.UTF-8'}};
  const pty = spawn(node, [WIZARD], window);
  let screen = '';
  let came: number | undefined;
  pty.onData((text) => {
    screen += text;
    if (came !== undefined || !FIRST_QUESTION.test(screen)) return;
    came = performance.now();
    pty.write('\u0003');
  });
  return new Promise((resolve, reject) => {
    pty.onExit(({exitCode}) => {
      if (came !== undefined && exitCode === 130) resolve(came);
      else reject(new Error(`The wizard ended with ${exitCode}:\n${screen}`));
    });
  });
}
