/** Sends one event of a stream. For a whole answer it does nothing. */
export type EmitEvent = (type: `response.${string}`, members: object) => void;

/** The position of an item in the output, as the members that name it in events. */
export interface Place {
  readonly output_index: number;
  readonly item_id: string;
}

/** Writes the items of one answer. */
export interface ItemWriter {
  readonly emit: EmitEvent;
  /** Gives an item the next place and emits `output_item.added`. The prefix is that of the item's id. */
  begin(prefix: string, itemAt: (place: Place) => object): Place;
  /** Emits `output_item.done` and keeps the item for the whole output. */
  done(place: Place, item: object): void;
}

/** An item that has begun. */
export interface OpenItem {
  /** Whether the item is complete as soon as another item begins. */
  isWhole(): boolean;
  /** Emits the rest of the item. Must be called once. `isCutOff` when the answer ended early. */
  close(isCutOff: boolean): void;
}

/** Creates the writer of one answer, and the list of items that it completes, in output order. */
export function createItemWriter(answerId: string, emit: EmitEvent) {
  const items: object[] = [];
  let places = 0;
  const writer: ItemWriter = {
    emit,
    begin(prefix, itemAt) {
      const output_index = places++;
      const place = { output_index, item_id: `${prefix}_${answerId}_${output_index}` };
      emit("response.output_item.added", { output_index, item: itemAt(place) });
      return place;
    },
    done(place, item) {
      items[place.output_index] = item;
      emit("response.output_item.done", { output_index: place.output_index, item });
    },
  };
  return { writer, items };
}
