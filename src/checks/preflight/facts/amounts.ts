import {isMap, type Tree, type Values} from '../../../ground/tree.ts';
import {milliOf} from '../../../settings/kinds/quantities.ts';

/** In thousandths of a core, a byte or a piece. */
export type Amounts = Readonly<Record<string, bigint>>;

export const MILLI_PER_UNIT = 1000n;

/** The quantities of Kubernetes that can be read. */
export function amountsOf(quantities: unknown): Amounts {
  const given = isMap(quantities as Tree) ? (quantities as Values) : {};
  const amounts = Object.entries(given).map(([key, quantity]) => [key, milliOf(String(quantity))]);
  return Object.fromEntries(amounts.filter(([, milli]) => milli !== undefined));
}

export const sum = (one: Amounts, other: Amounts): Amounts =>
  merged(one, other, (first, second) => first + second);

export const maximum = (one: Amounts, other: Amounts): Amounts =>
  merged(one, other, (first, second) => (first > second ? first : second));

function merged(
  one: Amounts,
  other: Amounts,
  join: (first: bigint, second: bigint) => bigint,
): Amounts {
  const keys = Object.keys({...one, ...other});
  return Object.fromEntries(keys.map((key) => [key, join(one[key] ?? 0n, other[key] ?? 0n)]));
}

const UNITS = {Gi: 1024n ** 3n, Mi: 1024n ** 2n, Ki: 1024n};

/** An amount as a Kubernetes quantity: 1500m, 1Gi */
export function spellAmount(resource: string, milli: bigint): string {
  const isWhole = milli % MILLI_PER_UNIT === 0n;
  if (resource.endsWith('cpu') && !isWhole) return `${milli}m`;
  const whole = (milli + MILLI_PER_UNIT - 1n) / MILLI_PER_UNIT;
  if (!/memory|storage/.test(resource) || whole === 0n) return String(whole);
  const unit = Object.entries(UNITS).find(([, size]) => whole % size === 0n);
  return unit === undefined ? String(whole) : `${whole / unit[1]}${unit[0]}`;
}
