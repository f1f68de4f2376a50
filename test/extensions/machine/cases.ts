import type {HostTarget} from '../../../src/charts/host/host.ts';
import type {RawFlags} from '../../support/settings-from.ts';

interface Case {
  name: string;
  target: HostTarget;
  flags: RawFlags;
  /** Value of SCALR_AGENT_TOKEN. */
  token?: string;
}

const URL = 'https://acme.scalr.io';
const PROXY = 'http://proxy.example.com:3128';
const TOKEN = 'e30.e30.c2ln';

/** Exports with golden files in test/targets/golden. */
export const CASES: readonly Case[] = [
  {name: 'docker-url-only', target: 'docker', flags: {url: URL}},
  {
    name: 'docker-everything',
    target: 'docker',
    token: TOKEN,
    flags: {
      url: URL,
      release: 'blue',
      debug: true,
      'log-format': 'json',
      concurrency: '7',
      'http-proxy': PROXY,
      'https-proxy': 'http://user:p%24s%25@proxy.example.com:3128',
      'no-proxy': '.example.com,10.0.0.0/8',
      'ca-file': 'ca.pem',
      'no-ca-public-roots': true,
      'client-cert-file': 'client.pem',
      'client-key-file': 'client.key',
      cache: 'hostpath',
      'cache-path': '/srv/scalr/cache',
      'data-home': '/srv/scalr/data',
      'provider-cache-limit': '40Gi',
      'module-cache': true,
      'run-cpu-limit': '500m',
      'run-memory-limit': '2Gi',
      'writable-root': true,
      'pod-label': ['team=platform'],
      'image-registry': 'registry.example.com/mirror',
      'image-pull-policy': 'Always',
      'agent-image': 'scalr/agent:1.3.0',
      'runner-image': 'team/runner:1.0',
      'otel-endpoint': 'collector.example.com:4317',
      'shutdown-mode': 'graceful',
      'grace-period': '10m',
      'extra-env': ["GREETING=it's $5", 'MY_PASSWORD=a "quoted" $word'],
    },
  },
  {
    name: 'docker-vcs',
    target: 'docker',
    flags: {url: URL, purpose: 'vcs', 'ca-file': 'ca.pem', 'no-ca-public-roots': true},
  },
  {name: 'compose-url-only', target: 'compose', token: TOKEN, flags: {url: URL}},
  {
    name: 'compose-shared',
    target: 'compose',
    flags: {
      url: URL,
      isolation: 'shared',
      concurrency: '2',
      cache: 'hostpath',
      'run-memory-limit': '1536Mi',
      'run-cpu-limit': '2',
      'no-writable-root': true,
      'ca-file': 'ca.pem',
      'no-ca-public-roots': true,
      'extra-env': ["GREETING=it's $5", 'MY_PASSWORD=a "quoted" $word'],
    },
  },
  {
    name: 'compose-tasks-ca',
    target: 'compose',
    flags: {url: URL, 'ca-file': 'ca.pem', 'no-ca-public-roots': true, 'ca-scope': 'tasks'},
  },
  {name: 'systemd-url-only', target: 'systemd', flags: {url: URL}},
  {
    name: 'systemd-everything',
    target: 'systemd',
    token: TOKEN,
    flags: {
      url: URL,
      concurrency: '3',
      'https-proxy': 'http://user:p%25@proxy.example.com:3128',
      'ca-file': 'ca.pem',
      'no-ca-public-roots': true,
      'writable-root': true,
      'runner-image': 'team/runner:1.0',
      'image-registry': 'registry.example.com/mirror',
      'extra-env': ['GREETING=100% "it\'s"', 'MY_PASSWORD=a "quoted" $word'],
    },
  },
];
