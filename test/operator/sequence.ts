import {broken} from './invariants.ts';
import type {Happening, Offer, Report, State} from './things.ts';

/** A command as somebody types it. */
export interface Step {
  /** Administrator unless named. */
  role: string;
  /** The command is killed with SIGKILL after this write. */
  killedAfter?: number;
  /** What happens when this request of the command arrives at the API server. */
  disturbance?: Disturbance;
  env: Readonly<Record<string, string>>;
  tool: string;
  args: readonly string[];
}

/** `use-context prod` is run by somebody else; the others are faults of a proxy in front of the API server. */
export interface Disturbance {
  what: 'use-context prod' | 'cut' | 'slow' | 'login page';
  /** Counts from 1; only writes count with `isWrite`. */
  request: number;
  isWrite: boolean;
}

export type Mode = 'run' | 'plan' | 'resume';

/** Where an operator works: a namespace or a machine. */
export interface World {
  read(): Promise<State>;
  /** Another cluster with the same namespace and the same release names. */
  readOther?(): Promise<State>;
  /** Runs any command; `plan` is its dry run, `resume` completes it after a failure. */
  run(step: Step, mode: Mode): Promise<Report>;
  /** Printed commands that delete something. */
  offersIn(report: Report, state: State): Promise<Offer[]>;
  /** Printed commands that do not parse or run, with the reason. */
  refusedIn(report: Report): Promise<string[]>;
  /** A step that makes sense in this state. */
  next(state: State, dice: Dice): string;
  /** Removes what other sequences could meet. */
  end(): Promise<void>;
}

/** A random choice of the seed, by weight. */
export interface Dice {
  pick<T>(choices: readonly T[]): T;
  chance(percent: number): boolean;
}

/** Mulberry32: the same choices for the same seed and step, whatever other steps are left out. */
export function diceOf(seed: number, step: number): Dice {
  let state = Math.imul(seed, 0x9e3779b1) ^ Math.imul(step + 1, 0x85ebca6b);
  const random = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    pick: (choices) => choices[Math.floor(random() * choices.length)] as (typeof choices)[0],
    chance: (percent) => random() * 100 < percent,
  };
}

const DISTURBED = /^(use-context prod|cut|slow|login page) at (request|write) (\d+)$/;

function disturbanceOf(who: string): Disturbance | undefined {
  const [, what, of, request] = DISTURBED.exec(who) ?? [];
  if (what === undefined) return undefined;
  return {
    what: what as Disturbance['what'],
    request: Number(request),
    isWrite: of === 'write',
  };
}

/**
 * `editor: SCALR_AGENT_TOKEN=A scalr-agent install …`, `kill -9 after write 3: scalr-agent …`, or
 * `use-context prod at request 7: scalr-agent …`.
 */
export function stepOf(text: string): Step {
  const [, who = 'administrator', line = ''] = /^(?:([a-z][\w -]*): )?(.*)$/.exec(text) ?? [];
  const words = line.split(' ');
  const start = words.findIndex((word) => !/^[A-Z_]+=/.test(word));
  const [tool = '', ...args] = words.slice(start);
  const [, write] = /^kill -9 after write (\d+)$/.exec(who) ?? [];
  const disturbance = disturbanceOf(who);
  return {
    role: write === undefined && disturbance === undefined ? who : 'administrator',
    ...(disturbance === undefined ? {} : {disturbance}),
    ...(write === undefined ? {} : {killedAfter: Number(write)}),
    env: Object.fromEntries(
      words.slice(0, start).map((word) => word.split('=') as [string, string]),
    ),
    tool,
    args,
  };
}

/** Value of a flag. */
export const flagOf = ({args}: Pick<Step, 'args'>, flag: string): string | undefined =>
  args.includes(flag) ? args[args.indexOf(flag) + 1] : undefined;

const CHANGES = new Set(['install', 'upgrade', 'uninstall', 'debug']);
export const isChange = ({tool, args}: Step): boolean =>
  tool === 'scalr-agent' && CHANGES.has(args[0] ?? '') && !args.includes('--dry-run');

/** The steps so far, and the invariants that the last one broke. */
export interface Played {
  steps: readonly string[];
  broken: readonly string[];
}

/** Prints what every command printed. */
const VERBOSE = Boolean(process.env['OPERATOR_VERBOSE']);

/** Plays the given steps, or as many of the dice, until one of them breaks an invariant. */
export async function play(
  world: World,
  steps: readonly string[] | {seed: number; count: number},
): Promise<Played> {
  const played: string[] = [];
  const count = 'seed' in steps ? steps.count : steps.length;
  let before = await world.read();
  for (let index = 0; index < count; index += 1) {
    const text =
      'seed' in steps ? world.next(before, diceOf(steps.seed, index)) : (steps[index] as string);
    played.push(text);
    const step = stepOf(text);
    const happening =
      step.tool === 'scalr-agent' ? await happeningOf(text, step, before, world) : undefined;
    if (happening === undefined) await world.run(step, 'run');
    const found = happening === undefined ? [] : broken(happening);
    if (VERBOSE)
      process.stderr.write(
        `${text}\n${JSON.stringify({...happening, before: [], after: [], last: []}, null, 1)}\n`,
      );
    if (found.length > 0) return {steps: played, broken: found};
    before = happening?.last ?? (await world.read());
  }
  return {steps: played, broken: []};
}

async function happeningOf(
  text: string,
  step: Step,
  before: State,
  world: World,
): Promise<Happening> {
  const otherBefore = (await world.readOther?.()) ?? new Map();
  const planned = isChange(step) ? await world.run(step, 'plan') : undefined;
  const done = await world.run(step, 'run');
  const after = await world.read();
  const isDone = done.exit === 0;
  const resumed = planned?.exit === 0 && !isDone ? await world.run(step, 'resume') : undefined;
  const last = resumed === undefined ? after : await world.read();
  const again =
    planned !== undefined && (isDone || resumed?.exit === 0)
      ? await world.run({...step, role: 'administrator'}, 'plan')
      : undefined;
  const other = (await world.readOther?.()) ?? new Map();
  const created = [...after.values(), ...last.values()].filter(
    ({name}) => name.startsWith('release ') && !before.has(name),
  );
  const reports = [done, ...(resumed === undefined ? [] : [resumed])];
  return {
    command: text,
    role: step.role,
    isDisturbed: step.disturbance !== undefined && step.disturbance.what !== 'use-context prod',
    otherBefore,
    other,
    own: new Set([
      flagOf(step, '--release') ?? 'scalr-agent',
      ...created.flatMap(({owner}) => owner ?? []),
    ]),
    before,
    done,
    after,
    last,
    ...(planned === undefined ? {} : {planned}),
    ...(resumed === undefined ? {} : {resumed}),
    ...(again === undefined ? {} : {again}),
    offers: (await Promise.all(reports.map((report) => world.offersIn(report, last)))).flat(),
    refused: (await Promise.all(reports.map(world.refusedIn))).flat(),
  };
}

/** Leaves out steps as long as the last one breaks the same invariants. */
export async function shorten(
  {steps, broken: first}: Played,
  fresh: () => Promise<World>,
): Promise<Played> {
  const title = (each: Played): string =>
    each.broken.map((sentence) => sentence.split('\n')[0]).join();
  let shortest: Played = {steps, broken: first};
  for (let index = steps.length - 2; index >= 0; index -= 1) {
    const fewer = shortest.steps.filter((_, each) => each !== index);
    const world = await fresh();
    const found = await play(world, fewer);
    await world.end();
    if (title(found) === title(shortest) && found.steps.length === fewer.length) shortest = found;
  }
  return shortest;
}
