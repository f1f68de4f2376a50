/** An environment variable. */
export interface Variable {
  name: string;
  value: string;
}

/** NAME=value; undefined for other text. */
export function variableIn(text: string): Variable | undefined {
  const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(text) ?? [];
  return name === undefined || value === undefined ? undefined : {name, value};
}
