import type {Page} from 'playwright-core';
import {afterAll, expect, test} from 'vitest';
import {closeChromium, findPdfToText, openPage, textOfPdf, writePage} from './chromium.ts';
import {FILES} from './sample-bundle.ts';

afterAll(closeChromium);

const WORD = `registry.example.com/${'path/'.repeat(60)}scalr/agent:1.4.0`;
const FINDINGS = Array.from({length: 30}, (_, index) => ({
  verdict: index < 10 ? 'error' : 'warning',
  code: 'IMAGE_NOT_FOUND',
  subject: {object: `pod/agent-${index}`},

  message: `Image ${index} ${WORD} not found`,
  remedies: [{text: `Read finding ${index}: kubectl describe pod agent-${index}`}],
}));
const path = await writePage({...FILES, 'findings.json': JSON.stringify(FINDINGS)});

const printed = async (page: Page, pdfToText: string): Promise<string> =>
  textOfPdf(await page.pdf({format: 'A4'}), pdfToText);

/** Elements of which a part is hidden on paper. */
const cutElements = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('main *')]
      .filter(
        (element) =>
          !element.matches('.for-readers, select, option, input') &&
          getComputedStyle(element).overflow !== 'visible',
      )
      .filter(
        (element) =>
          element.scrollWidth > element.clientWidth + 1 ||
          element.scrollHeight > element.clientHeight + 1,
      )
      .map((element) => element.outerHTML.slice(0, 100)),
  );

test('the first screen is printed whole, dark on white, whatever the theme', async (context) => {
  const pdfToText = await findPdfToText(context);
  const page = await openPage(context, path, {colorScheme: 'dark'});
  await page.locator('.bar').waitFor();
  const text = await printed(page, pdfToText);
  expect(text).toContain('1error,1warning.Startwithpod/agent1(CRASH_LOOP).');
  for (const {subject, message, remedies} of FINDINGS) {
    for (const part of [subject.object + message, ...remedies.map(({text}) => text)])
      expect(text).toContain(part.replace(/[\s-]/g, ''));
  }
  for (const fact of ['Roleobjects', 'agentjob0.6.5']) expect(text).toContain(fact);
  for (const control of ['CopyasMarkdown', 'Openabundle']) expect(text).not.toContain(control);
  await page.emulateMedia({media: 'print', colorScheme: 'dark'});
  expect(await cutElements(page)).toEqual([]);
  const [red = 255] =
    (await page.locator('h1').evaluate((title) => getComputedStyle(title).color)).match(/\d+/g) ??
    [];
  expect(Number(red)).toBeLessThan(100);
});

test.for([
  ['#timeline=', 'tbody tr', 'Containeragent:OOMKilled,exitcode137,restarts:3'],
  [
    '#log=logs/risky/agent.log&line=3',
    '.details pre',
    '<script>document.title="hacked"</script><imgsrc=xonerror=alert(1)>',
  ],
  ['#object=objects/pod/risky.json', '.object pre', 'nodeName:node1'],
] as const)('%s is printed as it is on the screen', async ([hash, ready, text], context) => {
  // Before it waits: a test is not skipped from within a poll.
  const pdfToText = await findPdfToText(context);
  const page = await openPage(context, path, {hash});
  await page.locator(ready).first().waitFor();
  await expect.poll(() => printed(page, pdfToText)).toContain(text);
  await page.emulateMedia({media: 'print'});
  expect(await cutElements(page)).toEqual([]);
});
