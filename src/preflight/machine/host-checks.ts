import {isPattern} from '../../charts/endpoints.ts';
import {count, few} from '../../ground/text.ts';
import {type CheckResult, fail, pass, skip, warn} from '../check.ts';
import {type MachineCheck, machineCheck, machineChecks} from './machine-checks.ts';
import type {MachineContext} from './machine-context.ts';

type Listed = MachineContext['endpoints'][number];

const failed = (all: readonly Listed[]): Listed[] => all.filter(({probe}) => probe.status === 'unreachable');

/** Hosts by what happened, because one proxy or firewall often stops them all. */
function namesOf(all: readonly Listed[]): string {
  const messages = [...new Set(all.map(({probe}) => probe.message))];
  return messages
    .map((message) => {
      const hosts = all.filter(({probe}) => probe.message === message).map(({host, port}) => `${host}:${port}`);
      return `${few([...new Set(hosts)])} (${message})`;
    })
    .join('; ');
}

const LIST = 'With the same settings, network --probe lists all hosts';

/** Tried endpoints, or why there are none. */
function resultOf(all: readonly Listed[], conclude: (tried: readonly Listed[]) => CheckResult): CheckResult {
  const tried = all.filter(({probe}) => probe.status !== 'skipped');
  return tried.length === 0 ? skip(`Not tried: ${few([...new Set(all.map(({probe}) => probe.message))])}`) : conclude(tried);
}

const scalr = machineCheck('Hosts', 'host-scalr', 'Scalr is reachable from this machine', {
  ref: 'https://docs.scalr.io/docs/self-hosted-agents-pools',
  run: ({endpoints}) => {
    const own = endpoints.filter(({purpose}) => purpose === 'scalr');
    if (own.every(isPattern)) return skip('The Scalr URL is not set', 'Set it with --url https://<account>.scalr.io');
    const [account] = own;
    return resultOf(own, (tried) => {
      const wrong = failed(tried);
      if (wrong.length === 0) return pass(few(tried.map(({host, probe}) => `${host}: ${probe.message}`)));
      const message = `Cannot connect to ${namesOf(wrong)}`;
      const remedy = 'Allow the hosts in the firewall and the proxy, or correct --https-proxy and --ca-file';
      // Only the relay is missing.
      return wrong.some(({host}) => host === account?.host) ? fail(message, remedy) : warn(message, remedy);
    });
  },
});

const hosts = machineCheck('Hosts', 'host-hosts', 'Other required hosts are reachable from this machine', {
  ref: 'agent-job 0.6.5, README, Network Requirements',
  run: ({endpoints}) => {
    const ofScalr = endpoints.filter(({purpose}) => purpose === 'scalr').map(({host}) => host);
    return resultOf(
      endpoints.filter(({host, required}) => required && !ofScalr.includes(host)),
      (tried) => {
        const wrong = failed(tried);
        return wrong.length === 0
          ? pass(count(new Set(tried.map(({host, port}) => `${host}:${port}`)).size, 'host'))
          : warn(`Cannot connect to ${namesOf(wrong)}`, `Allow these hosts, or use mirrors. ${LIST}`);
      },
    );
  },
});

const telemetry = machineCheck('Hosts', 'host-telemetry', 'OpenTelemetry collector is reachable from this machine', {
  ref: 'https://docs.scalr.io/docs/metrics',
  run: ({endpoints}) => {
    const own = endpoints.filter(({purpose}) => purpose === 'telemetry');
    if (own.length === 0) return undefined;
    return resultOf(own, (tried) =>
      failed(tried).length === 0
        ? pass(few(tried.map(({host, port}) => `${host}:${port}`)))
        : warn(
            `Cannot connect to ${namesOf(failed(tried))}. Runs work, but metrics and traces are lost`,
            'Correct --otel-endpoint, or start the collector',
          ),
    );
  },
});

/** Every check of a machine, in the order in which they are printed. */
export const MACHINE_CHECKS: readonly MachineCheck[] = [...machineChecks, scalr, hosts, telemetry];
