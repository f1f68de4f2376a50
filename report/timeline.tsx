import type {JSX, RefObject} from 'preact';
import {useEffect, useRef, useState} from 'preact/hooks';
import type {BundleData} from './bundle-data.ts';
import {clock} from './log-view.tsx';
import {addressOf} from './route.ts';
import {
  isOfTimeline,
  LANE_GROUPS,
  type Lane,
  MARK_KINDS,
  type Mark,
  type MarkKind,
  type Timeline,
  timelineOf,
} from './timeline-data.ts';
import {visibleText} from './untrusted-text.ts';

/** Height of a lane, and of the head of a group. */
const LANE = 24;
const HEAD = 28;
const AXIS = 26;
/** Width of a mark. */
const MARK = 13;
/** Most marks of a table; the page stays fast. */
const MAX_TABLE = 2000;
/** Shape of a kind, so that color is not the only difference. */
const SHAPES: Readonly<Record<MarkKind, string>> = {
  release: 'M0-6 6 0 0 6-6 0Z',
  restart: 'M-5-5H5V5H-5Z',
  failure: 'M-6-4-4-6 0-2 4-6 6-4 2 0 6 4 4 6 0 2-4 6-6 4-2 0Z',
  oom: 'M0-7 6 5H-6Z',
  eviction: 'M0 7 6-5H-6Z',
  probe: 'M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0Z',
  warning: 'M0-6 2-2 6-2 3 1 4 6 0 3-4 6-3 1-6-2-2-2Z',
  skew: 'M-6-2H6V2H-6Z',
  gap: 'M-2-6H2V6H-2Z',
};

interface Range {
  from: number;
  to: number;
}

/** Where a mark leads: the log of its pod at that moment, otherwise the file that shows it. */
function targetOf({lane, at, file, line}: Mark, data: BundleData): string {
  const pod = /^pod\/(.+)$/.exec(lane)?.[1];
  const logs =
    pod === undefined
      ? []
      : [...data.files.keys()].filter((name) => name.startsWith(`logs/${pod}/`));
  const log = logs.find((name) => !name.endsWith('.previous.log')) ?? logs[0];
  if (log !== undefined) return addressOf({log: '*', t: new Date(at).toISOString()});
  return addressOf({log: file, line: line === undefined ? '' : String(line)});
}

/** Lanes of releases and pods with marks, and the same marks as a table. */
export function TimelineView({data}: {data: BundleData}): JSX.Element {
  const timeline = useTimeline(data);
  return timeline === undefined ? (
    <main class="timeline">Reading…</main>
  ) : (
    <TimelineOf timeline={timeline} data={data} />
  );
}

function TimelineOf({timeline, data}: {timeline: Timeline; data: BundleData}): JSX.Element {
  const {marks} = timeline;
  const view = useRange(timeline);
  const {range, zoom, pan} = view;
  const [selected, setSelected] = useState<Mark>();
  const open = (mark: Mark): void => {
    location.hash = targetOf(mark, data);
  };
  const step = (direction: 1 | -1): void => {
    const next = markAfter(marks, selected, direction);
    if (next === undefined) return;
    setSelected(next);
    view.show(next.at);
  };
  const onKeyDown = runKey({
    '+': () => zoom(0.5),
    '=': () => zoom(0.5),
    '-': () => zoom(2),
    0: view.reset,
    ArrowLeft: () => pan(-0.2),
    ArrowRight: () => pan(0.2),
    n: () => step(1),
    p: () => step(-1),
    Enter: () => selected && open(selected),
  });
  return (
    <main class="timeline">
      <h1>Timeline</h1>
      <Controls view={view} marks={marks} />
      <Lanes {...{timeline, range, selected, zoom, pan, onKeyDown, open}} select={setSelected} />
      <p class="status" role="status">
        {selected === undefined
          ? 'Keys: + and - zoom, arrows move, n and p select the next and previous mark, Enter opens the log.'
          : `${new Date(selected.at).toISOString()} ${MARK_KINDS[selected.kind]}, ${visibleText(selected.lane)}: ${visibleText(selected.text)}`}
      </p>
      <MarkTable marks={marks} data={data} />
    </main>
  );
}

