import {randomInt} from 'node:crypto';
import fc from 'fast-check';
import {afterEach, beforeEach} from 'vitest';

/**
 * `PROPERTY_SEED=1` repeats every property with this seed and shrinks its counterexample. Without it a property fails at once,
 * because a long search for a smaller counterexample would end in a timeout, which prints no seed. In CI the cases are always the same:
 * a change must not be refused for a case that another run would not have tried.
 */
const given = process.env['PROPERTY_SEED'];
const isFixed = Boolean(process.env['CI']);
let seed = 0;
let isProperty = false;

beforeEach(() => {
  seed = given === undefined && !isFixed ? randomInt(2 ** 31) : Number(given ?? 1);
  isProperty = false;
  fc.configureGlobal({
    seed,
    endOnFailure: given === undefined,
    beforeEach: () => {
      isProperty = true;
    },
  });
});

afterEach(({task}) => {
  if (isProperty && task.result?.state === 'fail')
    process.stderr.write(`PROPERTY_SEED=${seed} repeats: ${task.name}\n`);
});
