import type {Tree, Values} from '../../charts/tree.ts';
import {dotted, type Finding, type TreePath} from './finding.ts';
import type {Source} from './source.ts';

const BLANK = /^<[^<>]+>$|^(changeme|your[-_ ].*)$/i;
const TEMPLATE = /\{\{.*\}\}/;

/** A text that is a blank and nothing else. */
export const isWhollyOpen = (text: string): boolean => /^(<[^<>]+>|\{\{[^{}]*\}\})$/.test(text);

/** Blanks of a template that nobody filled in. */
export const placeholders = ({values, locate}: Source): Finding[] =>
  openTexts(values).map(({path, text}) => ({
    severity: 'error',
    code: 'PLACEHOLDER',
    path: dotted(path),
    ...(locate(path) ?? {}),
    message: `"${text}" is a placeholder.`,
    suggestion: 'Replace it by the real value',
  }));

/** Where the blanks are, and what stands there. */
export const openTexts = (values: Values): {path: TreePath; text: string}[] =>
  texts(values).filter(({path, text}) => BLANK.test(text) || (TEMPLATE.test(text) && !isOfOthers(path)));

/** Annotations and variables carry templates for other programs, such as those of the injector of Vault. */
const isOfOthers = (path: TreePath): boolean => path.slice(0, -1).some((key) => /(?:annotations|env)$/i.test(String(key)));

function texts(tree: Tree, path: TreePath = []): {path: TreePath; text: string}[] {
  if (typeof tree === 'string') return [{path, text: tree}];
  if (Array.isArray(tree)) return tree.flatMap((below, index) => texts(below, [...path, index]));
  return typeof tree === 'object' && tree !== null ? Object.entries(tree).flatMap(([key, below]) => texts(below, [...path, key])) : [];
}
