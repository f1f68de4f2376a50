import type {Finding} from './finding.ts';
import type {Source} from './source.ts';

const PLACEHOLDER = /^<[^<>]+>$|\{\{.*\}\}|^(changeme|your[-_ ].*)$/i;

/** A text that is a blank and nothing else. */
export const isWhollyOpen = (text: string): boolean => /^(<[^<>]+>|\{\{[^{}]*\}\})$/.test(text);

/** Blanks of a template that nobody filled in. */
export function placeholders({values, locate}: Source): Finding[] {
  return texts(values).flatMap(([path, text]) =>
    PLACEHOLDER.test(text)
      ? [
          {
            severity: 'error' as const,
            code: 'PLACEHOLDER',
            path: path.join('.'),
            ...(locate(path) ?? {}),
            message: `"${text}" is a placeholder.`,
            suggestion: 'Replace it by the real value',
          },
        ]
      : [],
  );
}

function texts(tree: unknown, path: readonly string[] = []): [readonly string[], string][] {
  if (typeof tree === 'string') return [[path, tree]];
  return typeof tree === 'object' && tree !== null ? Object.entries(tree).flatMap(([key, below]) => texts(below, [...path, key])) : [];
}
