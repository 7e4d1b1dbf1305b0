/** Returns a function that makes a value on its first call and keeps it, or keeps what `make` threw. */
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
