import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {matchLine, verdictIn} from '../../../../src/checks/diagnose/agent-log.ts';
import {AGENT_LOG_ROWS} from '../../../../src/checks/diagnose/agent-log-rows.ts';
import {agentLogFindings} from '../../../../src/checks/diagnose/host-findings.ts';
import {LogMatcher} from '../../../../src/checks/diagnose/log-matcher.ts';
import {AGENT_LINES} from '../../../checks/diagnose/agent-lines.ts';

const TOKEN =
  '{"level":"error","event":"401 Client Error: Unauthorized for url: https://acme.scalr.io"}';

function read(text: string, size = text.length): ReturnType<LogMatcher['end']> {
  const words = new LogMatcher();
  const bytes = Buffer.from(text);
  for (let from = 0; from < bytes.length; from += Math.max(size, 1))
    words.push(bytes.subarray(from, from + size));
  return words.end();
}

describe('what a log says', () => {
  test.each(AGENT_LINES)('$code: $line, with its line, below the time of the node and in JSON', ({
    code: meaning,
    line,
  }) => {
    const json = JSON.stringify({
      event: 'tried',
      level: 'error',
      exception: line,
      timestamp: '2026-11-21 08:00:01.5',
    });
    const {lines, matches} = read(
      `start\n2026-11-21T08:00:00.123Z ${line}\n\n2026-11-21T08:00:02.123Z ${json}\nend\n`,
    );
    expect({lines, matches}).toMatchObject({
      lines: 5,
      matches: [{meaning, count: 2, line: 4, at: '2026-11-21T08:00:01Z'}],
    });
    expect(read(line).matches).toMatchObject([{meaning, line: 1}]);
  });

  test.each(AGENT_LINES)('$code on a machine has the remedy of a machine: $line', ({
    code,
    line,
  }) => {
    const {matches} = read(`${line}\n`);
    const record = {file: 'agent.log', bytes: line.length, lines: 1, tail: line, matches};
    const remedy = AGENT_LOG_ROWS.find((row) => row.code === code)?.remedy.host;
    const expected =
      remedy === undefined
        ? []
        : [{code, message: `agent log: ${line}`, evidence: {line: 1}, remedies: [{text: remedy}]}];
    expect(agentLogFindings(record, 'container/agent', true, new Date())).toMatchObject(expected);
  });

  test('has a line above for every row of the table', () => {
    expect(AGENT_LINES.map(({code}) => code)).toEqual(
      expect.arrayContaining(
        AGENT_LOG_ROWS.map(({code}) => code).filter((code) => code !== 'AGENT_LOG_UNRECOGNIZED'),
      ),
    );
  });

  test('is over once the agent is ready again, and an old line counts only where it is lasting', () => {
    const docker = 'Cannot connect to the Docker daemon';
    const token = 'the token has been revoked';
    const verdict = (line: string, more = '') =>
      verdictIn(`${line}\n${'working\n'.repeat(9)}${more}`, 'host', true)?.meaning;
    expect([verdict(docker), verdict(token)]).toEqual(['DOCKER_UNREACHABLE', undefined]);
    expect(verdict(docker, 'agent is ready to receive tasks')).toBe('READY');
  });

  test.each([
    'an ordinary line about a token_file, a certificate and the proxy',
    'No changes. Your infrastructure matches the configuration.',
    '[error] registry.terraform.io: 503 Service Unavailable',
    '[error] could not query registry.opentofu.org/hashicorp/aws: 403 Forbidden',
    '{"level":"info","event":"connection refused 3 times before, fine now"}',
  ])('is nothing here: %s', (line) => {
    expect(read(`2026-11-21T08:00:00Z ${line}\n`).matches).toEqual([]);
  });

  test('is the same wherever its chunks end, and as slow reading finds it', () => {
    const line = fc.oneof(
      fc.string({maxLength: 40}).map((text) => text.replaceAll(/[\n\r]/g, ' ')),
      fc.constantFrom(
        TOKEN,
        'x509: unknown authority',
        'é ü connection refused ß',
        'agent is ready to receive tasks',
        '',
      ),
    );
    fc.assert(
      fc.property(
        fc.array(line, {maxLength: 30}),
        fc.integer({min: 1, max: 70}),
        fc.boolean(),
        (lines, size, ends) => {
          const text = `${lines.join('\n')}${ends ? '\n' : ''}`;
          const expected = new Map<string, {count: number; line: number}>();
          for (const [index, each] of lines.entries()) {
            const meaning = matchLine(each)?.meaning;
            if (meaning)
              expected.set(meaning, {
                count: (expected.get(meaning)?.count ?? 0) + 1,
                line: index + 1,
              });
          }
          const {matches, lines: count} = read(text, size);
          expect(
            new Map(
              matches.map(({meaning, count: times, line: at}) => [
                meaning,
                {count: times, line: at},
              ]),
            ),
          ).toEqual(expected);
          expect(count).toBe(text === '' ? 0 : text.replace(/\n$/, '').split('\n').length);
        },
      ),
    );
  });

  test('is found behind a line of megabytes, of which little is held', () => {
    const words = new LogMatcher();
    for (let index = 0; index < 64; index += 1) words.push(Buffer.alloc(65_536, 'x'));
    words.push(Buffer.from(`\n${TOKEN}`));
    expect(words.end()).toMatchObject({lines: 2, matches: [{meaning: 'TOKEN_REJECTED', line: 2}]});
  });
});
