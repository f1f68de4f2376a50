import {isRejectedIdentity} from './clusters.ts';
import {
  documentOf,
  foreignUser,
  type Happening,
  isForeign,
  type Report,
  type State,
  type Thing,
  usersOf,
} from './things.ts';

/** Sentences that say what is wrong; empty if the invariant holds. */
type Invariant = (happening: Happening) => string[];

const isThere = (thing: Thing, state: State): boolean => {
  const now = state.get(thing.name);
  return now !== undefined && now.uid === thing.uid && !now.isLeaving;
};

/** What another release, another person or a running pod owns or uses is not changed and not deleted. */
const untouched: Invariant = ({own, before, after, last}) =>
  [...before.values()]
    .filter((thing) => !thing.isLeaving)
    .flatMap((thing) => {
      const user = foreignUser(thing.name, before, own);
      if (!isForeign(thing, own) && user === undefined) return [];
      const whose = isForeign(thing, own)
        ? `of ${thing.owner ?? 'a person'}`
        : `which ${user?.name} uses,`;
      const compared = isForeign(thing, own) ? 'content' : 'data';
      return [after, last].flatMap((state) => {
        if (!isThere(thing, state)) return [`${thing.name} ${whose} was deleted or replaced`];
        return state.get(thing.name)?.[compared] === thing[compared]
          ? []
          : [`${thing.name} ${whose} was changed`];
      });
    });

/** A command changes the cluster that its plan names, whatever is selected elsewhere or meanwhile. */
const oneCluster: Invariant = ({otherBefore, other}) =>
  changes(otherBefore, other).map(({name}) => `${name} of another cluster was changed`);

const GRANT = /name: ?"?system:(?:anonymous|unauthenticated)/;

/** Nobody is asked to grant a role to everybody who reaches the API server. */
const neverGrantsToAll: Invariant = ({role, planned, done, resumed}) => {
  const reports = [planned, done, resumed].filter((report) => report !== undefined);
  const offers = reports.filter(({stdout, stderr}) => GRANT.test(`${stdout}${stderr}`));
  const succeeded = isRejectedIdentity(role) && done.exit === 0;
  return [
    ...offers.map(() => 'a role for system:anonymous is printed'),
    ...(succeeded ? [`the command succeeded although the API server rejects ${role}`] : []),
  ];
};

/** No PVC, volume or directory is deleted while a pod or another release uses it. */
const notDeletedInUse: Invariant = ({own, before, done, after, last}) =>
  [after, last].flatMap((state) =>
    [...before.values()]
      .filter(({name, isLeaving}) => DATA.test(name) && !isLeaving)
      .flatMap((thing) => {
        if (isThere(thing, state)) return [];
        // Helm deletes a PVC before custom resources of the same release, and can be killed between them.
        const isGoing = (user: Thing): boolean =>
          done.exit === 'killed' && !isForeign(user, own) && !last.has(user.name);
        const user = usersOf(thing.name, state).find((each) => !isGoing(each));
        return user === undefined ? [] : [`${thing.name} is deleted, but ${user.name} uses it`];
      }),
  );

const DATA = /^(?:PVC|PersistentVolume|directory) /;

/** No printed command deletes what a pod or another release uses. */
const notOffered: Invariant = ({offers, last}) =>
  offers.flatMap(({command, release, deletes}) =>
    deletes.flatMap((name) => {
      const user = foreignUser(name, last, new Set(release === undefined ? [] : [release]));
      return user === undefined
        ? []
        : [`"${command}" is offered and deletes ${name}, but ${user.name} uses it`];
    }),
  );

/** After a failed command, every agent that was ready still runs with the same pod template, or the next run brings it back. */
const leavesAgents: Invariant = ({own, before, done, after, resumed}) => {
  if (done.exit === 0 || done.exit === 'killed') return [];
  const isReplaced = [...after.values()].some(
    ({name, owner, agent}) =>
      owner !== undefined && own.has(owner) && agent?.ready && !before.has(name),
  );
  const {removed = []} = documentOf(done) ?? {};
  const lost = (state: State): Thing[] =>
    [...before.values()].filter(({name, owner, agent}) => {
      // An uninstall can fail after it has removed the agent.
      if (
        agent === undefined ||
        agent.ready === 0 ||
        removed.some((each) => each.startsWith(`Release ${owner}:`))
      )
        return false;
      const now = state.get(name)?.agent;
      return now === undefined || now.desired === 0 || now.template !== agent.template;
    });
  const isHelped = resumed?.exit === 0 && HOW_TO_CONTINUE.test(done.stdout);
  return (isHelped || isReplaced ? [] : lost(after)).map(
    ({name}) => `${name} was ready, and is stopped, replaced or gone after a failure`,
  );
};

