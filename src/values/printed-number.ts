/** A number as the templates print it: the shortest digits, with an exponent below 0.0001 and from a million on. */
export function printedNumber(value: number): string {
  if (Object.is(value, -0)) return '-0';
  const [digits, exponent = '0'] = value.toExponential().split('e');
  if (Number(exponent) >= -4 && Number(exponent) < 6) return String(value);
  return `${digits}e${exponent.replace(/^([-+])(\d)$/, '$10$2')}`;
}
