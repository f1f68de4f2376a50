import {LogMatcher} from '../../src/checks/diagnose/log-matcher.ts';
import {knownSecretSet} from '../../src/extensions/bundle/redact/known-values.ts';
import {leakFinder} from '../../src/extensions/bundle/redact/leak-check.ts';
import {redactor} from '../../src/extensions/bundle/redact/redactor.ts';
import {Secret} from '../../src/ground/secret.ts';
import {median, report} from './measure.ts';

const MEGABYTES = 16;
const CHUNK = 65_536;

/** A line as agents write it. */
export const AGENT = (index: number): string =>
  `${JSON.stringify({
    event: ['Agent heartbeat', 'Pulling image', 'Uploading plan file', 'Task finished'][index % 4],
    level: 'info',
    logger_name: 'tacoagent.worker.executor',
    timestamp: `2026-11-21 10:${index % 60}:12.${index % 1000}`,
    run_id: `run-${(index * 2_654_435_761).toString(36)}`,
    url: `https://acme.scalr.io/api/iacp/v3/runs/run-${(index * 40_503).toString(36)}/status`,
  })}\n`;

const PLAN = (index: number): string => `  # module.vpc.aws_subnet.private[${index}] will be created
  + resource "aws_subnet" "private" {
      + arn                     = (known after apply)
      + cidr_block              = "10.${index % 256}.0.0/24"
      + map_public_ip_on_launch = false
      + tags                    = {
          + "Environment" = "production"
        }
    }
  ~ resource "aws_db_instance" "main" {
      ~ password                = (sensitive value)
      ~ engine_version          = "14.${index % 10}" -> "15.${index % 7}"
    }
random_password.db[${index}]: Refreshing state... [id=none]
`;

/** Every second line holds one: the worst that a log may do. */
const LEAKING = (index: number): string =>
  `${AGENT(index)}login with password=Tr0ub4dor-${index % 100} at https://bob:Tr0ub4dor@proxy:3128\n`;

const TEXTS = {agent: AGENT, plan: PLAN, leaking: LEAKING};

function bytesOf(line: (index: number) => string): Buffer {
  const lines: string[] = [];
  for (let [index, length] = [0, 0]; length < MEGABYTES << 20; index += 1)
    length += (lines[lines.push(line(index)) - 1] as string).length;
  return Buffer.from(lines.join(''), 'latin1');
}

const knownSecrets = (count: number): ReturnType<typeof knownSecretSet> =>
  knownSecretSet(
    Array.from({length: count}, (_, index) => ({
      kind: 'token',
      value: new Secret(`${(index + 9) * 2_654_435_761}-Value/${index}`.repeat(2)),
    })),
  );

/** Time of the processor, not of the clock: others may use this machine. */
async function milliseconds(work: () => Promise<void> | void): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const {user, system} = process.cpuUsage(before);
  return (user + system) / 1000;
}

const chunks = (bytes: Buffer): Buffer[] =>
  Array.from({length: Math.ceil(bytes.length / CHUNK)}, (_, index) =>
    bytes.subarray(index * CHUNK, (index + 1) * CHUNK),
  );

/** How fast logs are redacted, read for what they say and read back, in MB a second and as a multiple of looking for one text in the same bytes. */
export async function redaction(rounds: number): Promise<void> {
  for (const [name, line] of Object.entries(TEXTS)) {
    const bytes = bytesOf(line);
    const search = (): Promise<number> =>
      milliseconds(() => {
        for (const chunk of chunks(bytes)) chunk.includes('"Tr0ub4dor"');
      });
    for (const count of name === 'leaking' ? [10] : [0, 10, 200]) {
      const known = knownSecrets(count);
      const through = redactor({knownSecrets: known});
      const find = leakFinder(known.known);
      const redact = (): void => {
        const file = through.file(name);
        for (const chunk of chunks(bytes)) file.push(chunk);
        file.end();
      };
      const readWords = (): void => {
        const words = new LogMatcher();
        for (const chunk of chunks(bytes)) words.push(chunk);
        words.end();
      };
      const readBack = async (): Promise<void> => void (await find(chunks(bytes)));
      const times = {
        redact: [] as number[],
        readWords: [] as number[],
        readBack: [] as number[],
        search: [] as number[],
      };
      for (let round = 0; round < rounds; round += 1) {
        times.redact.push(await milliseconds(redact));
        times.readWords.push(await milliseconds(readWords));
        times.readBack.push(await milliseconds(readBack));
        times.search.push(await search());
      }
      const reference = median(times.search);
      for (const what of ['redact', 'readWords', 'readBack'] as const) {
        const time = median(times[what]);
        const speed = (MEGABYTES / time) * 1000;
        report({
          part: 'redaction',
          name: `${what} ${name}, ${count} known`,
          value: speed,
          unit: 'MB/s',
          ratio: time / reference,
          of: 'Buffer.includes',
        });
      }
    }
  }
}
