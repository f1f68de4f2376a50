import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import Export from '../../src/commands/export.ts';
import Migrate from '../../src/commands/migrate.ts';
import Validate from '../../src/commands/validate.ts';
import Values from '../../src/commands/values.ts';
import {hideCredentials} from '../../src/ground/credentials.ts';
import IMPORTED from '../../src/ground/token-shapes.json' with {type: 'json'};
import {memoryFiles} from '../support/memory-files.ts';
import {runCommand} from '../support/run-command.ts';
import {numRuns} from '../support/sample.ts';

const RUNS = numRuns(10);
const abc = (length: number): string =>
  'aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYz'.repeat(4).slice(0, length);

const hex = (length: number): string => '9f86d081884c7d65'.repeat(8).slice(0, length);

/** Put together here, so that no scanner of repositories takes them for real. The part after the bar must never be printed. */
const CREDENTIALS: readonly string[] = [
  ...Object.entries(IMPORTED).flatMap(([characters, rows]) =>
    rows.map((row) => {
      const [prefix = '', least = '24'] = row.split(' ');
      return `${prefix}|${(characters.startsWith('A-F') ? hex : abc)(Number(least))}`;
    }),
  ),
  `eyJ|${abc(20)}.eyJ${abc(20)}.${abc(20)}`,
  `AKIA|${abc(16).toUpperCase()}`,
  `${abc(14)}.atlasv1.|${abc(60)}`,
  `xoxb-|123456789012-${abc(24)}`,
  `sk_live_|${abc(24)}`,
  `https://hooks.slack.com/services/|T0000000/B0000000/${abc(24)}`,
  `https://user:|${abc(12)}@git.example.com/`,
  `url.https://x-access-token:|${abc(12)}@github.com/.insteadOf`,
  `postgres://u:|${abc(9)}@db/x`,
  `-----BEGIN RSA PRIVATE KEY-----\\nMIIE|${abc(40)}\\n-----END RSA PRIVATE KEY-----`,
  `$2b$|10$${abc(40)}`,
];
const credential = fc.constantFrom(...CREDENTIALS).map((text) => {
  const [head = '', secret = ''] = text.split('|');
  return {text: head + secret, secret};
});

const BASE = ['--url', 'https://acme.scalr.io', '--chart'];

/** Flags of `values` that take free text, by chart. */
const FLAGS: readonly (readonly [chart: string, (text: string) => string[]])[] = [
  ['agent-local', (text) => ['--extra-env', `ANY=${text}`]],
  ['agent-job', (text) => ['--extra-env', `ANY=${text}`]],
  ['agent-k8s', (text) => ['--extra-env', `ANY=before ${text} after`]],
  ['agent-local', (text) => ['--set', `podAnnotations.x=${text.replaceAll(/[\\,]/g, '\\$&')}`]],
  ['agent-job', (text) => ['--set', `agent.podAnnotations={"x":${JSON.stringify(text)}}`]],
  ['agent-job', (text) => ['--pod-annotation', `example.com/x=${text}`]],
  ['agent-job', (text) => ['--sidecar', JSON.stringify({name: 'x', image: 'x:1', args: [text]})]],
  ['agent-local', () => ['--values-file', 'given.yaml']],
];

const valuesFile = (text: string): string =>
  `agent: {url: "https://acme.scalr.io", tokenExistingSecret: {name: t}}\nextraEnv: {ANY: ${JSON.stringify(text)}}\n`;

const everything = ({stdout, stderr}: {stdout: string; stderr: string}, written: unknown): string =>
  `${stdout}${stderr}${JSON.stringify(written)}`;

describe('a credential in any setting or value', () => {
  test.each([
    ['values', Values, []],
    ['values --json', Values, ['--json', '--explain']],
    ['values --out', Values, ['--out', 'v.yaml', '--yes']],
    ['export flux', Export, ['flux', '--out', 'git']],
    ['export argocd', Export, ['argocd', '--out', 'git']],
  ] as const)(
    'is not written by %s without --allow-clear-text',
    {timeout: 120_000},
    async (_, command, argv) => {
      await fc.assert(
        fc.asyncProperty(
          credential,
          fc.constantFrom(...FLAGS),
          async ({text, secret}, [chart, flag]) => {
            const files = memoryFiles({'given.yaml': valuesFile(text)});
            const line = [...argv, ...BASE, chart, ...flag(text)];
            const result = await runCommand(command as typeof Values, line, {files});
            expect(result.exit, result.stderr).toBe(2);
            expect(result.stdout + result.stderr).toContain('add --allow-clear-text');
            expect(everything(result, files.written)).not.toContain(secret);
          },
        ),
        {numRuns: RUNS},
      );
    },
  );

  test.each([
    'docker',
    'compose',
    'systemd',
  ])('is written by export %s only to files of their owner', {timeout: 120_000}, async (target) => {
    await fc.assert(
      fc.asyncProperty(credential, async ({text, secret}) => {
        const files = memoryFiles();
        const argv = [target, '--url', 'https://acme.scalr.io', '--extra-env', `ANY=${text}`];
        const result = await runCommand(Export as never, [...argv, '--out', 'x'], {files});
        const shared = files.written.filter(({isPrivate}) => !isPrivate);
        expect(everything(result, shared)).not.toContain(secret);
      }),
      {numRuns: RUNS},
    );
  });

  test('is refused by migrate, and found by validate', {timeout: 120_000}, async () => {
    await fc.assert(
      fc.asyncProperty(credential, fc.boolean(), async ({text, secret}, isComment) => {
        const yaml = isComment
          ? `# ${text.replaceAll('\n', ' ')}\n${valuesFile('x')}`
          : valuesFile(text);
        const files = memoryFiles({'v.yaml': yaml});
        const local = ['v.yaml', '--from', 'agent-local@0.6.4', '--to', 'agent-local@0.6.5'];
        const migrated = await runCommand(Migrate, [...local, '--out', 'new.yaml'], {files});
        expect(migrated.exit, migrated.stderr).toBe(2);
        expect(migrated.stderr).toContain('--allow-clear-text');
        expect(everything(migrated, files.written)).not.toContain(secret);
        const argv = ['v.yaml', '--chart', 'agent-local', '--chart-version', '0.6.5'];
        const checked = await runCommand(Validate, argv, {files});
        expect(checked.stdout).toContain('CLEAR_TEXT_CREDENTIAL');
        expect(checked.stdout + checked.stderr).not.toContain(secret);
      }),
      {numRuns: RUNS * 2},
    );
  });

  test('is written with --allow-clear-text', async () => {
    const text = `ghp_${abc(36)}`;
    const argv = [...BASE, 'agent-local', '--extra-env', `ANY=${text}`, '--allow-clear-text'];
    const {stdout, stderr, exit} = await runCommand(Values, argv);
    expect(exit, stderr).toBe(0);
    expect(stdout).toContain(`  ANY: "${text}"\n`);
    expect(stdout).toContain("--extra-env 'ANY=[hidden]'");
  });
});

test.each([
  'http://proxy.example.com:3128',
  'http://user@proxy:3128',
  'http://u:$(PASSWORD)@proxy:3128',
  'http://<user>:<password>@proxy:3128',
  'registry.example.com:5000/team/agent:1.2@sha256:abc',
  '-----BEGIN CERTIFICATE-----\nMIIB/eyJhbGciOiJub25lIn0abcdef\n-----END CERTIFICATE-----',
  'key-of-the-agent, sk-and-others, pat.example.com',
  'http://host:3128/path@example',
])('%j is not a credential', (text) => {
  expect(hideCredentials(text)).toBe(text);
});
