import type {Frame} from './film.ts';
import type {Run} from './runs.ts';

const FONT = {size: 14, width: 8.43, height: 19};
const PADDING = 16;
/** Lines that may pass at once; more of them scroll by as fast as one reads. */
const AT_ONCE = 4;
const SECONDS_PER_LINE = 0.1;

/** On a background of its own, so that it can be read on any page. */
const STYLE = `text{font:${FONT.size}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d6dde5}
.b{font-weight:700}.d,.c8{fill:#97a1ac}.c1{fill:#ff8077}.c2{fill:#4fca63}.c3{fill:#e0af3f}.c4{fill:#74b3ff}.c5{fill:#d3a5ff}.c6{fill:#56d4dd}
.gone{opacity:0}`;

interface Moment {
  frame: Frame;
  from: number;
  /** When the screen has scrolled to the end of what is new. */
  settled: number;
  to: number;
}

/** Frames as an image that moves without a script. Without animation it shows the last frame. */
export function svgOf(
  frames: readonly Frame[],
  title: string,
  {columns, rows}: {columns: number; rows: number},
): string {
  const moments = timeline(frames);
  const total = moments.at(-1)?.to ?? 0;
  const percent = (time: number): string => `${Number(((time / total) * 100).toFixed(2))}%`;
  const groups = [...appearances(moments)].map(([key, texts], index) => {
    const [from, to] = key.split(' ').map(Number) as [number, number];
    const isGone = to < total;
    const steps = `${from > 0 ? '0%{opacity:0}' : ''}${percent(from)}{opacity:1}${isGone ? `${percent(to)}{opacity:0}` : ''}`;
    return {
      css: `@keyframes g${index}{${steps}}`,
      xml: `<g style="animation-name:g${index}"${isGone ? ' class="gone"' : ''}>\n${texts.join('\n')}\n</g>`,
    };
  });
  const shift = (top: number): string => `transform:translateY(${-top * FONT.height}px)`;
  const scroll = moments.map(({frame: {top}, from, settled}, index) => {
    const before = moments[index - 1]?.frame.top ?? 0;
    const way =
      settled > from ? `${percent(from)}{${shift(before)};animation-timing-function:linear}` : '';
    return before === top && index > 0 ? '' : `${way}${percent(settled)}{${shift(top)}}`;
  });
  const last = shift(frames.at(-1)?.top ?? 0);
  const [width, height] = [columns * FONT.width, rows * FONT.height].map(Math.ceil) as [
    number,
    number,
  ];
  const outerWidth = width + 2 * PADDING;
  const outerHeight = height + 2 * PADDING;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${outerWidth} ${outerHeight}" width="${outerWidth}" role="img">
<title>${escaped(title)}</title>
<style>
${STYLE}
@media(prefers-reduced-motion:no-preference){g{animation:${total.toFixed(2)}s step-end infinite}}
@keyframes scroll{${scroll.join('')}}
${groups.map(({css}) => css).join('\n')}
</style>
<rect x=".5" y=".5" width="${outerWidth - 1}" height="${outerHeight - 1}" rx="8" fill="#0d1117" stroke="#30363d"/>
<svg x="${PADDING}" y="${PADDING}" width="${width}" height="${height}">
<g style="animation-name:scroll;${last}">
${groups.map(({xml}) => xml).join('\n')}
</g>
</svg>
</svg>
`;
}

function timeline(frames: readonly Frame[]): Moment[] {
  let now = 0;
  return frames.map((frame, index) => {
    const lines = frame.top - (frames[index - 1]?.top ?? 0);
    const from = now;
    const settled = from + (lines > AT_ONCE ? lines * SECONDS_PER_LINE : 0);
    now = settled + frame.seconds;
    return {frame, from, settled, to: now};
  });
}

/** Every line as often as it changes, by the time for which it stands: "from to". */
function appearances(moments: readonly Moment[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const height = Math.max(...moments.map(({frame}) => frame.lines.length));
  for (let y = 0; y < height; y++) {
    const texts = moments.map(({frame}) =>
      (frame.lines[y] ?? []).map((run) => textOf(run, y)).join(''),
    );
    for (let first = 0; first < texts.length; ) {
      const changed = texts.findIndex((text, index) => index > first && text !== texts[first]);
      const next = changed < 0 ? texts.length : changed;
      const key = `${moments[first]?.from} ${moments[next - 1]?.to}`;
      if (texts[first] !== '') found.set(key, [...(found.get(key) ?? []), texts[first] as string]);
      first = next;
    }
  }
  return found;
}

const textOf = ({column, text, style}: Run, y: number): string => {
  const place = `x="${Number((column * FONT.width).toFixed(1))}" y="${(y + 1) * FONT.height - 5}"`;
  return `<text ${place}${style === '' ? '' : ` class="${style}"`}>${escaped(text)}</text>`;
};

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
