import type {KubernetesObject} from '../cluster/objects.ts';
import type {ApiReader} from '../kubernetes/client.ts';
import {listAll} from '../kubernetes/queries.ts';
import type {ApiError} from '../ports/log-stream.ts';
import type {NamespaceKind} from './namespace-kinds.ts';
import type {Gap} from './read-namespace.ts';

/** Pods of a run live a minute longer than the run: in less nothing comes and goes unseen. */
const UNSEEN_MS = 45_000;

interface World {
  api: ApiReader;
  over: AbortSignal;
  now(): Date;
}

/** The objects of one kind in a namespace, listed again and again. */
export class WatchedKind {
  readonly #kind: NamespaceKind;
  readonly #path: string;
  readonly #world: World;
  #objects: readonly KubernetesObject[] = [];
  #seenAt: Date;
  #longestMs = 0;
  #trouble: ApiError | undefined;

  constructor(kind: NamespaceKind, namespace: string, world: World) {
    this.#kind = kind;
    this.#path = kind.path(namespace);
    this.#world = world;
    this.#seenAt = world.now();
  }

  /** As they are now; while they cannot be listed, as they were. */
  async look(): Promise<readonly KubernetesObject[]> {
    const {api, over, now} = this.#world;
    const {items, trouble} = await listAll(api, this.#path, {over});
    const at = now();
    const listed = (items as KubernetesObject[]).map((item) => ({...item, kind: this.#kind.kind}));
    if (trouble === undefined) this.#objects = listed;
    else {
      this.#objects = [
        ...new Map([...this.#objects, ...listed].map((object) => [object.metadata.uid ?? object.metadata.name, object])).values(),
      ];
      if (trouble.kind !== 'over') this.#trouble = trouble;
    }
    if (this.#trouble !== undefined) this.#longestMs = Math.max(this.#longestMs, at.getTime() - this.#seenAt.getTime());
    if (trouble === undefined) this.#seenAt = at;
    return this.#objects;
  }

  /** What may have come and gone unseen. */
  gap(): Gap[] {
    if (this.#trouble === undefined) return [];
    const {kind} = this.#kind;
    const message = `for ${Math.ceil(this.#longestMs / 1000)} s nobody saw what came and went: ${this.#trouble.message}`;
    return [{what: `${kind} objects of --watch`, trouble: {...this.#trouble, message}, isMinor: this.#longestMs < UNSEEN_MS}];
  }
}