/** The visible time, and how it changes. */
interface RangeView {
  range: Range;
  isWhole: boolean;
  zoom(factor: number, around?: number): void;
  pan(share: number): void;
  /** Moves to a moment that is not visible. */
  show(time: number): void;
  reset(): void;
}

/** Shortest visible time, in milliseconds. */
const SHORTEST = 10;

function useRange(timeline: Timeline): RangeView {
  const [chosen, setRange] = useState<Range>();
  const margin = (timeline.to - timeline.from) * 0.03;
  const whole = {from: timeline.from - margin, to: timeline.to + margin};
  const range = chosen ?? whole;
  const {from, to} = range;
  const most = whole.to - whole.from;
  const startWithin = (start: number, length: number): number =>
    Math.min(Math.max(start, whole.from), whole.to - length);
  return {
    range,
    isWhole: chosen === undefined,
    zoom(factor, around = (from + to) / 2) {
      const length = Math.min(Math.max((to - from) * factor, SHORTEST), most);
      const start = startWithin(around - ((around - from) / (to - from)) * length, length);
      setRange(length >= most ? undefined : {from: start, to: start + length});
    },
    pan(share) {
      const start = startWithin(from + share * (to - from), to - from);
      setRange(chosen && {from: start, to: start + to - from});
    },
    show(time) {
      if (time >= from && time <= to) return;
      setRange({from: time - (to - from) / 2, to: time + (to - from) / 2});
    },
    reset: () => setRange(undefined),
  };
}

function markAfter(
  marks: readonly Mark[],
  selected: Mark | undefined,
  direction: 1 | -1,
): Mark | undefined {
  const before = direction === 1 ? -1 : 0;
  const now = selected === undefined ? before : marks.indexOf(selected);
  return marks.at(Math.max(0, now + direction) % Math.max(1, marks.length));
}

const runKey =
  (keys: Readonly<Record<string, () => void>>) =>
  (event: KeyboardEvent): void => {
    const run = event.ctrlKey || event.metaKey ? undefined : keys[event.key];
    if (run === undefined) return;
    event.preventDefault();
    run();
  };

function Controls({view, marks}: {view: RangeView; marks: readonly Mark[]}): JSX.Element {
  const {range, isWhole, zoom, reset} = view;
  const isoOf = (time: number): string => (isWhole ? '' : new Date(time).toISOString());
  const kinds = (Object.keys(MARK_KINDS) as MarkKind[]).filter((kind) =>
    marks.some((mark) => mark.kind === kind),
  );
  return (
    <div class="controls">
      <button type="button" onClick={() => zoom(0.5)}>
        Zoom in <kbd>+</kbd>
      </button>
      <button type="button" onClick={() => zoom(2)} disabled={isWhole}>
        Zoom out <kbd>-</kbd>
      </button>
      <button type="button" onClick={reset} disabled={isWhole}>
        Show all <kbd>0</kbd>
      </button>
      <a class="button" href={addressOf({log: '*', from: isoOf(range.from), to: isoOf(range.to)})}>
        Logs of this time
      </a>
      <ul class="legend" aria-label="Kinds of marks">
        {kinds.map((kind) => (
          <li>
            <svg width="16" height="16" viewBox="-8 -8 16 16" aria-hidden="true">
              <path class={`mark is-${kind}`} d={SHAPES[kind]} />
            </svg>
            {MARK_KINDS[kind]}
          </li>
        ))}
      </ul>
    </div>
  );
}

interface LanesProps {
  timeline: Timeline;
  range: Range;
  selected: Mark | undefined;
  zoom: RangeView['zoom'];
  pan: RangeView['pan'];
  select(mark: Mark): void;
  open(mark: Mark): void;
  onKeyDown(event: KeyboardEvent): void;
}

