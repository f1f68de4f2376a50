import type {Tree, Values} from '../../ground/tree.ts';
import type {Misspelling} from './formats.ts';

/** Something that Kubernetes rejects although its schema allows it. */
export interface Problem {
  /** The field below the object. */
  at: readonly (string | number)[];
  message: string;
  code?: string;
  verdict?: 'warning';
  suggestion?: string | undefined;
}

export type PodRule = (object: Values) => readonly (Problem | false | undefined)[];

export const violation = (message: string, ...at: (string | number)[]): Problem => ({at, message});
export const badFormat = (
  misspelling: Misspelling | undefined,
  ...at: (string | number)[]
): Problem | undefined => misspelling && {at, ...misspelling};
export const isSet = (value: Tree | undefined): boolean =>
  value !== undefined && value !== null && value !== '';

export const notEmpty =
  (field: string): PodRule =>
  (object) => [object[field] === '' && violation(`${field} must not be empty.`, field)];

export const exactlyOne =
  (what: string, isOther: (field: string) => boolean = () => false): PodRule =>
  (object) => {
    const given = Object.keys(object).filter((field) => !isOther(field) && object[field] !== null);
    if (given.length === 0) return [violation(`Must specify a ${what}.`)];
    return [
      given.length > 1 &&
        violation(
          `Must not specify more than one ${what}: ${given.join(', ')}.`,
          given[1] as string,
        ),
    ];
  };

export const notBoth =
  (first: string, second: string): PodRule =>
  (object) => [
    isSet(object[first]) &&
      isSet(object[second]) &&
      violation(`${first} and ${second} are mutually exclusive.`, second),
  ];

export const allOf =
  (...rules: PodRule[]): PodRule =>
  (object) =>
    rules.flatMap((rule) => rule(object));

export const required =
  (field: string): PodRule =>
  ({[field]: value}) => [!isSet(value) && violation(`${field} is required.`)];
