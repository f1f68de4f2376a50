import type {JSX} from 'preact';
import {useEffect, useMemo, useRef, useState} from 'preact/hooks';
import type {Block, BundleData} from './bundle-data.ts';
import {LineDetails} from './line-details.tsx';
import {foldedJson, LineText, MAX_ROW} from './line-text.tsx';
import {ABSENT, ERROR, indexOf, LEVELS, type LogIndex, WARNING, withoutTime} from './log-index.ts';
import {type Matches, patternOf, rowAt, rowsOf, search} from './log-rows.ts';
import type {ChangeRoute, Route} from './route.ts';
import {visibleText} from './untrusted-text.ts';
import {VirtualList} from './virtual-list.tsx';

const ALL = '*';
const count = (number: number): string => number.toLocaleString('en-US');
export const clock = (time: number): string =>
  time > 0 ? new Date(time).toISOString().slice(11, 23) : '';
const shortName = (file: string): string => file.replace(/^logs\//, '').replace(/\.log$/, '');

interface Props {
  data: BundleData;
  route: Route;
  change: ChangeRoute;
}

/** Lines of all containers or of one file, with search and filters. */
export function LogView({data, route, change}: Props): JSX.Element {
  const source = route.log || ALL;
  const [index, progress] = useIndex(data, source);
  const pattern = useMemo(() => patternOf(route.q ?? ''), [route.q]);
  const matches = useMatches(data, index, pattern);
  const rows = useRows(index, route, matches);
  const searchBox = useRef<HTMLInputElement>(null);
  const timeBox = useRef<HTMLInputElement>(null);
  const selection = useSelection({index, rows, route, change});
  const {selected, step, goTo} = selection;
  const isError = (id: number): boolean => index?.levels[id] === ERROR;
  const isMatch = (id: number): boolean => matches?.flags[id] === 1;
  useKeys({
    e: () => step(1, isError),
    E: () => step(-1, isError),
    n: () => step(1, isMatch),
    N: () => step(-1, isMatch),
    j: () => step(1),
    k: () => step(-1),
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
    '/': () => searchBox.current?.focus(),
    g: () => timeBox.current?.focus(),
  });
  return (
    <main class="log">
      <h1 class="for-readers">Logs</h1>
      <Controls
        {...{data, route, change, source, searchBox, timeBox, goTo}}
        step={(direction) => step(direction, isMatch)}
      />
      <p class="status" role="status">
        {index === undefined
          ? `Reading ${count(progress)} lines…`
          : `${count(rows.length)} of ${count(index.times.length)} lines${matchesText(matches)}`}
      </p>
      <Rows {...{data, index, rows, selection, pattern, source}} />
      {index !== undefined && selected >= 0 && (
        <LineDetails
          {...{data, change}}
          isMerged={source === ALL}
          place={index.placeOf(rows[selected] as number)}
        />
      )}
    </main>
  );
}

interface SelectionProps extends Pick<Props, 'route' | 'change'> {
  index: LogIndex | undefined;
  rows: Uint32Array;
}

/** The selected row, which is part of the route, and how it changes. */
interface Selection {
  selected: number;
  /** Changes when the selected row shall come into view. */
  reveal: number;
  select(row: number): void;
  /** Selects the next line of a kind. */
  step(direction: 1 | -1, is?: (id: number) => boolean): void;
  goTo(typed: string): void;
}

function useSelection({index, rows, route, change}: SelectionProps): Selection {
  const [reveal, setReveal] = useState(0);
  const selected = useMemo(
    () => (index === undefined ? -1 : selectedRow(index, rows, route)),
    [index, rows, route.line, route.t, route.of],
  );
  const select = (row: number): void => {
    const id = rows[row];
    if (index === undefined || id === undefined) return;
    const {log, line} = index.placeOf(id);
    const isMerged = (route.log || ALL) === ALL;
    change({line: String(line), t: '', of: isMerged ? log.file.name : ''});
    setReveal((before) => before + 1);
  };
  const step = (direction: 1 | -1, is: (id: number) => boolean = () => true): void => {
    let row = selected + direction;
    while (row >= 0 && row < rows.length && !is(rows[row] as number)) row += direction;
    select(row);
  };
  const goTo = (typed: string): void => {
    const time = index === undefined ? Number.NaN : timeOf(typed, index);
    if (index !== undefined && !Number.isNaN(time)) select(rowAt(index, rows, time));
  };
  return {selected, reveal, select, step, goTo};
}

/** Rows of the lines that pass the filters of the route. */
function useRows(
  index: LogIndex | undefined,
  route: Route,
  matches: Matches | undefined,
): Uint32Array {
  const level = Math.max(0, LEVELS.indexOf((route.level ?? 'none') as (typeof LEVELS)[number]));
  const from = route.from ? Date.parse(route.from) : -Infinity;
  const to = route.to ? Date.parse(route.to) : Infinity;
  const isOnlyMatches = route.only === '1' && patternOf(route.q ?? '') !== undefined;
  return useMemo(
    () =>
      index === undefined
        ? new Uint32Array()
        : rowsOf(index, {level, from, to, isOnlyMatches}, matches),
    [index, level, from, to, isOnlyMatches, isOnlyMatches && matches],
  );
}

/** Blocks that a row needed and that are not decoded yet; they are decoded after the rows are shown. */
function useMissing(data: BundleData): Set<Block> {
  const [, redraw] = useState(0);
  const missing = useRef(new Set<Block>());
  useEffect(() => {
    const blocks = [...missing.current];
    missing.current.clear();
    if (blocks.length > 0)
      void Promise.all(blocks.map((block) => data.lines(block))).then(() =>
        redraw((before) => before + 1),
      );
  });
  return missing.current;
}

/** A typed time; without a date, on the day of the first line. */
function timeOf(typed: string, {times}: LogIndex): number {
  const first = times.find((time) => time > 0) ?? 0;
  const day = new Date(first).toISOString().slice(0, 11);
  return Date.parse(/^\d\d:/.test(typed) ? `${day}${typed}Z` : typed);
}

function matchesText(matches: Matches | undefined): string {
  if (matches === undefined) return '';
  const noun = matches.count === 1 ? 'match' : 'matches';
  return ` · ${count(matches.count)} ${noun}${matches.isComplete ? '' : ' so far'}`;
}

interface RowsProps {
  data: BundleData;
  index: LogIndex | undefined;
  rows: Uint32Array;
  selection: Selection;
  pattern: RegExp | undefined;
  source: string;
}

function Rows({data, index, rows, selection, pattern, source}: RowsProps): JSX.Element {
  const {selected, reveal, select} = selection;
  const missing = useMissing(data);
  const isMerged = source === ALL;
  const row = (number: number): JSX.Element => (
    <Row
      key={number}
      {...{data, number, pattern, isMerged, missing, select}}
      index={index as LogIndex}
      id={rows[number] as number}
      isSelected={number === selected}
    />
  );
  return (
    <VirtualList
      count={rows.length}
      label={`Lines of ${isMerged ? 'all containers' : visibleText(source)}`}
      {...{selected, reveal, row}}
    />
  );
}

interface RowProps {
  data: BundleData;
  index: LogIndex;
  number: number;
  /** Number of its line. */
  id: number;
  pattern: RegExp | undefined;
  isMerged: boolean;
  isSelected: boolean;
  missing: Set<Block>;
  select(row: number): void;
}

function Row(props: RowProps): JSX.Element {
  const {data, index, number, id, pattern, isMerged, isSelected, missing, select} = props;
  const {log, block, row: rowInBlock, line} = index.placeOf(id);
  const lines = data.decoded(block);
  if (lines === undefined && block.packed !== undefined) missing.add(block);
  const rank = index.levels[id] as number;
  const text = rank === ABSENT ? absentText(index, id) : (lines?.[rowInBlock] ?? '');
  return (
    <div
      id={`row-${number}`}
      class={`row is-${LEVELS[rank]} ${/^\[… \d+ bytes omitted/.test(text) ? 'is-absent' : ''}`}
      role="option"
      tabIndex={-1}
      aria-selected={isSelected}
      onClick={() => select(number)}
    >
      <span class="number">{line}</span>
      <span class="time">{clock(index.times[id] as number)}</span>
      {isMerged && <span class="source">{visibleText(shortName(log.file.name))}</span>}
      <span class="text">{rank === ABSENT ? text : <Content text={text} pattern={pattern} />}</span>
    </div>
  );
}

const Content = ({text, pattern}: {text: string; pattern: RegExp | undefined}): JSX.Element => {
  const message = withoutTime(text);
  const folded = foldedJson(message);
  if (folded === undefined)
    return (
      <LineText
        text={message.slice(0, MAX_ROW) + (message.length > MAX_ROW ? ' …' : '')}
        pattern={pattern}
      />
    );
  return (
    <>
      <span class="json">{'{}'}</span> <LineText text={folded.message} pattern={pattern} />{' '}
      <span class="pairs">
        <LineText text={folded.rest.slice(0, MAX_ROW)} pattern={pattern} />
      </span>
    </>
  );
};

function absentText({levels}: LogIndex, id: number): string {
  let end = id;
  while (levels[end] === ABSENT) end += 1;
  return `${count(end - id)} lines are only in the zip file: drop it onto this page to read them`;
}

function selectedRow(index: LogIndex, rows: Uint32Array, {line, t, of, log}: Route): number {
  if (t) return rowAt(index, rows, Date.parse(t));
  const wanted = of || log;
  const start = index.logs.find(({file}) => file.name === wanted)?.start ?? -1;
  return line && start >= 0 ? rows.indexOf(start + Number(line) - 1) : -1;
}

function useIndex(data: BundleData, source: string): [LogIndex | undefined, number] {
  const [found, setFound] = useState<{index: LogIndex; source: string; data: BundleData}>();
  const [progress, setProgress] = useState(0);
  useEffect(() => {
    let isOver = false;
    const files = [...data.files.values()].filter(({name}) =>
      source === ALL ? name.startsWith('logs/') : name === source,
    );
    void indexOf(data, files, setProgress).then(
      (index) => isOver || setFound({index, source, data}),
    );
    return () => {
      isOver = true;
    };
  }, [data, source]);
  return [found?.source === source && found.data === data ? found.index : undefined, progress];
}

function useMatches(
  data: BundleData,
  index: LogIndex | undefined,
  pattern: RegExp | undefined,
): Matches | undefined {
  const [matches, setMatches] = useState<Matches>();
  useEffect(() => {
    setMatches(undefined);
    if (index === undefined || pattern === undefined) return undefined;
    const ended = new AbortController();
    void search({data, index}, pattern, ended.signal, setMatches);
    return () => ended.abort();
  }, [data, index, pattern]);
  return matches;
}

/** Keys of lnav, while nothing is typed into a field. */
function useKeys(keys: Readonly<Record<string, () => void>>): void {
  const newest = useRef(keys);
  newest.current = keys;
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        (event.target as Element).closest(
          `input, select, summary${event.key.startsWith('Arrow') ? ', pre' : ''}`,
        )
      )
        return;
      const run = newest.current[event.key];
      if (run === undefined) return;
      event.preventDefault();
      run();
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
}

