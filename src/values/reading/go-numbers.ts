/** Go reads 64 bits, signed or unsigned. */
export function intOf(text: string): bigint | undefined {
  const [, sign = '', digits] =
    /^([-+]?)(0[xX][\da-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|0|[1-9]\d*)$/.exec(
      /^[-+\d]/.test(text) ? text.replaceAll('_', '') : '',
    ) ?? [];
  if (digits === undefined) return undefined;
  const int = BigInt(sign === '-' ? -1 : 1) * BigInt(digits.replace(/^0[oO]?(?=[0-7])/, '0o'));
  return int >= -(2n ** 63n) && int < 2n ** (sign === '' ? 64n : 63n) ? int : undefined;
}

/** The decimal number that a misleading octal looks like. */
export const withoutZeros = (text: string): string =>
  text.replaceAll('_', '').replace(/^([-+]?)0+(?=\d)/, '$1');

export const isMisleadingOctal = (text: string): boolean =>
  /^[-+]?0[0-7_]+$/.test(text) && intOf(text) !== BigInt(withoutZeros(text).replace('+', ''));

/** Go has no map key for an integer above 63 bits. */
export function intKey(text: string): string | undefined {
  const int = intOf(text);
  return int !== undefined && int < 2n ** 63n ? String(int) : undefined;
}

/** A float as a map key: Go prints the shortest digits that give the same 32 bits. */
export function floatKey(value: number): string {
  const single = Math.fround(value);
  if (Number.isNaN(single)) return '.nan';
  if (!Number.isFinite(single)) return single > 0 ? '.inf' : '-.inf';
  const precision =
    [1, 2, 3, 4, 5, 6, 7, 8, 9].find(
      (digits) => Math.fround(Number(single.toPrecision(digits))) === single,
    ) ?? 9;
  return withGoExponent(single.toExponential(precision - 1));
}

/** From this number on, a template prints 1e+06 instead of 1000000. */
export const FIRST_EXPONENT = 1_000_000;

/** A number as templates print it. */
export const printedNumber = (value: number): string =>
  Object.is(value, -0) ? '-0' : withGoExponent(value.toExponential());

/** Go prints an exponent of two digits below 0.0001 and from a million on. */
function withGoExponent(number: string): string {
  const [digits, exponent = '0'] = number.split('e');
  const isShort = Number(exponent) >= -4 && Number(exponent) < 6;
  return isShort
    ? String(Number(number))
    : `${digits}e${exponent.replace(/^([-+])(\d)$/, '$10$2')}`;
}
