import type { Value } from "../result/result.js";

/**
 * A column of an Arquero table that is decoded when the first of its values is read: a million
 * texts take longer to decode than to send, and a chart reads few of an answer's columns.
 */
export class LazyColumn {
  readonly length: number;
  readonly #decode: () => ArrayLike<Value>;
  #values: ArrayLike<Value> | undefined;

  constructor(length: number, decode: () => ArrayLike<Value>) {
    this.length = length;
    this.#decode = decode;
  }

  /** The value of a row. */
  at(row: number): Value {
    return (this.#values ??= this.#decode())[row];
  }

  *[Symbol.iterator](): Iterator<Value> {
    for (let row = 0; row < this.length; row++) yield this.at(row);
  }
}
