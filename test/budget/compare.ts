/** What a start of the program loads. */
export interface Start {
  kilobytes: number;
  /** Modules of Node.js beyond those that it has loaded itself. */
  builtins: readonly string[];
  /** Packages, and folders of this one. */
  modules: readonly string[];
}

export interface Budget {
  packedKilobytes: number;
  unpackedKilobytes: number;
  /** Everything that is bundled. */
  packages: readonly string[];
  starts: Readonly<Record<string, Start>>;
}

/** What issue and README promise; no accepting goes beyond it. */
const PROMISED = {packedKilobytes: 600, unpackedKilobytes: 2000};

/** What has grown beyond the budget, a sentence each. */
export function growths(budget: Budget, now: Budget): string[] {
  const starts = Object.entries(now.starts).flatMap(([name, start]) => {
    const allowed = budget.starts[name];
    if (allowed === undefined) return [`\`${name}\` is not in the budget.`];
    const added = [...beyond(allowed.builtins, start.builtins), ...beyond(allowed.modules, start.modules)];
    return [...added.map((each) => `\`${name}\` loads ${each}.`), ...larger(`What \`${name}\` loads`, allowed.kilobytes, start.kilobytes)];
  });
  return [
    ...larger('The tarball', budget.packedKilobytes, now.packedKilobytes),
    ...larger('The unpacked package', budget.unpackedKilobytes, now.unpackedKilobytes),
    ...beyond(budget.packages, now.packages).map((each) => `${each} is bundled.`),
    ...starts,
  ];
}

const beyond = (allowed: readonly string[], found: readonly string[]): string[] => found.filter((each) => !allowed.includes(each));

const larger = (what: string, allowed: number, found: number): string[] =>
  found > allowed ? [`${what} has ${Math.ceil(found)} kB, and ${allowed} kB are allowed.`] : [];

/** The budget that allows what is there, with a little room for the next line of code. @throws Error beyond what is promised */
export function budgetFor(now: Budget): Budget {
  const budget = {
    packedKilobytes: roundedUp(now.packedKilobytes, 10),
    unpackedKilobytes: roundedUp(now.unpackedKilobytes, 50),
    packages: now.packages,
    starts: Object.fromEntries(
      Object.entries(now.starts).map(([name, start]) => [name, {...start, kilobytes: roundedUp(start.kilobytes, 20)}]),
    ),
  };
  const broken = growths({...budget, ...PROMISED}, budget);
  if (broken.length > 0) throw new Error(`This is more than is promised. ${broken.join(' ')}`);
  return budget;
}

const roundedUp = (size: number, step: number): number => Math.ceil(size / step) * step;
