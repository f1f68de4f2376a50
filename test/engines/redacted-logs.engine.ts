import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {readZip} from '../support/unzip.ts';
import {machine, NEW} from './machine.ts';

const SECRETS = ['Sommer-2024!', 'hunter2hunter2', 'k9Zr81kQv93LmXw20p', 'e30.e30.c2ln'];
const LINES = [
  'INFO run-v0abc started, provider registry.terraform.io/hashicorp/aws 5.80.0',
  `+ export DB_PASSWORD='${SECRETS[0]}'`,
  `{"level":"error","msg":"login failed for https://admin:${SECRETS[1]}@git.corp.example/repo.git"}`,
  `curl -H 'Authorization: Bearer ${SECRETS[2]}' https://api.corp.example/v1`,
  `agent started with ${SECRETS[3]}`,
  'Apply complete! Resources: 3 added, 0 changed, 0 destroyed.',
];

test.for([
  'json-file',
  'local',
])('secrets in what containers print stay out of a bundle: log driver %s', async (driver, context) => {
  const {cwd, docker, run} = await machine(context);
  writeFileSync(join(cwd, 'lines.txt'), `${LINES.join('\n')}\n`);
  await docker(
    ...['run', '--detach', '--name', 'scalr-agent', '--log-driver', driver],
    ...['--env', `SCALR_AGENT_TOKEN=${SECRETS[3]}`, '--volume', `${cwd}:/lines:ro`],
    ...['--entrypoint', '/bin/sh', NEW, '-c', 'cat /lines/lines.txt; sleep 600'],
  );
  await expect.poll(() => docker('logs', 'scalr-agent')).toContain('Apply complete');
  const {status, stderr} = run('collect-logs', '--docker', 'scalr-agent', '--out', 'bundle.zip');
  expect(status, stderr).toBe(0);
  const files = await readZip(join(cwd, 'bundle.zip'));
  const all = [...files.values()].map(String).join('\n');
  for (const secret of SECRETS) expect(all).not.toContain(secret);
  expect(all).toContain(LINES[0]);
  expect(all).toContain(LINES.at(-1));
});
