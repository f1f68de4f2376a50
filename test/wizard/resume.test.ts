import {describe, expect, test} from 'vitest';
import {failed} from '../../src/ground/errors.ts';
import {ResumeStore, readResumeState, resumePath} from '../../src/wizard/resume.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {ENTER, type Line} from '../support/scripted-prompter.ts';
import {FILES_ONLY, interrupt, jwt, KEPT, QUIT, rowOf, shown, talk} from './conversation.ts';

const TOKEN = jwt({pool: 'runs'});

const BEGUN: Line[] = [
  FILES_ONLY,
  ['Agent pool token', TOKEN],
  ['Scalr URL', 'https://acme.scalr.io'],
  ['What do you want to do?', 'change'],
  ['Change', 'Purpose'],
  ['What is the agent pool used for', 'runs'],
];
const AT_CHANGE = interrupt('Change');
const PRINT: Line = ['What do you want to do?', 'print'];

describe('an interrupted session', () => {
  const broken = async () => {
    const files = memoryFiles();
    const result = await talk([...BEGUN, AT_CHANGE], {files});
    return {...result, files};
  };

  test('exits with 130, changes nothing and suggests --resume', async () => {
    const {exit, stderr} = await broken();
    expect(exit).toBe(130);
    expect(stderr).toContain('Canceled. Nothing was changed.');
    expect(stderr).toContain('--resume');
  });

  test('saves the answers in a private file without the token', async () => {
    const {files} = await broken();
    const last = files.written.at(-1);
    expect(last).toMatchObject({path: KEPT, isPrivate: true});
    expect(last?.text).not.toContain(TOKEN);
    expect(JSON.parse(last?.text ?? '')).toEqual({
      answers: {url: 'https://acme.scalr.io', purpose: 'runs'},
      flags: [],
      secrets: {},
      asked: ['target', 'url', 'purpose'],
      place: {kind: 'files'},
      isUpdate: false,
    });
  });

  test('is resumed: asks only for secrets and missing answers', async () => {
    const {files} = await broken();
    const lines: Line[] = [['Agent pool token', TOKEN], ...QUIT];
    const {exit, stderr} = await talk(lines, {argv: ['--resume'], files});
    expect(exit).toBe(0);
    expect(stderr).toContain('◇  Where      files only');
  });

  test('is resumed with the flags it was started with', async () => {
    const files = memoryFiles();
    await talk([...BEGUN, AT_CHANGE], {
      files,
      argv: ['--namespace', 'air', '--release', 'one'],
    });
    const lines: Line[] = [['Agent pool token', TOKEN], ...QUIT];
    const {stderr} = await talk(lines, {argv: ['--resume'], files});
    expect(rowOf(stderr, 'Names')).toBe('Names one in namespace air from flag');
  });
});

