/** A CI system runs this program. `CI=false` is how people say that none does. */
export const isCi = ({CI = ''}: Readonly<Record<string, string | undefined>>): boolean =>
  !['', '0', 'false', 'no'].includes(CI.toLowerCase());
