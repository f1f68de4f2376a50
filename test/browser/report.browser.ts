import {rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import axe from 'axe-core';
import type {Page} from 'playwright-core';
import {afterAll, expect, onTestFinished, test} from 'vitest';
import {timelineOf} from '../../report/timeline-data.ts';
import {zipArchives} from '../../src/ground/system/zip-archive.ts';
import {closeChromium, openPage, writePage} from './chromium.ts';
import {at, FILES, RISKY} from './sample-bundle.ts';

afterAll(closeChromium);

const path = await writePage(FILES);

const status = (page: Page) => page.locator('main .status').first();
const selected = (page: Page) => page.locator('[role=option][aria-selected=true]');

test('verdict, findings and next commands are readable without scripts', async (context) => {
  const page = await openPage(context, path, {javaScriptEnabled: false});
  expect(await page.locator('h1').innerText()).toBe(
    '1 error, 1 warning. Start with pod/agent-1 (CRASH_LOOP).',
  );
  const text = await page.locator('body').innerText();
  for (const said of [
    'namespace <agents>',
    'exits <b>at once</b>',
    'Read the log:',
    'Role objects',
    'agent-job 0.6.5',
    'require scripts',
  ])
    expect(text).toContain(said);
  expect(await page.locator('.finding code').nth(1).innerText()).toBe(
    'kubectl logs agent-1 --previous',
  );
  expect(await page.locator('.copy').isVisible()).toBe(false);
});

test('a finding leads to its line, and a link to a line shows the same', async (context) => {
  const page = await openPage(context, path);
  await page.getByRole('link', {name: 'logs/agent-1/agent.log, line 643'}).click();
  await expect.poll(() => selected(page).innerText()).toContain('ERROR cannot reach host 642');
  expect(await page.locator('.details b').innerText()).toBe('logs/agent-1/agent.log, line 643');
  const again = await openPage(context, path, {hash: new URL(page.url()).hash});
  await expect.poll(() => selected(again).innerText()).toContain('ERROR cannot reach host 642');
  await page.goBack();
  await page.getByRole('link', {name: 'events.txt, line 2'}).click();
  await expect.poll(() => selected(page).innerText()).toContain('no class <i>');
});

test('search, filters and keys find the right lines', async (context) => {
  const page = await openPage(context, path, {hash: '#log=logs/agent-1/agent.log'});
  await expect.poll(() => status(page).innerText()).toBe('900 of 900 lines');
  await page.keyboard.press('/');
  await page.keyboard.type('host [14]42');
  await expect.poll(() => status(page).innerText()).toBe('900 of 900 lines · 2 matches');
  await page.keyboard.press('Enter');
  await expect.poll(() => selected(page).innerText()).toContain('host 142');
  await page.keyboard.press('n');
  await expect.poll(() => selected(page).innerText()).toContain('host 442');
  expect(await selected(page).locator('mark').innerText()).toBe('host 442');
  await page.keyboard.press('E');
  await expect.poll(() => selected(page).innerText()).toContain('host 342');
  await page.keyboard.press('e');
  await page.keyboard.press('e');
  await expect.poll(() => selected(page).innerText()).toContain('host 542');
  await page.keyboard.press('g');
  await page.keyboard.type('12:05:00');
  await page.keyboard.press('Enter');
  await expect.poll(() => selected(page).innerText()).toContain('INFO line 300');
  await page.getByLabel('Only matches').check();
  await expect.poll(() => status(page).innerText()).toBe('2 of 900 lines · 2 matches');
  await page.getByLabel('Only matches').uncheck();
  await page.getByLabel('Level').selectOption('Warnings and errors');
  await expect.poll(() => status(page).innerText()).toBe('27 of 900 lines · 2 matches');
  await page.getByLabel('Level').selectOption('Errors');
  await expect.poll(() => status(page).innerText()).toBe('9 of 900 lines · 2 matches');
  await page.getByLabel('Source').selectOption('*');
  await page.getByLabel('Level').selectOption('All levels');
  await page.getByLabel('Search').fill('(not a pattern');
  await expect.poll(() => status(page).innerText()).toBe('906 of 906 lines · 0 matches');
});

test('all containers are merged by time', async (context) => {
  const page = await openPage(context, path, {hash: '#log=*'});
  await expect.poll(() => page.locator('.row').count()).toBeGreaterThan(20);
  const times = await page.locator('.row .time').allInnerTexts();
  expect(times.slice(0, 12)).toEqual(
    [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5].map((second) => `12:00:0${second}.000`),
  );
});

test('marks of the timeline match the events in number and order, and lead to the log', async (context) => {
  const page = await openPage(context, path, {hash: '#timeline='});
  const {marks} = timelineOf(new Map(Object.entries(FILES)));
  expect(marks).toHaveLength(5);
  const rows = page.locator('tbody tr');
  await expect.poll(() => rows.count()).toBe(marks.length);
  expect(await rows.locator('td:nth-child(4)').allInnerTexts()).toEqual(
    marks.map(({text}) => text.trim()),
  );
  expect(await page.locator('.lanes .mark').count()).toBe(marks.length);
  await page.locator('.lanes').focus();
  for (const mark of marks) {
    await page.keyboard.press('n');
    expect(await status(page).innerText()).toContain(new Date(mark.at).toISOString());
  }
  await page.keyboard.press('p');
  await page.keyboard.press('+');
  expect(await page.locator('.lanes .mark').count()).toBeLessThan(marks.length);
  await page.keyboard.press('0');
  await page.keyboard.press('Enter');
  await expect.poll(() => selected(page).innerText()).toContain('12:10:00.000');
});

test('objects show YAML, relations and the history of a release', async (context) => {
  const page = await openPage(context, path, {hash: '#object=objects/pod/risky.json'});
  await expect.poll(() => page.locator('.object pre').innerText()).toContain('nodeName: node-1');
  await page.locator('.chain').getByRole('link', {name: 'node/node-1'}).click();
  await expect.poll(() => page.locator('.chain').innerText()).toContain('pod/risky');
  await page.getByText('releases/mine').first().click();
  await page.getByRole('link', {name: 'values', exact: true}).click();
  await expect.poll(() => page.locator('.object pre').innerText()).toContain('token: "</script>"');
  await expect
    .poll(() => page.locator('.object').innerText())
    .toContain('deployment/mine: changed (spec.replicas)');
  await page.goto(page.url().replace(/#.*/, '#object=objects/pod/agent-1.json'));
  await expect
    .poll(() => page.locator('.object').innerText())
    .toContain('pod/agent-1: exits <b>at once</b>');
});

test('hostile lines stay text', async (context) => {
  const page = await openPage(context, path, {hash: '#log=logs/risky/agent.log'});
  await expect.poll(() => status(page).innerText()).toBe('6 of 6 lines');
  const rows = await page.locator('.row .text').allInnerTexts();
  expect(rows[0]).toBe(RISKY[0]);
  expect(rows[1]).toBe(RISKY[1]);
  expect(rows[2]).toBe(
    'line⟨U+2028⟩separator⟨U+2029⟩and bidi ⟨U+202E⟩gnp.exe and null ⟨U+0000⟩ byte',
  );
  expect(rows[3]).toBe('red and ⟨U+001B⟩]0;title⟨U+0007⟩ and ⟨U+001B⟩[2J');
  expect(await page.locator('.row .ansi-1').innerText()).toBe('red');
  expect(rows[4]).toContain('</script><script>document.title=1</script> key=<b>x</b>');
  expect((rows[5] as string).length).toBeLessThan(1000);
  await page.locator('.row').nth(5).click();
  await page.getByRole('button', {name: /^Show all 1,048,/}).click();
  await expect
    .poll(async () => (await page.locator('.details pre').innerText()).length)
    .toBeGreaterThan(1024 * 1024);
  expect(await page.locator('.details pre').innerText()).toContain('end of long');
  expect(await page.title()).not.toContain('hacked');
  expect(await page.locator('script:not([type])').count()).toBe(1);
});

test('long and deeply nested lines do not freeze the page', async (context) => {
  const long = `${'x'.repeat(2 * 1024 * 1024)} an Error`;
  const nested = `{"event":${'['.repeat(9000)}${']'.repeat(9000)}}`;
  const heavy = await writePage({
    ...FILES,
    'logs/heavy/agent.log': `${at(0)} ${long}\n${at(1)} ${nested}\n`,
  });
  // The square of two million is the work of this pattern if it sees the whole line.
  const page = await openPage(context, heavy, {
    hash: '#log=logs/heavy/agent.log&line=2&q=\\w%2BError',
  });
  await expect.poll(() => status(page).innerText()).toBe('2 of 2 lines · 0 matches');
  await page.getByLabel('Search').fill('x an Error');
  await expect.poll(() => status(page).innerText()).toBe('2 of 2 lines · 1 match');
  expect(await page.locator('.details pre').innerText()).toHaveLength(nested.length);
});

test('all of it works with the keyboard', async (context) => {
  const page = await openPage(context, path);
  const focused = (): Promise<string> =>
    page.evaluate(() => (document.activeElement as HTMLElement).innerText);
  const tabTo = async (text: string): Promise<void> => {
    for (let count = 0; count < 60 && !(await focused()).startsWith(text); count += 1)
      await page.keyboard.press('Tab');
    expect(await focused()).toContain(text);
  };
  await page.locator('.bar').waitFor();
  await tabTo('logs/agent-1/agent.log');
  await page.keyboard.press('Enter');
  await expect.poll(() => selected(page).innerText()).toContain('host 642');
  await page.keyboard.press('ArrowDown');
  await expect.poll(() => selected(page).innerText()).toContain('INFO line 643');
  await page.keyboard.press('k');
  await tabTo('Close');
  await page.keyboard.press('Enter');
  await expect.poll(() => selected(page).count()).toBe(0);
  await tabTo('Objects');
  await page.keyboard.press('Enter');
  await tabTo('pod');
  await page.keyboard.press('Enter');
  await tabTo('risky');
  await page.keyboard.press('Enter');
  await tabTo('node/node-1');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.locator('.object h2').innerText()).toBe('objects/node/node-1.json');
});

test('copies summary and ticket as Markdown', async (context) => {
  const page = await openPage(context, path, {permissions: ['clipboard-read', 'clipboard-write']});
  await page.getByRole('button', {name: 'Copy as Markdown'}).click();
  await expect
    .poll(() => page.evaluate(() => navigator.clipboard.readText()))
    .toMatch(/^# Support bundle of .*# Support ticket/s);
});

test('a zip file that is opened in the page replaces its content', async (context) => {
  const zip = join(tmpdir(), `report-${process.pid}.zip`);
  onTestFinished(() => rmSync(zip, {force: true}));
  const archive = await zipArchives.create(zip);
  const other = {
    ...FILES,
    'SUMMARY.md': '# Other bundle\n\n**No problems found.**\n',
    'findings.json': '[]',
  };
  for (const [name, text] of Object.entries(other)) await archive.add(name, Buffer.from(text));
  await archive.close({manifest: () => '{}'});
  const page = await openPage(context, path);
  await page.locator('input[type=file]').setInputFiles(zip);
  await expect.poll(() => page.locator('h1').first().innerText()).toBe('No problems found.');
  await page.getByRole('link', {name: 'Logs'}).click();
  await expect.poll(() => status(page).innerText()).toBe('906 of 906 lines');
  await page.locator('input[type=file]').setInputFiles(path);
  await expect
    .poll(() => page.locator('.bar [role=status]').innerText())
    .toBe('Cannot read the file. This is not a zip file.');
});

interface AxeResult {
  violations: {id: string; nodes: {html: string; failureSummary: string}[]}[];
}

const VIEWS = [
  ['', 1280],
  ['', 390],
  ['#log=*&q=host&of=logs/agent-1/agent.log&line=643', 1280],
  ['#log=logs/risky/agent.log&line=4', 390],
  ['#timeline=', 1280],
  ['#timeline=', 390],
  ['#object=objects/pod/risky.json', 1280],
] as const;

test.for(
  VIEWS,
)('axe finds no violation in %j at %i pixels, light and dark, and nothing is cut', async ([
  hash,
  width,
], context) => {
  const page = await openPage(context, path, {hash, viewport: {width, height: 800}});
  await page.locator('.bar').waitFor();
  if (hash.startsWith('#log')) await selected(page).waitFor();
  if (hash.startsWith('#timeline')) await page.locator('tbody tr').first().waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
    width,
  );
  await page.evaluate(axe.source);
  const violations = async (...runOnly: readonly string[]): Promise<string[]> => {
    const found = await page.evaluate(
      (given) =>
        (globalThis as unknown as {axe: {run(options: object): Promise<AxeResult>}}).axe.run(given),
      {runOnly},
    );
    return found.violations.map(
      ({id, nodes}) =>
        `${id}: ${nodes.map(({html, failureSummary}) => `${html} ${failureSummary}`)}`,
    );
  };
  expect(
    await violations('wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'),
  ).toEqual([]);
  await page.emulateMedia({colorScheme: 'dark'});
  expect(await violations('color-contrast')).toEqual([]);
});
