/** One object of a cluster or a machine, as far as the invariants compare it. */
export interface Thing {
  /** As plans and errors name it, for example "Secret scalr-agent-token". */
  name: string;
  uid: string;
  /** Everything that only its owner changes; not what controllers change. */
  content: string;
  /** Of a Secret or a file: what its users read. */
  data?: string;
  /** Release; undefined for an object that a person created. */
  owner: string | undefined;
  /** Names of the things that it mounts or reads. */
  uses: readonly string[];
  /** Somebody deletes it, and something prevents that it is gone. */
  isLeaving: boolean;
  /** Only of workloads: what runs, and how often. */
  agent?: {template: string; desired: number; ready: number};
}

export type State = ReadonlyMap<string, Thing>;

export const stateOf = (things: readonly Thing[]): State =>
  new Map(things.map((each) => [each.name, each]));

/** What a command printed, and how it ended. */
export interface Report {
  exit: number | 'killed';
  stdout: string;
  stderr: string;
}

/** A printed command that deletes these things. */
export interface Offer {
  command: string;
  release: string | undefined;
  deletes: readonly string[];
}

/** One command of this program, with the states around it. */
export interface Happening {
  command: string;
  role: string;
  /** Requests of the run were cut, delayed, or answered by something else than the API server. */
  isDisturbed: boolean;
  /** Another cluster with the same names. */
  otherBefore: State;
  other: State;
  /** Releases of the command, including one that it creates. */
  own: ReadonlySet<string>;
  before: State;
  /** Its dry run; undefined for commands that only read. */
  planned?: Report;
  done: Report;
  after: State;
  /** After a command that failed or was killed: the same command, by an administrator. */
  resumed?: Report;
  /** Dry run of the same command after it succeeded. */
  again?: Report;
  /** The state at the end. */
  last: State;
  offers: readonly Offer[];
  /** Printed commands that do not parse or run, with the reason. */
  refused: readonly string[];
}

/** Parsed output of a command with --json. */
export interface Document {
  changed?: boolean;
  steps?: readonly {id: string; title: string}[];
  removed?: readonly string[];
  kept?: readonly {what: string; why: string; how: string}[];
  notRemoved?: readonly {what: string; why: string; how: string}[];
  saved?: readonly string[];
  release?: string;
  to?: {release: string};
  error?: {code: string; message: string; suggestions: readonly string[]};
}

/** Undefined if standard output is not one JSON document. */
export function documentOf({stdout}: Report): Document | undefined {
  try {
    return JSON.parse(stdout);
  } catch {
    return undefined;
  }
}

/** What uses the thing, directly or through others. */
export function usersOf(name: string, state: State): Thing[] {
  const direct = [...state.values()].filter(
    ({uses, isLeaving}) => !isLeaving && uses.includes(name),
  );
  return direct.flatMap((each) => [each, ...usersOf(each.name, state)]);
}

/** Owned by another release or a person. */
export const isForeign = ({owner}: Thing, own: ReadonlySet<string>): boolean =>
  owner === undefined || !own.has(owner);

/** A user of the thing that another release or a person owns. */
export const foreignUser = (
  name: string,
  state: State,
  own: ReadonlySet<string>,
): Thing | undefined => usersOf(name, state).find((each) => isForeign(each, own));
