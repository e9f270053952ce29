import { EventEmitter } from "node:events";

const { defineProperty, deleteProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } =
  Reflect;

/** Globals that the kernel and all libraries rely on. */
const NAMES =
  "Object Function Array String Number Boolean BigInt Symbol RegExp Error TypeError Promise Map Set WeakMap WeakSet WeakRef Proxy Reflect JSON ArrayBuffer Uint8Array Buffer AbortController AbortSignal EventTarget process".split(
    " ",
  );

interface Intrinsic {
  readonly holder: object;
  readonly key: PropertyKey;
  readonly name: string;
  readonly descriptor: PropertyDescriptor;
}

/**
 * Repairs what a cell replaced in JavaScript itself (`Array.prototype.map = …`): a kernel whose `Promise` is
 * gone would never answer again. `Date`, `Math`, `fetch`, `console`, timers and functions of `process` may be
 * replaced, as tests and packages do, and methods may be added, except to `Object.prototype`, whose properties
 * every object inherits.
 */
export class Intrinsics {
  readonly #intrinsics = intrinsics();
  readonly #objectKeys = ownKeys(Object.prototype).length;

  /** @returns the names of what was repaired, such as `Array.prototype.map`, and whether the last can't be */
  repair(): { readonly repaired: readonly string[]; readonly isLost: boolean } {
    const repaired: string[] = [];
    let isLost = false;
    // Without for-of and methods, which may be what is broken.
    for (let at = 0; at < this.#intrinsics.length; at++) {
      const { holder, key, name, descriptor } = this.#intrinsics[at]!;
      const now = getOwnPropertyDescriptor(holder, key);
      const isSame =
        now?.value === descriptor.value && now?.get === descriptor.get && now !== undefined;
      if (isSame) continue;
      repaired[repaired.length] = name;
      isLost = !defineProperty(holder, key, descriptor);
      if (isLost) return { repaired, isLost };
    }
    const keys = ownKeys(Object.prototype);
    for (let at = this.#objectKeys; at < keys.length; at++) {
      deleteProperty(Object.prototype, keys[at]!);
      repaired[repaired.length] = `Object.prototype.${String(keys[at])}`;
    }
    return { repaired, isLost };
  }
}

function intrinsics(): Intrinsic[] {
  const arrayIterator = getPrototypeOf([].values())!;
  const holders: Record<string, object> = {
    "Date.prototype": Date.prototype,
    "EventEmitter.prototype": EventEmitter.prototype,
    "TypedArray.prototype": getPrototypeOf(Uint8Array.prototype)!,
    "Iterator.prototype": getPrototypeOf(arrayIterator)!,
    "ArrayIterator.prototype": arrayIterator,
    "Generator.prototype": getPrototypeOf(getPrototypeOf((function* () {})())!)!,
    "AsyncGenerator.prototype": getPrototypeOf(getPrototypeOf((async function* () {})())!)!,
  };
  const found: Intrinsic[] = [];
  for (const name of NAMES) {
    const holder = Reflect.get(globalThis, name) as { prototype?: object };
    const descriptor = { value: holder, writable: true, configurable: true, enumerable: false };
    // Node has accessors for some, which hide that their value is another.
    defineProperty(globalThis, name, descriptor);
    found.push({ holder: globalThis, key: name, name, descriptor });
    if (name === "process") continue;
    holders[name] = holder;
    if (holder.prototype) holders[`${name}.prototype`] = holder.prototype;
  }
  for (const [name, holder] of Object.entries(holders)) {
    for (const key of ownKeys(holder)) {
      const descriptor = getOwnPropertyDescriptor(holder, key)!;
      if (typeof (descriptor.value ?? descriptor.get) !== "function") continue;
      found.push({ holder, key, name: `${name}.${String(key)}`, descriptor });
    }
  }
  return found;
}