const HOW_TO_CONTINUE = /same command again|Scale it up again|--take-over/;

type Effect = [title: RegExp, isBefore: boolean, isAfter: boolean];
const EFFECTS: readonly Effect[] = [
  [/^Create (Secret \S+)$/, false, true],
  [/^Update (Secret \S+)$/, true, true],
  [/^Delete ((?:Secret|PVC|PersistentVolume|CRD) [^ ,]+)/, true, false],
  [/^Install \S+ as (release \S+)$/, false, true],
  [/^(?:Upgrade|Update|Downgrade|Change the chart of) (release \S+)/, true, true],
  [/^Uninstall (release \S+)/, true, false],
  [/^Start (container \S+) \(/, false, true],
  [/^Remove (container \S+)$/, true, false],
];

const titlesOf = (report: Report | undefined): string[] =>
  report === undefined ? [] : (documentOf(report)?.steps ?? []).map(({title}) => title);

/** Only Docker itself knows what it refuses. */
const isForeseeable = ({code, message}: {code: string; message: string}): boolean =>
  !['NOT_READY', 'TIMED_OUT'].includes(code) && !/^docker \w+ failed/.test(message);

/** The dry run lists the steps of the run, they do what their titles say, and nothing else changes. */
const plansTruly: Invariant = (happening) => {
  const {planned, done, before, after, own, isDisturbed} = happening;
  if (planned === undefined)
    return changes(before, after).map(({name}) => `${name} changed, but the command only reads`);
  const titles = titlesOf(planned);
  const error = documentOf(planned)?.error;
  if (error !== undefined) {
    if (done.exit === 0) return [`the dry run failed (${error.code}), but the command succeeded`];
    return changes(before, after).map(
      ({name}) => `${name} changed, but the dry run failed: ${error.code}`,
    );
  }
  const failure = documentOf(done)?.error;
  const carriedOut = done.exit === 0 ? titlesOf(done) : titles;
  return [
    ...(failure !== undefined && isForeseeable(failure) && !isDisturbed
      ? [
          `the dry run succeeded, but the command failed: ${failure.code} ${failure.message.split('\n')[0]}`,
        ]
      : []),
    ...(String(carriedOut) === String(titles)
      ? []
      : [`the dry run lists ${titles.join('; ')}, but the command ${carriedOut.join('; ')}`]),
    ...titles.flatMap((title, index) =>
      untrue(title, titles.slice(0, index), titles.slice(index + 1), happening),
    ),
    ...changes(before, after)
      .filter((thing) => !isNamed(thing, titles, own) && !isOwnData(thing, own))
      .filter(({name}) => !isVolumeOfNamedClaim(name, titles, before))
      .map(({name}) => `${name} changed, but no step names it: ${titles.join('; ') || 'no steps'}`),
  ];
};

/** A step that creates needs nothing before, one that deletes leaves nothing; other steps may act on the same thing. */
function untrue(
  title: string,
  former: readonly string[],
  later: readonly string[],
  {before, after, done}: Happening,
): string[] {
  const [pattern, isBefore, isAfter] = EFFECTS.find(([each]) => each.test(title)) ?? [];
  const [, name] = pattern?.exec(title) ?? [];
  if (name === undefined) return [];
  const thing = after.get(name);
  // Rename container scalr-agent to scalr-agent.previous
  const isFirst = !former.some(
    (each) => each.includes(name) || each.endsWith(` to ${name.split(' ').at(-1)}`),
  );
  const isLast = !later.some((each) => each.includes(name));
  return [
    ...(isFirst && before.has(name) !== isBefore
      ? [`"${title}", but it ${isBefore ? 'did not exist' : 'existed'}`]
      : []),
    ...(isLast && done.exit === 0 && (thing !== undefined && !thing.isLeaving) !== isAfter
      ? [`"${title}", but afterwards it ${isAfter ? 'does not exist' : 'exists'}`]
      : []),
  ];
}

const isNamed = (
  {name, owner}: Thing,
  titles: readonly string[],
  own: ReadonlySet<string>,
): boolean =>
  titles.some((title) => {
    const isOfRelease =
      owner !== undefined &&
      own.has(owner) &&
      new RegExp(`release ${owner}(?![\\w-])|(?:in|of) ${owner}$`).test(title);
    return isOfRelease || title.includes(name);
  });

/** Kubernetes deletes the volume of a PVC, if its StorageClass says so. */
const isVolumeOfNamedClaim = (name: string, titles: readonly string[], before: State): boolean =>
  [...before.values()].some(
    (claim) => claim.uses.includes(name) && titles.some((title) => title.includes(claim.name)),
  );

/** Files and directories of an install in Docker are its own; it lists them as saved or remaining. */
const isOwnData = ({name, owner}: Thing, own: ReadonlySet<string>): boolean =>
  /^(?:file|directory) /.test(name) && owner !== undefined && own.has(owner);

/** Things that were created, changed, deleted or replaced. */
const changes = (before: State, after: State): Thing[] => [
  ...[...before.values()].filter(
    (thing) =>
      !thing.isLeaving &&
      (!isThere(thing, after) || after.get(thing.name)?.content !== thing.content),
  ),
  ...[...after.values()].filter(({name, isLeaving}) => !isLeaving && !before.has(name)),
];

/** What an uninstall lists as removed is gone, and what it lists as remaining exists. */
const accountsTruly: Invariant = ({planned, done, after}) => {
  const {removed = [], kept = []} = documentOf(done) ?? {};
  if (planned === undefined || done.exit === 'killed') return [];
  const named = (text: string): Thing | undefined => {
    const [, name = ''] =
      /((?:Secret|PVC|PersistentVolume|CRD|container|directory) [^ ,:]+)/.exec(text) ?? [];
    return after.get(name);
  };
  return [
    ...removed.flatMap((text) =>
      named(text) && !named(text)?.isLeaving ? [`listed as removed, but it exists: ${text}`] : [],
    ),
    ...kept
      .filter(({what}) => /^(?:Secret|PVC|PersistentVolume|CRD) /.test(what))
      .flatMap(({what}) =>
        named(what) && !named(what)?.isLeaving
          ? []
          : [`listed as remaining, but it does not exist: ${what}`],
      ),
  ];
};

const oneDocument: Invariant = ({planned, done, resumed, again}) =>
  [planned, done, resumed, again].flatMap((report) => {
    if (report === undefined || report.exit === 'killed' || documentOf(report) !== undefined)
      return [];
    return [
      `standard output is not one JSON document (exit ${report.exit}): ${report.stdout.slice(0, 200)}`,
    ];
  });

/** Nothing is left to do for the same command, after a failure at the latest when an administrator has run it again. */
const converges: Invariant = ({planned, done, resumed, again}) => {
  if (planned?.exit !== 0) return [];
  const end = resumed ?? done;
  const failure = documentOf(end)?.error ?? {code: `exit ${end.exit}`, message: ''};
  if (end.exit !== 0)
    return isGone(failure) || !isForeseeable(failure)
      ? []
      : [
          `the command fails again for an administrator: ${failure.code} ${failure.message.split('\n')[0]}`,
        ];
  if (again === undefined) return [];
  const {error, changed} = documentOf(again) ?? {};
  if (error !== undefined)
    return isGone(error) ? [] : [`a rerun fails: ${error.code} ${error.message.split('\n')[0]}`];
  return changed === false ? [] : [`a rerun would change: ${titlesOf(again).join('; ')}`];
};

/** After an uninstall or a change of the chart. */
const isGone = ({code}: {code: string}): boolean =>
  code === 'RELEASE_NOT_FOUND' || code === 'AGENT_NOT_FOUND';

export const INVARIANTS: Readonly<Record<string, Invariant>> = {
  'What belongs to others is untouched.': untouched,
  'Another cluster is untouched.': oneCluster,
  'No role is offered to everybody.': neverGrantsToAll,
  'Nothing that is in use is deleted.': notDeletedInUse,
  'Nothing that is in use is offered for deletion.': notOffered,
  'A failed change leaves the agent that ran before.': leavesAgents,
  'A plan says what then happens.': plansTruly,
  'An uninstall accounts for what it removes and keeps.': accountsTruly,
  '--json prints one document.': oneDocument,
  'Every printed command parses and runs.': ({refused}) => [...refused],
  'A rerun converges.': converges,
};

/** Broken invariants of one command, each with the sentences that say how. */
export const broken = (happening: Happening): string[] =>
  Object.entries(INVARIANTS).flatMap(([title, invariant]) => {
    const found = [...new Set(invariant(happening))];
    return found.length === 0 ? [] : [`${title}\n${found.map((each) => `    ${each}`).join('\n')}`];
  });