interface ControlsProps extends Props {
  source: string;
  searchBox: {current: HTMLInputElement | null};
  timeBox: {current: HTMLInputElement | null};
  goTo(typed: string): void;
  step(direction: 1 | -1): void;
}

function Controls(props: ControlsProps): JSX.Element {
  const {route, change, searchBox, timeBox, goTo, step} = props;
  return (
    <form class="controls" onSubmit={(event) => event.preventDefault()}>
      <SourceSelect {...props} />
      <LevelSelect {...props} />
      <label class="wide">
        <span>
          Search <kbd>/</kbd> <kbd>n</kbd>
        </span>
        <input
          type="search"
          ref={searchBox}
          value={route.q ?? ''}
          placeholder="Text or regular expression"
          onInput={(event) => change({q: event.currentTarget.value})}
          onKeyDown={(event) => onEnter(event, () => step(event.shiftKey ? -1 : 1))}
        />
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={route.only === '1'}
          onChange={(event) => change({only: event.currentTarget.checked ? '1' : ''})}
        />
        <span>Only matches</span>
      </label>
      <label>
        <span>
          Time (UTC) <kbd>g</kbd>
        </span>
        <input
          type="text"
          size={12}
          ref={timeBox}
          placeholder="08:15:00"
          onKeyDown={(event) => onEnter(event, () => goTo(event.currentTarget.value))}
        />
      </label>
      {(route.from || route.to) && (
        <button type="button" onClick={() => change({from: '', to: ''})}>
          Only {clock(Date.parse(route.from ?? ''))} to {clock(Date.parse(route.to ?? ''))} ✕
        </button>
      )}
    </form>
  );
}

