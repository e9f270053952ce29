/**
 * The part of Node's types that most cells use, so that most notebooks do without the 2 MB of the whole:
 * a subset of `@types/node`, which replaces it as soon as TypeScript objects to a cell or completes a name.
 */
export const nodeTypes = `
declare namespace NodeJS {
  interface Timeout extends Disposable { ref(): this; unref(): this; hasRef(): boolean; refresh(): this; [Symbol.toPrimitive](): number; }
  interface Immediate extends Disposable { ref(): this; unref(): this; hasRef(): boolean; }
  interface Dict<T> { [key: string]: T | undefined; }
  interface ProcessEnv extends Dict<string> { TZ?: string | undefined; }
  interface MemoryUsage { rss: number; heapTotal: number; heapUsed: number; external: number; arrayBuffers: number; }
  interface ArrayBufferView<T extends ArrayBufferLike = ArrayBufferLike> { readonly buffer: T; readonly byteLength: number; readonly byteOffset: number; }
  interface Process {
    env: ProcessEnv; argv: string[]; execPath: string; pid: number; version: string; exitCode?: number | string | null | undefined;
    cwd(): string; exit(code?: number | string | null): never; uptime(): number; memoryUsage(): MemoryUsage;
  }
}
declare var process: NodeJS.Process;
interface Console {
  assert(condition?: any, ...data: any[]): void; clear(): void; count(label?: string): void; debug(...data: any[]): void;
  dir(item?: any, options?: any): void; error(...data: any[]): void; group(...data: any[]): void; groupEnd(): void;
  info(...data: any[]): void; log(...data: any[]): void; table(tabularData?: any, properties?: string[]): void;
  time(label?: string): void; timeEnd(label?: string): void; timeLog(label?: string, ...data: any[]): void;
  trace(...data: any[]): void; warn(...data: any[]): void;
}
declare var console: Console;
declare function setTimeout<TArgs extends any[]>(callback: (...args: TArgs) => void, delay?: number, ...args: TArgs): NodeJS.Timeout;
declare function setInterval<TArgs extends any[]>(callback: (...args: TArgs) => void, delay?: number, ...args: TArgs): NodeJS.Timeout;
declare function setImmediate<TArgs extends any[]>(callback: (...args: TArgs) => void, ...args: TArgs): NodeJS.Immediate;
declare function clearTimeout(timeout: NodeJS.Timeout | string | number | undefined): void;
declare function clearInterval(timeout: NodeJS.Timeout | string | number | undefined): void;
declare function clearImmediate(immediate: NodeJS.Immediate | undefined): void;
declare function queueMicrotask(callback: () => void): void;
declare function structuredClone<T = any>(value: T, options?: { transfer?: any[] }): T;
interface Performance { now(): number; readonly timeOrigin: number; }
declare var performance: Performance;
interface Event { readonly type: string; readonly defaultPrevented: boolean; }
interface EventTarget {
  addEventListener(type: string, listener: (event: Event) => void, options?: { once?: boolean; signal?: AbortSignal } | boolean): void;
  removeEventListener(type: string, listener: (event: Event) => void): void;
}
interface AbortSignal extends EventTarget {
  readonly aborted: boolean; readonly reason: any; onabort: ((this: AbortSignal, event: Event) => any) | null; throwIfAborted(): void;
}
declare var AbortSignal: { prototype: AbortSignal; new(): AbortSignal; abort(reason?: any): AbortSignal; any(signals: AbortSignal[]): AbortSignal; timeout(milliseconds: number): AbortSignal; };
interface AbortController { readonly signal: AbortSignal; abort(reason?: any): void; }
declare var AbortController: { prototype: AbortController; new(): AbortController; };
interface Buffer<T extends ArrayBufferLike = ArrayBufferLike> extends Uint8Array<T> { toString(encoding?: string, start?: number, end?: number): string; }
declare module "node:util" {
  export function inspect(value: any, options?: object): string;
  export namespace inspect { const custom: unique symbol; }
}
`;
