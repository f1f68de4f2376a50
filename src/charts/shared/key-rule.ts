import {at, type Values} from '../../ground/tree.ts';
import type {ValuesRule} from './rule.ts';

type Text = string | ((values: Values, key: string) => string);
interface KeyRule extends Pick<ValuesRule, 'in'> {
  keys: readonly string[];
  isWrong(values: Values, key: string): boolean;
  message: Text;
  suggestion?: Text | undefined;
}

/** One finding per invalid key. */
const keyRule =
  (verdict: ValuesRule['verdict']) =>
  (code: string, {keys, isWrong, message, suggestion, ...rule}: KeyRule): ValuesRule => ({
    ...rule,
    code,
    verdict,
    test: (values) => {
      const say = (text: Text, key: string): string =>
        typeof text === 'string' ? text : text(values, key);
      return keys
        .filter((key) => isWrong(values, key))
        .map((key) => ({
          path: at(key),
          message: say(message, key),
          suggestion: suggestion && say(suggestion, key),
        }));
    },
  });
export const keyError = keyRule('error');
export const keyWarning = keyRule('warning');

/** Keys and their versions (default: all). */
export type Keys = Pick<KeyRule, 'in' | 'keys'>;
