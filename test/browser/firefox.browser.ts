import {pathToFileURL} from 'node:url';
import axe from 'axe-core';
import puppeteer, {type Browser, type Page} from 'puppeteer-core';
import {afterAll, expect, onTestFinished, type TestContext, test} from 'vitest';
import {timelineOf} from '../../report/timeline-data.ts';
import {installed} from '../engines/tools.ts';
import {findPdfToText, textOfPdf, writePage} from './chromium.ts';
import {FILES, RISKY} from './sample-bundle.ts';

/** Preferences of Firefox, which cannot be changed for one page. */
const THEMES = {
  light: {'layout.css.prefers-color-scheme.content-override': 1},
  dark: {'layout.css.prefers-color-scheme.content-override': 0},
};
const NO_SCRIPTS = {'javascript.enabled': false};
const browsers = new Map<object, Promise<Browser>>();
afterAll(async () => {
  for (const browser of browsers.values()) await (await browser).close();
});
const path = await writePage(FILES);

/**
 * Opens the page from the disk in Firefox of Debian, driven over WebDriver BiDi. Any request, console message or error fails the test.
 * Firefox starts slowly, so that only the full tests use it.
 */
async function openPage(
  context: Pick<TestContext, 'skip'>,
  {
    hash = '',
    preferences = THEMES.light,
  }: {hash?: string; preferences?: Record<string, unknown>} = {},
): Promise<Page> {
  if (!process.env['TEST_FULL']) context.skip('the full tests use Firefox: TEST_FULL=1');
  const executablePath = await installed('firefox-esr', 'firefox-esr', context);
  const browser =
    browsers.get(preferences) ??
    puppeteer.launch({browser: 'firefox', executablePath, extraPrefsFirefox: preferences});
  browsers.set(preferences, browser);
  const page = await (await browser).newPage();
  await page.setViewport({width: 1280, height: 800});
  const address = pathToFileURL(path).href;
  const unexpected: string[] = [];
  page.on('console', (message) => unexpected.push(message.text()));
  page.on('pageerror', (error) => unexpected.push(String(error)));
  page.on(
    'request',
    (request) => request.url().split('#')[0] === address || unexpected.push(request.url()),
  );
  onTestFinished(async () => {
    await page.close();
    expect(unexpected).toEqual([]);
  });
  await page.goto(address + hash);
  return page;
}

const textOf = (page: Page, selector: string): Promise<string> =>
  page.$$eval(selector, (found) =>
    found.map((element) => (element as HTMLElement).innerText).join('\n'),
  );

test('verdict and findings are readable without scripts, on paper too', async (context) => {
  const page = await openPage(context, {preferences: NO_SCRIPTS});
  const text = await textOfPdf(await page.pdf({format: 'A4'}), await findPdfToText(context));
  for (const part of [
    '1error,1warning.Startwithpod/agent1(CRASH_LOOP).',
    'exits<b>atonce</b>',
    'requirescripts',
  ])
    expect(text).toContain(part);
});

test('a finding leads to its line, and keys and search find lines', async (context) => {
  const page = await openPage(context);
  await page.locator('.bar').wait();
  await page.locator('a[href*="line=643"]').click();
  const selected = (): Promise<string> => textOf(page, '[aria-selected=true]');
  await expect.poll(selected).toContain('ERROR cannot reach host 642');
  await page.keyboard.press('/');
  await page.keyboard.type('host [14]42');
  await expect.poll(() => textOf(page, 'main .status')).toBe('900 of 900 lines · 2 matches');
  await page.keyboard.press('Enter');
  await page.keyboard.press('N');
  await expect.poll(selected).toContain('host 442');
  await page.keyboard.press('E');
  await expect.poll(selected).toContain('host 342');
});

test('hostile lines stay text', async (context) => {
  const page = await openPage(context, {hash: '#log=logs/risky/agent.log'});
  await expect.poll(() => textOf(page, 'main .status')).toBe('6 of 6 lines');
  const rows = (await textOf(page, '.row .text')).split('\n');
  expect(rows.slice(0, 2)).toEqual(RISKY.slice(0, 2));
  expect(rows[2]).toBe(
    'line⟨U+2028⟩separator⟨U+2029⟩and bidi ⟨U+202E⟩gnp.exe and null ⟨U+0000⟩ byte',
  );
  expect(await page.title()).not.toContain('hacked');
});

test('marks of the timeline match the events in number and order', async (context) => {
  const page = await openPage(context, {hash: '#timeline='});
  const {marks} = timelineOf(new Map(Object.entries(FILES)));
  await expect
    .poll(() => textOf(page, 'tbody td:nth-child(4)'))
    .toBe(marks.map(({text}) => text).join('\n'));
  expect((await page.$$('.lanes .mark')).length).toBe(marks.length);
});

test.for([
  ['', 'light'],
  ['#log=*&q=host&of=logs/agent-1/agent.log&line=643', 'dark'],
  ['#timeline=', 'dark'],
] as const)('axe finds no violation in %j, %s', async ([hash, theme], context) => {
  const page = await openPage(context, {hash, preferences: THEMES[theme]});
  await page
    .locator(hash.startsWith('#log') ? '[aria-selected=true]' : hash === '' ? '.bar' : 'tbody tr')
    .wait();
  expect(
    await page.evaluate((name) => matchMedia(`(prefers-color-scheme: ${name})`).matches, theme),
  ).toBe(true);
  await page.evaluate(axe.source);
  const violations = await page.evaluate(async () => {
    const {axe} = globalThis as unknown as {
      axe: {run(): Promise<{violations: {id: string; nodes: {html: string}[]}[]}>};
    };
    return (await axe.run()).violations.map(
      ({id, nodes}) => `${id}: ${nodes.map(({html}) => html)}`,
    );
  });
  expect(violations).toEqual([]);
});
