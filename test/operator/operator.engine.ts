import {expect, type TestContext, test} from 'vitest';
import {buildStandIns, startDocker} from '../engines/docker.ts';
import {FOUND, NEW, OLD} from './docker-steps.ts';
import {dockerWorld} from './docker-world.ts';
import {operate} from './operate.ts';
import {play} from './sequence.ts';

async function machine(context: Pick<TestContext, 'skip'>) {
  const engine = await startDocker(context);
  await buildStandIns(engine, context, [OLD, NEW]);
  return () => dockerWorld(engine);
}

test('no longer breaks an invariant that it once broke', {timeout: 600_000}, async (context) => {
  const world = await machine(context);
  for (const [title, steps] of Object.entries(FOUND)) {
    const {broken} = await play(await world(), steps);
    expect.soft(broken.join('\n'), title).toBe('');
  }
});

test('random sequences of operators keep every invariant', {
  timeout: 3_600_000,
}, async (context) => {
  // All sequences use the names of one machine.
  expect(await operate(await machine(context), 1)).toBe('');
});
