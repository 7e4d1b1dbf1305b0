/** A value that is made when first asked for, and then kept; so is what making it threw. */
export function lazily<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | { readonly thrown: unknown } | undefined;
  return () => {
    made ??= attempt(make);
    if ("thrown" in made) throw made.thrown;
    return made.value;
  };
}

function attempt<Value>(make: () => Value) {
  try {
    return { value: make() };
  } catch (thrown) {
    return { thrown };
  }
}

/** The same for a value of each key. */
export function lazilyByKey<Key, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const makers = new Map<Key, () => Value>();
  return (key) => {
    const maker = makers.get(key) ?? lazily(() => make(key));
    makers.set(key, maker);
    return maker();
  };
}
