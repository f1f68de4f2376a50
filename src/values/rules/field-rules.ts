import {isMap} from '../../ground/tree.ts';
import {FORMATS} from './formats.ts';
import {badFormat, type PodRule, violation} from './rule-parts.ts';

export const hasFormat =
  (format: string, field: string): PodRule =>
  ({[field]: value}) => [
    typeof value === 'string' && value !== '' && badFormat(FORMATS[format]?.(value), field),
  ];

export const inRange =
  (least: number, most: number, field: string): PodRule =>
  ({[field]: value}) => [
    typeof value === 'number' &&
      (value < least || value > most) &&
      violation(`Invalid value ${value}: must be between ${least} and ${most}.`, field),
  ];

export const itemsHaveFormat =
  (format: string, field: string): PodRule =>
  ({[field]: items}) =>
    (Array.isArray(items) ? items : []).map((item, index) =>
      badFormat(FORMATS[format]?.(String(item)), field, index),
    );

export const validLabels =
  (field: string): PodRule =>
  ({[field]: labels}) =>
    Object.entries(isMap(labels) ? labels : {}).map(([key, value]) => {
      const badKey = FORMATS['qualified-name']?.(key);
      const badValue = value === null ? undefined : FORMATS['label-value']?.(String(value));
      return badFormat(badKey ?? badValue, field, key);
    });

/** The API stores 32 bits, also of the ids of users and groups. */
export const int32 = (field: string, least = 0): PodRule => inRange(least, 2 ** 31 - 1, field);
