import type {ReadError} from '../../../ground/fact.ts';
import {type ObjectFinding, remediesOf} from '../../../ground/finding.ts';

/** A part that could not be read, or only incompletely. */
export interface Gap {
  /** Missing file in the bundle, or the kind of object. */
  what: string;
  error: ReadError;
  /** When the recording broke off, as ISO 8601. */
  at?: string | undefined;
  /** Optional part that many accounts cannot read. */
  isMinor?: boolean;
  /** Secrets of a namespace: they were not searched, so their values may be in the bundle. */
  isOfSecrets?: boolean;
}

/** A part that is optional for an account that cannot read it. */
export const optionalGap = (what: string, error: ReadError): Gap => ({
  what,
  error,
  isMinor: error.kind === 'forbidden',
});

export const gapFinding = ({what, error: {kind, message, steps = []}}: Gap): ObjectFinding => ({
  code: kind === 'forbidden' ? 'FORBIDDEN' : 'NOT_COLLECTED',
  verdict: 'unknown',
  subject: {object: what},
  message,
  remedies: remediesOf(...steps),
});

/** As errors.json and --json have it. */
export const gapDocument = (gap: Gap) => ({
  ...gapFinding(gap),
  kind: gap.error.kind,
  at: gap.at,
  isMinor: gap.isMinor ?? false,
});

export const cleanGap = ({what, error, ...gap}: Gap, clean: (text: string) => string): Gap => ({
  ...gap,
  what: clean(what),
  error: {...error, message: clean(error.message)},
});
