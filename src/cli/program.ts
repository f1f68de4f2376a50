import {join} from 'node:path';
import type {Command, Interfaces} from '@oclif/core';
import {ownJson} from '../adapters/own-json.ts';

/** The flags of every command, as numbers of a list. */
interface Flags {
  commands: Readonly<Record<string, readonly number[]>>;
  flags: readonly Command.Loadable['flags'][string][];
}

/** This program as a plugin of oclif, from what the build wrote down: oclif itself would search the disk for it. */
export function programAt(root: string): Interfaces.Plugin {
  const pjson = ownJson(join(root, 'package.json')) as Interfaces.PJSON;
  const manifest = ownJson(join(root, 'dist/commands.json')) as Interfaces.Manifest;
  let known: Flags | undefined;
  const flagsOf = (id: string): Command.Loadable['flags'] => {
    known ??= ownJson(join(root, 'dist/flags.json')) as Flags;
    const {commands, flags} = known;
    return Object.fromEntries(commands[id]?.flatMap((number) => flags[number] ?? []).map((flag) => [flag.name, flag]) ?? []);
  };
  const {name, version} = pjson;

  async function findCommand(id: string): Promise<Command.Class> {
    const {default: command} = (await import(`../commands/${id}.ts`)) as {default: Command.Class};
    return Object.assign(command, {id, plugin: program});
  }

  const program: Interfaces.Plugin = {
    _base: '',
    alias: name,
    commandIDs: Object.keys(manifest.commands),
    commands: Object.values(manifest.commands).map((command) => ({
      ...command,
      // Help alone reads them.
      get flags() {
        return flagsOf(command.id);
      },
      load: () => findCommand(command.id),
    })),
    commandsDir: undefined,
    findCommand,
    hasManifest: true,
    hooks: {},
    isRoot: true,
    load: async () => undefined,
    moduleType: 'module',
    name,
    options: {root},
    pjson,
    root,
    topics: [],
    type: 'core',
    valid: true,
    version,
  };
  return program;
}
