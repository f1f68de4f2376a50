import type {Random} from './random.ts';

type Make = (random: Random) => string;

const choice =
  (...choices: readonly string[]): Make =>
  (random) =>
    random.pick(choices);

/** What stands around a secret and is none. */
export const FILLERS: Readonly<Record<string, Make>> = {
  user: choice(
    'admin',
    'deploy',
    'app',
    'svc_terraform',
    'postgres',
    'root',
    'jenkins',
    'ci-bot',
    'orders_rw',
    'dbadmin',
  ),
  host: choice(
    'db.prod.internal',
    'orders-db.c9akciq32.eu-west-1.rds.amazonaws.com',
    'redis-master',
    '10.42.7.19',
    'pg-01.corp.example.com',
  ),
  domain: choice('example.com', 'acme.io', 'corp.example.net', 'internal.acme.dev'),
  ip: (random) => `10.${random.below(255)}.${random.below(255)}.${random.between(2, 250)}`,
  port: choice('5432', '3306', '6379', '8200', '8443', '5672', '27017'),
  region: choice('eu-west-1', 'us-east-1', 'eu-central-1', 'ap-southeast-2'),
  account: (random) => random.signs('digits', 12),
  akid: (random) => `${'AK'}IA${random.signs('base32', 16)}`,
  asia: (random) => `${'AS'}IA${random.signs('base32', 16)}`,
  id: (random) => random.uuid(),
  run: (random) => `run-v0${random.signs('lowerDigits', 17)}`,
  short: (random) => random.signs('hex', 8),
  sha: (random) => random.signs('hex', 40),
  reference: (random) => random.signs('alnum', 24),
  salt: (random) => random.signs('alnum', 8),
  hexid: (random) => random.signs('hex', 32),
  opaque: (random) => random.bytes(48).toString('base64'),
  num: (random) => String(random.between(2, 9999)),
  pid: (random) => String(random.between(2, 32000)),
  ts: (random) =>
    `2026-11-${random.between(10, 24)}T${random.between(10, 23)}:${random.between(10, 59)}:${random.between(10, 59)}.${random.signs('digits', 3)}Z`,
  time: (random) => `${random.between(10, 23)}:${random.between(10, 59)}:${random.between(10, 59)}`,
  org: choice('acme', 'example-org', 'platform-team', 'data-eng'),
  repo: choice('infra', 'terraform-modules', 'billing-api', 'charts', 'landing-zone'),
  ns: choice('default', 'prod', 'scalr', 'monitoring', 'data'),
  app: choice('orders', 'billing', 'api', 'web', 'worker', 'search'),
  bucket: choice('acme-tf-state', 'prod-artifacts', 'billing-exports'),
  version: choice('1.9.8', '1.5.7', '1.8.5', '1.10.3'),
  file: choice('main.tf', 'database.tf', 'modules/rds/main.tf', 'secrets.tf', 'variables.tf'),
  tick: () => '`',
  dollar: () => '$',
};