describe('a secret of an interrupted session', () => {
  const PROXY = 'http://jane:pa55@proxy.corp:3128';
  const WITH_PROXY: Line[] = [
    ...BEGUN,
    ['Change', 'Proxy'],
    ['Proxy for https', PROXY],
    ['The chart stores this password', 'y'],
    ['Hosts and networks', '10.0.0.0/16,.corp'],
  ];

  test('is asked for again, and the answers that depend on it are kept', async () => {
    const files = memoryFiles();
    await talk([...WITH_PROXY, AT_CHANGE], {files});
    expect(files.written.at(-1)?.text).not.toContain('pa55');
    const lines: Line[] = [
      ['Agent pool token', TOKEN],
      ['Proxy for https', PROXY],
      ['The chart stores this password', 'y'],
      ['What do you want to do?', 'save'],
      ['Directory to save to', '/srv'],
      ['What do you want to do?', ENTER],
    ];
    const {asked, written} = await talk(lines, {argv: ['--resume'], files});
    expect(asked.find(({message}) => message.includes('Proxy for https'))).toMatchObject({
      default: 'http://<user>:<password>@proxy.corp:3128',
      isPrefilled: true,
    });
    expect(shown(asked)).toContain('replace the placeholders');
    expect(shown(asked)).not.toContain('Removed');
    expect(written.get('/srv/answers.yaml')).toContain('no-proxy: 10.0.0.0/16,.corp\n');
  });

  test('is not accepted with its placeholders', async () => {
    const files = memoryFiles();
    await talk([...WITH_PROXY, AT_CHANGE], {files});
    const lines: Line[] = [
      ['Agent pool token', TOKEN],
      ['Proxy for https', ENTER],
    ];
    await expect(talk(lines, {argv: ['--resume'], files})).rejects.toThrow('placeholders');
  });

  test('is still known after a second interruption', async () => {
    const files = memoryFiles();
    await talk([...WITH_PROXY, AT_CHANGE], {files});
    await talk([['Agent pool token', TOKEN], interrupt('Proxy for https')], {
      argv: ['--resume'],
      files,
    });
    const lines: Line[] = [
      ['Agent pool token', TOKEN],
      ['Proxy for https', PROXY],
      ['The chart stores this password', 'y'],
      ...QUIT,
    ];
    const {stderr} = await talk(lines, {argv: ['--resume'], files});
    expect(rowOf(stderr, 'Network')).toContain('bypassed by 10.0.0.0/16,.corp');
  });

  test('is asked for again when it was a flag that has no question', async () => {
    const files = memoryFiles();
    const argv = ['--http-proxy', PROXY, '--https-proxy', 'http://p:1', '--no-proxy', '.corp'];
    await talk([...BEGUN, AT_CHANGE], {files, argv});
    const lines: Line[] = [
      ['Agent pool token', TOKEN],
      ['Proxy for http://', PROXY],
      ['The chart stores this password', 'y'],
      ...QUIT,
    ];
    const {stderr} = await talk([...lines.slice(0, 3), PRINT, ...QUIT], {
      argv: ['--resume'],
      files,
    });
    expect(stderr).toContain('SCALR_AGENT_INSTALL_HTTP_PROXY');
    expect(stderr).toContain('--https-proxy http://p:1');
    expect(stderr).toContain('--no-proxy .corp');
  });

  test('is asked for again when it was a flag', async () => {
    const files = memoryFiles();
    await talk([...BEGUN, AT_CHANGE], {
      files,
      argv: ['--https-proxy', PROXY, '--no-proxy', '.corp'],
    });
    const lines: Line[] = [
      ['Agent pool token', TOKEN],
      ['Proxy for https', PROXY],
      ['The chart stores this password', 'y'],
      ...QUIT,
    ];
    const {stderr} = await talk(lines, {argv: ['--resume'], files});
    expect(rowOf(stderr, 'Network')).toMatch(
      /proxy http:\/\/<user>:<password>@proxy\.corp:3128 .*bypassed by \.corp.*; from flag/,
    );
  });

  test('is required as a flag when no question can ask for it', async () => {
    const files = memoryFiles();
    const flags = ['--extra-env', 'API_PASSWORD=pa55'];
    await talk([...BEGUN, AT_CHANGE], {files, argv: flags});
    const {exit, stderr} = await talk([], {argv: ['--resume'], files});
    expect(exit).toBe(2);
    expect(stderr).toContain(
      'The saved session does not contain --extra-env, because secrets are not saved.',
    );
    const lines: Line[] = [['Agent pool token', TOKEN], ...QUIT];
    expect((await talk(lines, {argv: ['--resume', ...flags], files})).exit).toBe(0);
  });
});

test('saves nothing before the first answer', async () => {
  const {exit, stderr, files} = await talk([interrupt('Where will the agent run')]);
  expect(exit).toBe(130);
  expect(files.written).toEqual([]);
  expect(stderr).not.toContain('--resume');
});

test('fails to resume without a saved session', async () => {
  const {exit, stderr} = await talk([], {argv: ['--resume']});
  expect(exit).toBe(2);
  expect(stderr).toContain('No saved session found.');
});

test('fails to resume when the saved session is damaged', async () => {
  const {exit, stderr} = await talk([], {argv: ['--resume'], files: memoryFiles({[KEPT]: '{'})});
  expect(exit).toBe(2);
  expect(stderr).toContain('Cannot parse');
});

test.each([
  ['--yes'],
  ['--json'],
  ['--dry-run'],
  ['--no-input'],
])('refuses %s together with --resume', async (flag) => {
  const {exit, stdout, stderr} = await talk([], {argv: ['--resume', flag]});
  expect(exit).toBe(2);
  expect(stdout + stderr).toContain('--resume requires prompts');
});

describe('in a home directory that cannot be written', () => {
  const lost = () =>
    Promise.reject(failed('UNWRITABLE_FILE', 'Cannot write resume.json: read-only file system.'));
  const files = () => ({...memoryFiles(), write: lost, remove: lost});
  const NOTE =
    'Your answers are not saved, so --resume cannot continue this session. Cannot write resume.json: read-only file system.\n';

  test('says once that --resume is not possible', async () => {
    const lines = [...BEGUN, AT_CHANGE];
    const {exit, stderr} = await talk(lines, {files: files()});
    expect(exit).toBe(130);
    expect(stderr.split(NOTE)).toHaveLength(2);
    expect(stderr.replace(NOTE, '')).not.toContain('--resume');
  });

  test('does not fail when there is nothing to remove', async () => {
    const place = resumePath({HOME: '/root'});
    await expect(new ResumeStore(place, files()).forget()).resolves.toBeUndefined();
  });

  test('finds no session in the home directory of another user', async () => {
    const kindOf = () => Promise.reject(failed('UNWRITABLE_FILE', 'permission denied'));
    const reading = readResumeState('/root/resume.json', {...memoryFiles(), kindOf});
    await expect(reading).rejects.toThrow('No saved session found.');
  });
});
