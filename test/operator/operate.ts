import {play, shorten, type World} from './sequence.ts';

/** Five sequences of seven steps; 500 steps in `npm run test:full`; OPERATOR_SEED and OPERATOR_STEPS repeat one. */
const [count, first] = process.env['TEST_FULL'] ? [72, Date.now() % 1_000_000] : [5, 1];
const STEPS = Number(process.env['OPERATOR_STEPS'] ?? 7);
const seeds = process.env['OPERATOR_SEED']
  ? process.env['OPERATOR_SEED'].split(',').map(Number)
  : Array.from({length: count}, (_, index) => first + index);

/** Plays all sequences, several at a time. Returns a report of those that broke an invariant. */
export async function operate(world: () => Promise<World>, atOnce = 3): Promise<string> {
  const failures: string[] = [];
  const waiting = [...seeds];
  const worker = async (): Promise<void> => {
    for (let seed = waiting.shift(); seed !== undefined; seed = waiting.shift()) {
      const place = await world();
      const played = await play(place, {seed, count: STEPS});
      await place.end();
      if (played.broken.length === 0) continue;
      const {steps, broken} = process.env['OPERATOR_SHORTEN']
        ? await shorten(played, world)
        : played;
      const listed = steps.map((step, index) => `  ${index + 1}. ${step}`);
      failures.push(
        [`OPERATOR_SEED=${seed} OPERATOR_STEPS=${played.steps.length}`, ...listed, ...broken].join(
          '\n',
        ),
      );
      // A long run can be interrupted.
      process.stderr.write(`${failures.at(-1)}\n\n`);
    }
  };
  await Promise.all(Array.from({length: atOnce}, worker));
  return failures.join('\n\n');
}