function Lanes(props: LanesProps): JSX.Element {
  const {timeline, range, zoom, pan, onKeyDown} = props;
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const drag = useRef<number | undefined>(undefined);
  const scale = scaleOf(range, width);
  const timeAt = (event: MouseEvent): number =>
    scale.timeAt(event.clientX - (box.current as HTMLDivElement).getBoundingClientRect().left);
  return (
    <div
      class="lanes"
      ref={box}
      tabIndex={0}
      role="group"
      aria-label={`Timeline with ${timeline.marks.length} marks, listed in the table below`}
      onKeyDown={onKeyDown}
      onWheel={(event) => {
        if (!event.ctrlKey && !event.shiftKey) return;
        event.preventDefault();
        zoom(event.deltaY + event.deltaX > 0 ? 1.25 : 0.8, timeAt(event));
      }}
      onPointerDown={(event) => {
        drag.current = event.clientX;
      }}
      onPointerMove={(event) => {
        if (drag.current === undefined || event.buttons !== 1) return;
        pan((drag.current - event.clientX) / (width - scale.names));
        drag.current = event.clientX;
      }}
      onPointerUp={() => {
        drag.current = undefined;
      }}
    >
      <Drawing {...props} scale={scale} />
    </div>
  );
}

function useWidth(box: RefObject<HTMLDivElement | null>): number {
  const [width, setWidth] = useState(900);
  useEffect(() => {
    const observer = new ResizeObserver(() => setWidth(box.current?.clientWidth ?? 900));
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return width;
}

/** Times and pixels. */
interface Scale {
  width: number;
  /** Width of the names of lanes. */
  names: number;
  xOf(time: number): number;
  timeAt(x: number): number;
}

function scaleOf({from, to}: Range, width: number): Scale {
  const names = width < 600 ? 120 : 260;
  return {
    width,
    names,
    xOf: (time) => names + ((time - from) / (to - from)) * (width - names),
    timeAt: (x) => from + ((x - names) / (width - names)) * (to - from),
  };
}

/** Heights of groups and lanes, one below the other. */
function placesOf(lanes: readonly Lane[]) {
  const heads: {group: string; y: number}[] = [];
  const places = new Map<string, number>();
  let y = AXIS;
  for (const group of LANE_GROUPS) {
    const members = lanes.filter((lane) => lane.group === group);
    if (members.length === 0) continue;
    heads.push({group, y});
    y += HEAD;
    for (const {id} of members) {
      places.set(id, y);
      y += LANE;
    }
  }
  return {heads, places, bottom: y};
}

function Drawing({timeline, range, scale, ...props}: LanesProps & {scale: Scale}): JSX.Element {
  const {width} = scale;
  const {heads, places, bottom} = placesOf(timeline.lanes);
  const height = bottom + 8;
  return (
    <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      <Ticks range={range} scale={scale} bottom={bottom} />
      {heads.map(({group, y}) => (
        <text class="group" x={8} y={y + 19}>
          {group}
        </text>
      ))}
      {timeline.lanes.map((lane) => (
        <LaneShape {...{lane, scale}} y={places.get(lane.id) as number} />
      ))}
      <Marks {...props} {...{timeline, range, scale, places}} />
    </svg>
  );
}

interface TicksProps {
  range: Range;
  scale: Scale;
  bottom: number;
}

function Ticks({range: {from, to}, scale: {width, names, xOf}, bottom}: TicksProps): JSX.Element {
  const most = Math.max(2, Math.floor((width - names) / 110));
  return (
    <>
      {ticksOf(from, to, most).map((time) => (
        <g class="tick">
          <line x1={xOf(time)} x2={xOf(time)} y1={AXIS - 6} y2={bottom} />
          {xOf(time) + 80 < width && (
            <text x={xOf(time) + 4} y={14}>
              {tickText(time, to - from)}
            </text>
          )}
        </g>
      ))}
    </>
  );
}

interface MarksProps
  extends Pick<LanesProps, 'timeline' | 'range' | 'selected' | 'select' | 'open'> {
  scale: Scale;
  places: ReadonlyMap<string, number>;
}

/** Marks of one moment stand side by side. */
function Marks({timeline, range, selected, select, open, scale, places}: MarksProps): JSX.Element {
  const ends = new Map<string, number>();
  const visible = timeline.marks.filter(({at}) => at >= range.from && at <= range.to);
  return (
    <>
      {visible.map((mark) => {
        const x = Math.max(scale.xOf(mark.at), (ends.get(mark.lane) ?? 0) + MARK);
        ends.set(mark.lane, x);
        return (
          <path
            class={`mark is-${mark.kind} ${mark === selected ? 'is-selected' : ''}`}
            d={SHAPES[mark.kind]}
            transform={`translate(${x} ${(places.get(mark.lane) as number) + LANE / 2})`}
            onPointerEnter={() => select(mark)}
            onClick={() => open(mark)}
          />
        );
      })}
    </>
  );
}

interface LaneProps {
  lane: Lane;
  y: number;
  scale: Scale;
}

function LaneShape({lane, y, scale: {names, width, xOf}}: LaneProps): JSX.Element {
  const {id, from, to, isFailed} = lane;
  const characters = Math.floor((names - 24) / 7);
  const name = visibleText(id.replace(/^(pod|release)\//, ''));
  const left = Math.max(names, xOf(from ?? 0));
  const right = Math.min(width, xOf(to ?? 0));
  return (
    <g class="lane">
      <line x1={0} x2={width} y1={y + LANE} y2={y + LANE} />
      <text x={16} y={y + 16}>
        {name.length > characters
          ? `${name.slice(0, characters / 2)}…${name.slice(-characters / 2)}`
          : name}
        <title>{name}</title>
      </text>
      {from !== undefined && right > left && (
        <rect
          class={isFailed ? 'span is-failed' : 'span'}
          x={left}
          y={y + 7}
          width={right - left}
          height={LANE - 14}
          rx={3}
        />
      )}
    </g>
  );
}

const STEPS = [
  10, 50, 100, 500, 1000, 5000, 15_000, 30_000, 60_000, 300_000, 900_000, 1_800_000, 3_600_000,
  10_800_000, 21_600_000, 86_400_000,
];

function ticksOf(from: number, to: number, most: number): number[] {
  const step =
    STEPS.find((each) => (to - from) / each <= most) ??
    Math.ceil((to - from) / most / 86_400_000) * 86_400_000;
  const first = Math.ceil(from / step) * step;
  return Array.from(
    {length: Math.max(0, Math.floor((to - first) / step) + 1)},
    (_, index) => first + index * step,
  );
}

function tickText(time: number, length: number): string {
  const iso = new Date(time).toISOString();
  if (length > 3 * 86_400_000) return iso.slice(5, 10);
  if (length > 86_400_000) return iso.slice(5, 16).replace('T', ' ');
  return length < 20_000 ? iso.slice(11, 22) : iso.slice(11, 19);
}

function MarkTable({marks, data}: {marks: readonly Mark[]; data: BundleData}): JSX.Element {
  if (marks.length === 0)
    return <p class="empty">The bundle has no restarts, warnings or other marks.</p>;
  return (
    <div class="table" tabIndex={0} role="region" aria-label="Marks">
      <table>
        <caption>{`${marks.length} marks, oldest first`}</caption>
        <thead>
          <tr>
            <th scope="col">Time (UTC)</th>
            <th scope="col">Kind</th>
            <th scope="col">Where</th>
            <th scope="col">What</th>
            <th scope="col">Shown in</th>
          </tr>
        </thead>
        <tbody>
          {marks.slice(0, MAX_TABLE).map((mark) => (
            <tr>
              <td>
                <a
                  class="moment"
                  href={targetOf(mark, data)}
                  title={new Date(mark.at).toISOString()}
                >
                  {clock(mark.at)}
                </a>
              </td>
              <td>
                <span class={`tag is-${mark.kind}`}>{MARK_KINDS[mark.kind]}</span>
              </td>
              <td>{visibleText(mark.lane)}</td>
              <td>{visibleText(mark.text)}</td>
              <td>
                <a
                  href={addressOf({
                    log: mark.file,
                    line: mark.line === undefined ? '' : String(mark.line),
                  })}
                >
                  {visibleText(mark.file)}
                </a>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function useTimeline(data: BundleData): Timeline | undefined {
  const [timeline, setTimeline] = useState<Timeline>();
  useEffect(() => {
    const read = async (): Promise<void> => {
      const names = [...data.files.keys()].filter(isOfTimeline);
      setTimeline(
        timelineOf(
          new Map(
            await Promise.all(names.map(async (name) => [name, await data.text(name)] as const)),
          ),
        ),
      );
    };
    void read();
  }, [data]);
  return timeline;
}
