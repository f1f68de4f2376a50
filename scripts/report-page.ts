import {createHash} from 'node:crypto';
import {brotliCompressSync, constants} from 'node:zlib';
import {build, type Metafile} from 'esbuild';

/** The empty page of a support bundle: program and styles in one HTML file, which loads nothing. */
export async function reportPage(): Promise<{html: string; metafile: Metafile}> {
  const {outputFiles, metafile} = await build({
    entryPoints: ['report/main.tsx', 'report/page.css'],
    outdir: 'report',
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'iife',
    target: ['chrome109', 'firefox115', 'safari17'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'warning',
  });
  const text = (end: string): string =>
    outputFiles.find(({path}) => path.endsWith(end))?.text.trim() ?? '';
  const script = text('.js').replaceAll('</script', '<\\/script');
  const style = text('.css');
  const hash = (content: string): string =>
    `'sha256-${createHash('sha256').update(content).digest('base64')}'`;
  const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; base-uri 'none'; form-action 'none'`;
  const html = [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">',
    `<title>Scalr agent support bundle</title><style>${style}</style></head><body>`,
    '<div id="app"></div><main id="overview"><!--first--></main>',
    '<noscript><p class="noscript">Logs, timeline and objects require scripts. SUMMARY.md in the bundle has the text of this page.</p></noscript>',
    `<!--data--><script>${script}</script></body></html>\n`,
  ].join('\n');
  return {html, metafile};
}

export const compressed = (html: string): Buffer =>
  brotliCompressSync(html, {
    params: {[constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY},
  });
