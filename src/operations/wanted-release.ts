import {chartFor} from '../charts/charts.ts';
import {within} from '../charts/releases.ts';
import type {ReleaseName} from '../ground/command-line.ts';
import type {Secret} from '../ground/secret.ts';
import type {Path, Values} from '../ground/tree.ts';
import type {ChartReference} from '../helm/helm.ts';
import type {KubernetesObject} from '../kubernetes/objects.ts';
import {type AccountToken, accountAnnotations} from '../release/namespace.ts';
import {token, tokenFile, tokenSecret, tokenSecretKey} from '../settings/agent.ts';
import {spell} from '../settings/define.ts';
import {chartSource} from '../settings/release.ts';
import {clientCertFile, clientCertSecret, clientKeyFile} from '../settings/tls.ts';
import type {Generated} from '../values/generate.ts';
import {effectiveValues} from '../values/read-values.ts';

export interface WantedRelease {
  name: ReleaseName;
  chart: ChartReference;
  values: Values;
  /** With the defaults of the chart. */
  effective: Values;
  /** Keys of the values that come from explicit settings, not from defaults. */
  explicitPaths: readonly Path[];
  /** The values file for helm. */
  yaml: string;
  secrets: readonly WantedSecret[];
}

export interface RenderedRelease extends WantedRelease {
  /** The objects of the rendered chart, CRDs included. */
  manifest: readonly KubernetesObject[];
}

/** A Secret that the values reference. */
export interface WantedSecret {
  name: string;
  type: 'Opaque' | 'kubernetes.io/tls';
  annotations?: Readonly<Record<string, string>>;
  /** Required keys, with their content if given. */
  data: Readonly<Record<string, Secret | undefined>>;
  /** How to provide the content. */
  howToGive: string;
  /** The flag with its name. */
  flag: string;
}

/** The release that settings ask for; `made` is a token that was created for it. */
export function wantedRelease(
  {target, settings, values, origins}: Generated,
  yaml: string,
  name: ReleaseName,
  made?: AccountToken,
): WantedRelease {
  const source = settings.get(chartSource);
  return {
    name,
    chart: {...target, ...(source === undefined ? {} : {source})},
    values,
    effective: effectiveValues(values, target),
    explicitPaths: [
      ...origins.filter(({setting, isDerived}) => !isDerived && settings.isExplicit(setting)).map(({path}) => path),
      ...pathsAsked(target, settings),
    ],
    yaml,
    secrets: [tokenSecretOf(settings, made), ...clientCertificateOf(settings)],
  };
}

type Settings = Generated['settings'];

/** The keys of explicit settings, including those with the default value, which the values leave out. */
const pathsAsked = (target: Generated['target'], settings: Settings): Path[] =>
  chartFor(target)
    .rows.filter((row) => settings.isExplicit(row.setting) && within(target.version, row.in))
    .flatMap(({paths}) => [...paths]);

const tokenSecretOf = (settings: Settings, made: AccountToken | undefined): WantedSecret => ({
  name: settings.get(tokenSecret) as string,
  type: 'Opaque',
  ...(made === undefined ? {} : {annotations: accountAnnotations(made)}),
  data: {[settings.get(tokenSecretKey) as string]: settings.get(token) ?? settings.get(tokenFile)},
  howToGive: 'Set the agent pool token with SCALR_AGENT_TOKEN or --token-file, or use an existing Secret with --token-secret',
  flag: spell(tokenSecret),
});

function clientCertificateOf(settings: Settings): WantedSecret[] {
  const name = settings.get(clientCertSecret);
  if (name === undefined) return [];
  return [
    {
      name,
      type: 'kubernetes.io/tls',
      data: {'tls.crt': settings.get(clientCertFile), 'tls.key': settings.get(clientKeyFile)},
      howToGive:
        'Set the client certificate with --client-cert-file and --client-key-file, or use an existing Secret with --client-cert-secret',
      flag: spell(clientCertSecret),
    },
  ];
}
