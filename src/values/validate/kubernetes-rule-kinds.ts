import {isMap, type Tree, type Values} from '../../charts/tree.ts';
import {FORMATS} from './formats.ts';

/** What Kubernetes refuses although its schema allows it. */
export interface Problem {
  /** The field it is about. */
  at: readonly (string | number)[];
  message: string;
  code?: string;
  severity?: 'warning';
}

export type Rule = (object: Values) => readonly (Problem | false | undefined)[];

export const say = (message: string, ...at: (string | number)[]): Problem => ({at, message});
export const isSet = (value: Tree | undefined): boolean => value !== undefined && value !== null && value !== '';

export const form = (format: string, field: string): Rule => {
  return (object) => {
    const value = object[field];
    const problem = typeof value === 'string' && value !== '' ? FORMATS[format]?.(value) : undefined;
    return [problem !== undefined && say(problem, field)];
  };
};

export const filled =
  (field: string): Rule =>
  (object) => [object[field] === '' && say(`${field} is empty.`, field)];

export const between =
  (least: number, most: number, field: string): Rule =>
  ({[field]: value}) => [
    typeof value === 'number' && (value < least || value > most) && say(`${value} is not between ${least} and ${most}.`, field),
  ];

/** One of several fields, and only one. */
export const one =
  (what: string, isOther: (field: string) => boolean = () => false): Rule =>
  (object) => {
    const given = Object.keys(object).filter((field) => !isOther(field) && object[field] !== null);
    if (given.length === 0) return [say(`There is no ${what}.`)];
    return [given.length > 1 && say(`Only one ${what} is allowed, and these are ${given.join(', ')}.`, given[1] as string)];
  };

export const notBoth =
  (first: string, second: string): Rule =>
  (object) => [isSet(object[first]) && isSet(object[second]) && say(`${first} and ${second} exclude one another.`, second)];

export const all =
  (...rules: Rule[]): Rule =>
  (object) =>
    rules.flatMap((rule) => rule(object));

export const absent =
  (field: string): Rule =>
  ({[field]: value}) => [!isSet(value) && say(`There is no ${field}.`)];

/** A path below a volume. */
export const relative =
  (field: string): Rule =>
  ({[field]: path}) => [
    typeof path === 'string' &&
      (path.startsWith('/') || path.split('/').includes('..')) &&
      say('A path here is relative and goes nowhere above its root.', field),
  ];

/** Every text of a list. */
export const each =
  (format: string, field: string): Rule =>
  ({[field]: items}) =>
    (Array.isArray(items) ? items : []).map((item, index) => {
      const problem = FORMATS[format]?.(String(item));
      return problem !== undefined && say(problem, field, index);
    });

export const labelsIn =
  (field: string): Rule =>
  ({[field]: labels}) =>
    Object.entries(isMap(labels) ? labels : {}).map(([key, value]) => {
      const problem = FORMATS['qualified-name']?.(key) ?? (value === null ? undefined : FORMATS['label-value']?.(String(value)));
      return problem !== undefined && say(problem, field, key);
    });

/** What the API keeps in 32 bits. */
export const count = (field: string, least = 0): Rule => between(least, 2 ** 31 - 1, field);

/** The fields that the API wants filled, whether its schema says so or not. */
export const needs = (...fields: string[]): Rule => all(...fields.map(absent));
