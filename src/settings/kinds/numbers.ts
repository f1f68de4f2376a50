import type {Tree} from '../../ground/tree.ts';
import {InvalidValue, type Kind} from './kind.ts';

export const integer = ({
  min,
  max,
  hint = 'N',
}: {
  min: number;
  max: number;
  hint?: string;
}): Kind<number> => ({
  jsonSchema: {type: 'integer', minimum: min, maximum: max},
  hint,
  parse(raw) {
    const value = typeof raw === 'string' && /^-?\d+$/.test(raw.trim()) ? Number(raw) : raw;
    if (!Number.isInteger(value))
      throw new InvalidValue(
        `${JSON.stringify(raw)} is not an integer`,
        `Use a number from ${min} to ${max}`,
      );
    if ((value as number) < min || (value as number) > max)
      throw new InvalidValue(
        `${value} is not between ${min} and ${max}`,
        `Use a number from ${min} to ${max}`,
      );
    return value as number;
  },
  format: (value) => [String(value)],
  fromValues: integerIn,
});

export const integerIn = (tree: Tree): number | undefined =>
  tree === null || tree === '' || typeof tree === 'object' || !Number.isInteger(Number(tree))
    ? undefined
    : Number(tree);

const DURATION = /^(?!$)(?:(\d*\.?\d+)h)?(?:(\d*\.?\d+)m)?(?:(\d*\.?\d+)s)?$/;
const AS_DURATION = 'Use a duration such as 90s, 10m or 1h30m';

/** Whole seconds; Go durations (`2h`, `90s`, `1h30m`) are converted. */
export const seconds = ({min, max}: {min: number; max: number}): Kind<number> => {
  const whole = integer({min, max, hint: 'SECONDS'});
  return {
    ...whole,
    jsonSchema: {
      anyOf: [whole.jsonSchema, {type: 'string', pattern: '^([\\d.]+h)?([\\d.]+m)?([\\d.]+s)?$'}],
    },
    parse(raw, context) {
      if (typeof raw !== 'string' || /^-?\d+$/.test(raw.trim())) return whole.parse(raw, context);
      const [match, h = 0, m = 0, s = 0] = DURATION.exec(raw) ?? [];
      if (match === undefined)
        throw new InvalidValue(`${JSON.stringify(raw)} is not a duration`, AS_DURATION);
      const value = Math.round((Number(h) * 3600 + Number(m) * 60 + Number(s)) * 1000) / 1000;
      if (value > max)
        throw new InvalidValue(
          `${raw} is longer than ${spanOf(max)}`,
          `Use ${spanOf(max)} or less`,
        );
      if (value < min)
        throw new InvalidValue(
          `${raw} is shorter than ${spanOf(min)}`,
          `Use ${spanOf(min)} or more`,
        );
      if (!Number.isInteger(value))
        throw new InvalidValue(`${raw} is not a whole number of seconds`, AS_DURATION);
      return value;
    },
  };
};

/** In the largest unit that gives a whole number. */
function spanOf(value: number): string {
  if (value % 3600 === 0) return `${value / 3600}h`;
  return value % 60 === 0 ? `${value / 60}m` : `${value}s`;
}
