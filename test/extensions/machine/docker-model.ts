import {createHash} from 'node:crypto';
import {containerName, type DockerContainer} from '../../../src/extensions/machine/containers.ts';
import type {Step} from '../../../src/operations/step.ts';

/** Docker in memory, as strict as the real one about names and states. */
export class DockerModel {
  containers: DockerContainer[] = [];
  #created = 0;

  clone(): DockerModel {
    const copy = new DockerModel();
    copy.containers = structuredClone(this.containers);
    copy.#created = this.#created;
    return copy;
  }

  run(steps: readonly Step[]): void {
    for (const {call, tolerates} of steps) {
      try {
        if (call.tool === 'docker') this.#run(call.args);
      } catch (error) {
        if (!tolerates?.test((error as Error).message)) throw error;
      }
    }
  }

  /** Names and states, in alphabetical order. */
  get summary(): string[] {
    return this.containers
      .map((each) => `${containerName(each)} ${each.State?.Running ? 'runs' : 'stopped'}`)
      .toSorted();
  }

  #run([command, ...args]: readonly string[]): void {
    const last = args.at(-1) as string;
    switch (command) {
      case 'pull':
      case 'cp':
        return;
      case 'create':
        this.#create(args);
        return;
      case 'rename':
        this.#refuse(last);
        if (this.#find(args[0] as string).State?.Running)
          throw new Error(`Docker cannot rename every running container: ${args[0]}`);
        this.#find(args[0] as string).Name = `/${last}`;
        return;
      case 'rm':
        if (this.#find(last).State?.Running)
          throw new Error(`You cannot remove a running container ${last}`);
        this.containers = this.containers.filter((each) => containerName(each) !== last);
        return;
      case 'stop':
        this.#find(last).State = {Running: false};
        return;
      case 'start':
      case 'restart':
      case 'unpause':
        this.#find(last).State = {Running: true};
        return;
      default:
        throw new Error(`unknown command ${command}`);
    }
  }

  #create(args: readonly string[]): void {
    const all = (flag: string): string[] =>
      args.flatMap((each, index) => (args[index - 1] === flag ? [each] : []));
    const name = all('--name')[0] as string;
    this.#refuse(name);
    this.#created += 1;
    const id = createHash('sha256').update(String(this.#created)).digest('hex');
    this.containers.push({
      Id: id,
      Name: `/${name}`,
      State: {Running: false},
      Config: {
        Image: args.at(-2) as string,
        Hostname: id.slice(0, 12),
        Env: all('--env'),
        Labels: Object.fromEntries(
          all('--label').map((each) => each.split('=') as [string, string]),
        ),
        ...Object.fromEntries(all('--stop-timeout').map((each) => ['StopTimeout', Number(each)])),
      },
      Mounts: all('--volume').map((each) => ({Type: 'bind', Source: each.split(':')[0] as string})),
    });
  }

  #find(name: string): DockerContainer {
    const found = this.containers.find((each) => containerName(each) === name);
    if (found === undefined)
      throw new Error(`Error response from daemon: No such container: ${name}`);
    return found;
  }

  #refuse(name: string): void {
    if (this.containers.some((each) => containerName(each) === name))
      throw new Error(`Conflict. The container name "/${name}" is already in use`);
  }
}
