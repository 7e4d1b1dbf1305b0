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
