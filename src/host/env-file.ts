/** Who reads the file: each has its own quoting. */
type Reader = 'docker' | 'compose' | 'systemd';

const PLAIN = /^[\w@%+=:,./-]*$/;

/** Variables, one per line. */
export function envFile(variables: Readonly<Record<string, string>>, reader: Reader, header: readonly string[]): string {
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${spell(value, reader)}`);
  return [...header.map((line) => `# ${line}`), ...lines].map((line) => `${line}\n`).join('');
}

function spell(value: string, reader: Reader): string {
  // docker run reads each line as it is.
  if (reader === 'docker' || PLAIN.test(value)) return value;
  // Docker Compose 1 and 2 read escapes differently, but both read single quotes literally.
  if (!/['\\]/.test(value)) return `'${value}'`;
  return `"${value.replaceAll(/["\\$`]/g, (sign) => `\\${sign}`)}"`;
}
