import {CHARTS} from '../charts/charts.ts';
import {within} from '../charts/releases.ts';
import type {Path} from '../charts/tree.ts';
import type {ReleaseName} from '../ports/place.ts';
import {token, tokenFile, tokenSecret, tokenSecretKey} from '../settings/agent.ts';
import {chartSource} from '../settings/release.ts';
import {clientCertFile, clientCertSecret, clientKeyFile} from '../settings/tls.ts';
import {effectiveValues} from '../values/effective.ts';
import type {Generated} from '../values/generate.ts';
import type {WantedRelease} from './install.ts';
import type {WantedSecret} from './wanted-secret.ts';

/** The release that settings ask for. */
export function wantedRelease(
  {target, settings, values, origins}: Generated,
  yaml: string,
  name: ReleaseName,
): Omit<WantedRelease, 'manifest'> {
  const source = settings.get(chartSource);
  return {
    name,
    chart: {...target, ...(source === undefined ? {} : {source})},
    values,
    effective: effectiveValues(values, target),
    asked: [...origins.filter(({setting}) => settings.isExplicit(setting)).map(({path}) => path), ...pathsAsked(target, settings)],
    yaml,
    secrets: [tokenSecretOf(settings), ...clientCertificateOf(settings)],
  };
}

type Settings = Generated['settings'];

/** Where settings that somebody gave would be written, also where that is the default and so is not. */
const pathsAsked = ({chart, version}: Generated['target'], settings: Settings): Path[] =>
  CHARTS[chart].rows.filter((row) => settings.isExplicit(row.setting) && within(version, row.in)).flatMap(({paths}) => [...paths]);

const tokenSecretOf = (settings: Settings): WantedSecret => ({
  name: settings.get(tokenSecret) as string,
  type: 'Opaque',
  data: {[settings.get(tokenSecretKey) as string]: settings.get(token) ?? settings.get(tokenFile)},
  howToGive: 'Give the agent pool token in SCALR_AGENT_TOKEN or with --token-file, or name the Secret that holds it with --token-secret',
});

function clientCertificateOf(settings: Settings): WantedSecret[] {
  const name = settings.get(clientCertSecret);
  if (name === undefined) return [];
  return [
    {
      name,
      type: 'kubernetes.io/tls',
      data: {'tls.crt': settings.get(clientCertFile), 'tls.key': settings.get(clientKeyFile)},
      howToGive: 'Give the client certificate with --client-cert-file and --client-key-file, or name its Secret with --client-cert-secret',
    },
  ];
}
