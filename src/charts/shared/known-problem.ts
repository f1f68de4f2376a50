import {isOn, textAt, type Values} from '../../ground/tree.ts';

/** What the known problems of an upgrade depend on besides both versions. */
export interface KnownProblemFacts {
  release: string;
  /** Installed values, merged over the chart defaults. */
  values: Values;
}

/** An effect of an upgrade from one range of versions to another. */
export interface KnownProblem {
  /** Its name in JSON. */
  code: string;
  /** `error`: the upgrade fails or loses data. `warning`: runs or the agent behave differently. */
  verdict: 'error' | 'warning' | 'note';
  from: string;
  to: string;
  /** Releases that it applies to (default: all releases). */
  when?(facts: KnownProblemFacts): boolean;
  /** For which releases, for the documentation. */
  whose?: string;
  reason: string;
  remedy: string;
  /** `scalr-agent upgrade` applies the remedy itself. */
  isHandled?: true;
}

type Effect = Omit<KnownProblem, 'code' | 'verdict' | 'from' | 'to'>;
const problem =
  (verdict: KnownProblem['verdict']) =>
  (
    code: string,
    [from, to]: readonly [from: string, to: string],
    effect: Effect,
  ): KnownProblem => ({code, verdict, from, to, ...effect});

export const blocking = problem('error');
export const behavior = problem('warning');
export const info = problem('note');

/** `--reuse-values` passes the defaults of the old version, which lack the keys of the new one. */
export const reuseValues = (from: string, to: string): KnownProblem =>
  info('REUSE_VALUES', [from, to], {
    reason:
      'The Helm flag --reuse-values fails or leaves new keys empty, because it passes the defaults of the old version',
    remedy: 'Pass all values, or use --reset-then-reuse-values',
    isHandled: true,
  });

/** Some versions were released from an older branch, without client certificates. */
export const mutualTlsVanishes = (key: string, from: string, to: string): KnownProblem =>
  blocking('CLIENT_CERTIFICATE_IGNORED', [from, to], {
    when: ({values}) =>
      textAt(values, `${key}.clientCertSecret.name`) !== '' ||
      textAt(values, `${key}.clientCert`) !== '',
    whose: 'client certificates',
    reason: 'This version was released from an older branch, and ignores client certificates',
    remedy: 'Use 0.6.1 or later',
  });

/** The volumes whose PVC the chart creates. */
export const ownVolumes = (values: Values): string[] =>
  ['persistence', 'persistence.cache', 'persistence.data'].filter(
    (key) =>
      isOn(values, `${key}.enabled`) &&
      textAt(values, `${key}.persistentVolumeClaim.claimName`) === '',
  );
