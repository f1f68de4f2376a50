import {selectsImagesOfRuns} from '../../../charts/images.ts';
import {commandLine} from '../../../ground/command-line.ts';
import {changing} from '../../../ground/finding.ts';
import type {ManifestAnswer} from '../../../ground/system/system.ts';
import {few} from '../../../ground/text.ts';
import {imagePullSecret, imageRegistry} from '../../../settings/images.ts';
import {manifestUrl} from '../../../settings/kinds/images.ts';
import {chartSource} from '../../../settings/release.ts';
import {withValue} from '../../../settings/spelling.ts';
import {type Check, check} from '../checks/check.ts';
import {
  type CheckResult,
  fail,
  notChecked,
  pass,
  type RemedyText,
  warn,
  worstOf,
} from '../checks/check-result.ts';
import type {Mirror, PreflightContext} from '../facts/context.ts';
import {type ProbeAnswer, probeFindings} from './probe-log.ts';

const REF = 'https://distribution.github.io/distribution/spec/api/#existing-manifests';

type Asked = Mirror['images'][number];

const mirrorImages = check(
  'Network',
  'mirror-images',
  'Images in the registry, from this machine',
  {
    ref: REF,
    run: (context) => {
      if (context.mirror === undefined) return undefined;
      if (context.mirror.images.length === 0)
        return notChecked('The images of this chart version are unknown');
      return resultOf(context.mirror.images, context, {
        from: 'this machine',
        unreachable:
          'The nodes may still reach it. Check from inside the cluster: scalr-agent preflight --probe',
      });
    },
  },
);

/** Only a warning if unreachable: network policies, proxies and certificates of pods do not apply to nodes. The check `probe-pod` reports failed pulls. */
const probeMirror = check('Probe', 'probe-mirror', 'Images in the registry, from the probe pod', {
  ref: REF,
  run: (context) => {
    const {probe, mirror} = context;
    if (probe === undefined || mirror?.images.some(({image}) => isAskedByProbe(image)) !== true)
      return undefined;
    if (!('plan' in probe) || probe.seen.log === undefined)
      return notChecked('The probe pod did not complete');
    const {manifests} = probeFindings(probe.seen.log);
    const asked = mirror.images.flatMap(({image}) => {
      const answer = manifests.find(({url}) => url === manifestUrl(image));
      return answer === undefined ? [] : [{image, answer: answerOf(answer)}];
    });
    if (asked.length === 0) return notChecked('The probe did not report a result');
    return resultOf(asked, context, {
      from: 'the probe pod',
      unreachable: changing`Check that nodes reach the registry and trust its certificate, or correct ${imageRegistry}`,
    });
  },
});

/** Without TLS, the registry is on the machine that asks. */
export const isAskedByProbe = (image: string): boolean => manifestUrl(image).startsWith('https:');

/** A request of the probe, as an answer of a registry. */
function answerOf({state, detail}: ProbeAnswer): ManifestAnswer {
  if (state !== 'ok') return {state: 'failed', because: [state, detail].filter(Boolean).join(' ')};
  if (detail === '200') return {state: 'found'};
  if (detail === '404') return {state: 'missing'};
  return detail === '401' || detail === '403'
    ? {state: 'denied'}
    : {state: 'failed', because: `it responded with HTTP ${detail}`};
}

/** `unreachable` is the remedy. */
function resultOf(
  asked: readonly Asked[],
  context: PreflightContext,
  {from, unreachable}: {from: string; unreachable: RemedyText},
): CheckResult | undefined {
  const registry = context.get(imageRegistry) as string;
  const pullSecret = context.get(imagePullSecret);
  const having = (state: ManifestAnswer['state']): Asked[] =>
    asked.filter(({answer}) => answer.state === state);
  const missing = having('missing');
  const failed = having('failed');
  const denied = having('denied');
  const found = having('found');
  const reasons = failed.flatMap(({answer}) => (answer.state === 'failed' ? [answer.because] : []));
  const selectsThem = selectsImagesOfRuns(context.values, context.target);
  const unlisted = selectsThem
    ? '. Run images are not checked, because the agent selects them by tool version'
    : '';
  // Some registries hide private images from requests without credentials.
  const absent = pullSecret === undefined ? fail : warn;
  return worstOf([
    missing.length === 0
      ? undefined
      : absent(
          `From ${from}: ${few(missing.map(({image}) => image))} not found`,
          `Print the commands that copy the images: ${copyCommand(context)}`,
        ),
    failed.length === 0
      ? undefined
      : warn(
          `Cannot reach ${registry} from ${from}: ${[...new Set(reasons)].join(', ')}`,
          unreachable,
        ),
    denied.length === 0
      ? undefined
      : notChecked(
          `From ${from}: ${registry} requires authentication`,
          pullSecret === undefined
            ? changing`Set ${imagePullSecret}, unless the nodes have credentials for the registry`
            : changing`Nodes use ${withValue(imagePullSecret, pullSecret)}, which this check does not use`,
        ),
    found.length === 0 ? undefined : pass(`From ${from}: ${few(found.map(pinned))}${unlisted}`),
  ]);
}

/** With the digest, if the registry has told it. */
const pinned = ({image, answer}: Asked): string =>
  answer.state === 'found' && answer.digest !== undefined && !image.includes('@')
    ? `${image} (${answer.digest})`
    : image;

function copyCommand({get, target, mirror}: PreflightContext): string {
  const source = get(chartSource);
  const chart =
    source === undefined
      ? ['--chart', target.chart, '--chart-version', target.version]
      : ['--chart-source', source];
  return [
    commandLine({tool: 'scalr-agent', args: ['images', ...chart]}),
    ...(mirror?.flags ?? []),
  ].join(' ');
}

export const mirrorChecks: readonly Check[] = [mirrorImages];
export const mirrorProbeChecks: readonly Check[] = [probeMirror];
