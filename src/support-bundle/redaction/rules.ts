import {commandRules} from './command-rules.ts';
import {keyRule} from './key-rules.ts';
import {namedOutput, sensitiveOutput} from './output-rules.ts';
import {nameThenValue, valueThenName} from './pair-rules.ts';
import type {Rule} from './rule.ts';
import {textRules} from './text-rules.ts';
import {tokenShapes} from './token-shapes.ts';

/** Everything that is noticed without knowing the value. */
export const RULES: readonly Rule[] = [
  ...tokenShapes,
  ...textRules,
  keyRule,
  nameThenValue,
  valueThenName,
  namedOutput,
  sensitiveOutput,
  ...commandRules,
];
