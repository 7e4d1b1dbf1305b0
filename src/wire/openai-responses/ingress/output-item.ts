/** Says one event of a stream; of a whole answer nobody hears them. */
export type Say = (type: `response.${string}`, members: object) => void;

/** Where an item stands in the output. */
export interface Place {
  readonly output_index: number;
  readonly item_id: string;
}

/** What an item is written with. */
export interface Pen {
  readonly say: Say;
  /** Gives an item its place, the next, and says that it is there. The prefix is that of its id. */
  begin(prefix: string, itemAt: (place: Place) => object): Place;
  /** Says that it is done and keeps it. */
  done(place: Place, item: object): void;
}

/** An item that is being written. */
export interface OpenItem {
  /** Whether nothing more can belong to it once another begins. */
  isWhole(): boolean;
  /** Says the rest of it, once. `isCut` when the answer ended before its time. */
  close(isCut: boolean): void;
}
