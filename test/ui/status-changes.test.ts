import {Terminal} from '@xterm/headless';
import {expect, test} from 'vitest';
import {StatusReporter} from '../../src/ui/status-changes.ts';
import {NAME, NOW, statusFrom} from '../checks/status/readings.ts';

const ready = {name: NAME, status: statusFrom(), files: [], now: NOW};
const failing = {...ready, status: statusFrom({missingSecrets: ['scalr-agent-token']})};

test('replaces the status on a terminal, below one line for each change', async () => {
  const terminal = new Terminal({cols: 100, rows: 40, allowProposedApi: true, convertEol: true});
  const screen = {hasColor: false, columns: 100, rows: 40, isLive: true};
  const reporter = new StatusReporter((text) => terminal.write(text), screen);
  reporter.status(ready);
  reporter.status(failing);
  reporter.status(ready);
  await new Promise<void>((done) => terminal.write('', done));
  const {active} = terminal.buffer;
  const lines = Array.from({length: active.length}, (_, row) =>
    active.getLine(row)?.translateToString(true),
  );
  const text = lines.join('\n').trimEnd();
  const [changes = '', status = ''] = text.split(/\n(?=✓ Release acme)/);
  expect(changes).toMatch(
    /scalr-agent-token: not found[\s\S]*is not ready[\s\S]*resolved: .*SECRET_NOT_FOUND/,
  );
  expect(status).toMatch(/^✓ Release acme in namespace scalr is ready\n\nContext {4}prod\n/);
  expect(text.match(/^Context/gm)).toHaveLength(1);
});

test('prints the status once in a pipe', () => {
  const written: string[] = [];
  const reporter = new StatusReporter((text) => written.push(text), {
    hasColor: false,
    columns: undefined,
  });
  reporter.status(ready);
  reporter.status(failing);
  reporter.status(failing);
  expect(written.filter((text) => text.includes('\nContext'))).toHaveLength(1);
  expect(written.join('')).toContain('secret/scalr-agent-token: not found');
});
