import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {execa} from 'execa';
import {type Browser, type BrowserContextOptions, chromium, type Page} from 'playwright-core';
import {expect, onTestFinished, type TestContext} from 'vitest';
import {reportPage} from '../../scripts/report-page.ts';
import {firstScreenHtml, ReportPage} from '../../src/extensions/bundle/report-page.ts';
import {installed} from '../engines/tools.ts';

const folder = mkdtempSync(join(tmpdir(), 'report-'));
process.once('exit', () => rmSync(folder, {recursive: true, force: true}));
const {html: template} = await reportPage();
let browser: Promise<Browser> | undefined;
let count = 0;

/** Writes the page of a bundle with these files, as collect-logs does. Returns its path. */
export async function writePage(files: Readonly<Record<string, string>>): Promise<string> {
  const page = new ReportPage(template);
  for (const [name, text] of Object.entries(files)) {
    for await (const _ of page.recording(name, [Buffer.from(text)]));
  }
  const parts: Buffer[] = [];
  const first = firstScreenHtml({
    summary: files['SUMMARY.md'] ?? '',
    findings: JSON.parse(files['findings.json'] ?? '[]'),
  });
  for await (const part of page.html(Buffer.from(first))) parts.push(part);
  const path = join(folder, `${++count}.html`);
  writeFileSync(path, Buffer.concat(parts));
  return path;
}

/** Chromium of Debian, once for all tests; the test is skipped, and says why, if it is not installed. */
export async function startChromium(context: Pick<TestContext, 'skip'>): Promise<Browser> {
  const executablePath = await installed('chromium', 'chromium', context);
  browser ??= chromium.launch({executablePath, args: ['--no-sandbox']});
  return browser;
}

export const findPdfToText = (context: Pick<TestContext, 'skip'>): Promise<string> =>
  installed('pdftotext', 'poppler-utils', context);

/** Text of a printed page without white space and hyphens, which mark broken words. What lies outside of the paper is missing. */
export const textOfPdf = async (input: Uint8Array, pdfToText: string): Promise<string> =>
  (await execa(pdfToText, ['-', '-'], {input})).stdout.replace(/[\s-]/g, '');

export const closeChromium = async (): Promise<void> => (await browser)?.close();

/** Opens a page from the disk. Any request, console message or error fails the test. */
export async function openPage(
  context: Pick<TestContext, 'skip'>,
  path: string,
  {hash = '', ...options}: BrowserContextOptions & {hash?: string} = {},
): Promise<Page> {
  const started = await startChromium(context);
  const opened = await started.newContext({viewport: {width: 1280, height: 800}, ...options});
  onTestFinished(async () => {
    await opened.close();
    expect(unexpected).toEqual([]);
  });
  const page = await opened.newPage();
  const address = pathToFileURL(path).href;
  const unexpected: string[] = [];
  page.on('console', (message) => unexpected.push(message.text()));
  page.on('pageerror', (error) => unexpected.push(error.message));
  page.on(
    'request',
    (request) => request.url().split('#')[0] === address || unexpected.push(request.url()),
  );
  page.setDefaultTimeout(15_000);
  await page.goto(address + hash);
  return page;
}