function onEnter(event: KeyboardEvent & {currentTarget: HTMLInputElement}, run: () => void): void {
  if (event.key === 'Enter') run();
  if (event.key === 'Enter' || event.key === 'Escape') event.currentTarget.blur();
}

type SelectProps = Pick<ControlsProps, 'data' | 'source' | 'route' | 'change'>;

function SourceSelect({data, source, change}: SelectProps): JSX.Element {
  const names = [...data.files.keys()];
  const isLog = (name: string): boolean => name.startsWith('logs/');
  return (
    <label>
      <span>Source</span>
      <select
        value={source}
        onChange={(event) => change({log: event.currentTarget.value, line: '', of: '', t: ''})}
      >
        <option value={ALL}>All containers, by time</option>
        <optgroup label="Containers">
          {names.filter(isLog).map((name) => (
            <option value={name}>{visibleText(shortName(name))}</option>
          ))}
        </optgroup>
        <optgroup label="Other files">
          {names
            .filter((name) => !isLog(name))
            .map((name) => (
              <option value={name}>{visibleText(name)}</option>
            ))}
        </optgroup>
      </select>
    </label>
  );
}

function LevelSelect({route, change}: SelectProps): JSX.Element {
  return (
    <label>
      <span>
        Level <kbd>e</kbd>
      </span>
      <select
        value={route.level ?? 'none'}
        onChange={(event) => change({level: event.currentTarget.value.replace('none', '')})}
      >
        <option value="none">All levels</option>
        <option value={LEVELS[WARNING]}>Warnings and errors</option>
        <option value={LEVELS[ERROR]}>Errors</option>
      </select>
    </label>
  );
}
