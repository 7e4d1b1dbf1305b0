/** How many WebSockets of responses may be open, and what their conversations may take. */
export interface SocketBounds {
  /** Of this process; 0 turns WebSockets off. */
  readonly total: number;
  readonly perAccount: number;
  /** Of the tree of a key. */
  readonly perKey: number;
  /** Bytes of the conversations of all accounts. */
  readonly memoryBytes: number;
  readonly accountMemoryBytes: number;
}
