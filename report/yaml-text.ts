/** A JSON value as YAML for reading. Pure. */
export function yamlText(value: unknown, indent = ''): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return `${indent}[]\n`;
    return value.map((item) => `${indent}- ${nested(item, `${indent}  `)}`).join('');
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value);
    if (entries.length === 0) return `${indent}{}\n`;
    return entries.map(([key, item]) => `${indent}${scalar(key)}:${member(item, indent)}`).join('');
  }
  return `${indent}${scalar(value)}\n`;
}

/** After a dash: the first key stands in the same line. */
const nested = (item: unknown, indent: string): string =>
  isTree(item) ? yamlText(item, indent).slice(indent.length) : inline(item, indent);

const member = (item: unknown, indent: string): string => {
  if (!isTree(item)) return ` ${inline(item, `${indent}  `)}`;
  return `\n${yamlText(item, Array.isArray(item) ? indent : `${indent}  `)}`;
};

const isTree = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0;

function inline(value: unknown, indent: string): string {
  if (typeof value === 'string' && value.includes('\n')) {
    const lines = value.replace(/\n$/, '').split('\n');
    return `${value.endsWith('\n') ? '|' : '|-'}\n${lines.map((line) => `${line === '' ? '' : indent}${line}\n`).join('')}`;
  }
  if (Array.isArray(value)) return '[]\n';
  return typeof value === 'object' && value !== null ? '{}\n' : `${scalar(value)}\n`;
}

/** Texts that YAML 1.1 would read as another type, or that have a meaning in YAML, are quoted. */
const PLAIN = /^[A-Za-z_/.][\w ./@%+=,;()[\]{}<>~^$*!?-]*(?<! )$/;
const WORDS = /^(true|false|yes|no|on|off|y|n|null|\.inf|\.nan)$/i;

const scalar = (value: unknown): string =>
  typeof value === 'string' && PLAIN.test(value) && !WORDS.test(value)
    ? value
    : JSON.stringify(value ?? null);
