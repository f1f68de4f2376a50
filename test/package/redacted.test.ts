import {expect, test} from 'vitest';
import {formsOf} from '../../src/support-bundle/redaction/seed-forms.ts';
import {contentOf, hostShims} from '../support/host-shims.ts';
import {runBuilt} from './built.ts';

const shims = hostShims();
/** With signs, letters and digits, so that every form is another. */
const TOKEN = `tok-Zr8/kQ+v9 3L"m'X$w<2>0&p`;

test('what is built hides a known value in every form, as the source does', async () => {
  const forms = [...formsOf(TOKEN)];
  const said = forms.map(([form, written]) => `2026-11-21T08:00:00.1Z ${form}: ${written} .`).join('\n');
  const inspected = JSON.stringify([
    {Id: 'a', Name: '/agent', State: {Status: 'running', Running: true}, Config: {Env: [`SCALR_TOKEN=${TOKEN}`]}},
  ]);
  const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
  const docker = `case "$1" in
inspect) printf %s ${quoted(inspected)} ;;
logs) printf '%s\\n' ${quoted(said)} ;;
*) echo '{}' ;;
esac`;
  const file = shims.zip();
  const {status, stderr} = runBuilt('scalr-agent', ['collect-logs', '--docker', 'agent', '--out', file], {
    env: {PATH: shims.path({docker})},
  });
  expect({status, stderr}).toEqual({status: 0, stderr: expect.stringContaining(file)});
  const content = Object.entries(await contentOf(file));
  for (const [form, written] of forms) {
    expect([form, content.filter(([, text]) => text.includes(written)).map(([name]) => name)]).toEqual([form, []]);
  }
  expect(forms.length).toBeGreaterThan(25);
});
