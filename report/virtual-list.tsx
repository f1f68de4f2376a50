import type {JSX, RefObject} from 'preact';
import {useEffect, useLayoutEffect, useRef, useState} from 'preact/hooks';

export const ROW = 22;
/** Browsers draw elements of at most about 17 million pixels; beyond it, a pixel stands for several. */
const MAX_PIXELS = 8_000_000;
const OVERSCAN = 12;

interface Props {
  count: number;
  label: string;
  /** Number of the selected row. */
  selected: number;
  /** Changes when the selected row shall come into view. */
  reveal: number;
  row(index: number): JSX.Element;
}

/** A list of which only the visible rows exist. */
export function VirtualList({count, label, selected, reveal, row}: Props): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const [height, setHeight] = useState(600);
  const [top, setTop] = useState(0);
  const pixels = Math.min(count * ROW, MAX_PIXELS);
  const hidden = Math.max(1, pixels - height);
  const ratio = Math.max(0, count - height / ROW) / hidden;
  const exact = Math.min(top, hidden) * ratio;
  const first = Math.max(0, Math.floor(exact) - OVERSCAN);
  const last = Math.min(count, Math.ceil(exact + height / ROW) + OVERSCAN);
  useHeight(box, setHeight);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null || selected < 0 || ratio === 0) return;
    const now = element.scrollTop * ratio;
    if (selected >= now + 1 && selected < now + height / ROW - 2) return;
    element.scrollTop = Math.max(0, (selected - height / ROW / 3) / ratio);
    setTop(element.scrollTop);
  }, [reveal, selected, count, height]);
  return (
    <div
      class="rows"
      ref={box}
      tabIndex={0}
      role="listbox"
      aria-label={label}
      {...(selected >= first && selected < last
        ? {'aria-activedescendant': `row-${selected}`}
        : {})}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <div class="sizer" role="presentation" style={{height: `${pixels}px`}}>
        <div
          class="window"
          role="presentation"
          style={{transform: `translateY(${Math.min(top, hidden) - (exact - first) * ROW}px)`}}
        >
          {Array.from({length: Math.max(0, last - first)}, (_, index) => row(first + index))}
        </div>
      </div>
    </div>
  );
}

function useHeight(box: RefObject<HTMLDivElement | null>, set: (height: number) => void): void {
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => set(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
}
