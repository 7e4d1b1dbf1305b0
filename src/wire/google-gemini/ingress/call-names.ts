/** Gives calls and results the ids that other formats require: older clients of Google's send names alone. */
export interface CallNames {
  /** Begins another message of the model. Results are for its calls, not for those of earlier messages. */
  beginTurn(): void;
  /** Returns the id of a call, a new one where the client sent none or one that is taken. */
  add(id: string, name: string): string;
  /** Returns the id of the call that a result is for: by its id, else the first one of the name without a result. */
  answer(id: string, name: string): string;
}

interface NamedCall {
  readonly id: string;
  isAnswered: boolean;
}

/** The calls of one name in a message, and how many at the beginning have a result. */
interface Queue {
  readonly calls: NamedCall[];
  answered: number;
}

export function createCallNames(): CallNames {
  const ids = new Set<string>();
  const byId = new Map<string, NamedCall>();
  const byName = new Map<string, Queue>();
  let generated = 0;

  const newId = (): string => {
    let id: string;
    do id = `call_${++generated}`;
    while (ids.has(id));
    return id;
  };

  const findByName = (name: string): NamedCall | undefined => {
    const queue = byName.get(name);
    while (queue?.calls[queue.answered]?.isAnswered) queue.answered += 1;
    return queue?.calls[queue.answered];
  };

  return {
    beginTurn() {
      byId.clear();
      byName.clear();
    },
    add(given, name) {
      const call = { id: given !== "" && !ids.has(given) ? given : newId(), isAnswered: false };
      ids.add(call.id);
      byId.set(given === "" ? call.id : given, call);
      const queue = byName.get(name);
      if (queue) queue.calls.push(call);
      else byName.set(name, { calls: [call], answered: 0 });
      return call.id;
    },
    answer(id, name) {
      const known = byId.get(id);
      const call = known && !known.isAnswered ? known : findByName(name);
      if (!call) return id || newId();
      call.isAnswered = true;
      return call.id;
    },
  };
}
