/**
 * Values by names that tenants choose, within one bound for all of them. A full memory forgets the oldest value of the
 * tenant that has the most, so that no tenant pushes the values of a smaller one out.
 */
export class TenantMemory<Value> {
  readonly #valuesMax: number;
  readonly #tenants = new Map<string, Map<string, Value>>();
  /** Tenants by the number of their values: the one with the most is found without a search. */
  readonly #bySize = new Map<number, Set<string>>();
  #most = 0;
  #size = 0;

  constructor(valuesMax: number) {
    this.#valuesMax = valuesMax;
  }

  get size(): number {
    return this.#size;
  }

  get(tenant: string, name: string): Value | undefined {
    return this.#tenants.get(tenant)?.get(name);
  }

  has(tenant: string, name: string): boolean {
    return this.#tenants.get(tenant)?.has(name) ?? false;
  }

  /** Keeps a value as the newest of its tenant. */
  set(tenant: string, name: string, value: Value): void {
    this.delete(tenant, name);
    if (this.#size >= this.#valuesMax) this.#forgetOne(tenant);
    const values = this.#tenants.get(tenant) ?? new Map<string, Value>();
    this.#tenants.set(tenant, values);
    values.set(name, value);
    this.#size += 1;
    this.#resize(tenant, values.size - 1, values.size);
  }

  delete(tenant: string, name: string): void {
    const values = this.#tenants.get(tenant);
    if (!values?.delete(name)) return;
    this.#size -= 1;
    if (values.size === 0) this.#tenants.delete(tenant);
    this.#resize(tenant, values.size + 1, values.size);
  }

  /** Forgets every value that is of no use any more. */
  sweep(isStale: (value: Value) => boolean): void {
    for (const [tenant, values] of this.#tenants) {
      for (const [name, value] of values) if (isStale(value)) this.delete(tenant, name);
    }
  }

  clear(): void {
    this.#tenants.clear();
    this.#bySize.clear();
    this.#most = 0;
    this.#size = 0;
  }

  /** A tenant with more than its equal part makes room itself. */
  #forgetOne(tenant: string): void {
    const own = this.#tenants.get(tenant)?.size ?? 0;
    const isLarge = own * this.#tenants.size > this.#valuesMax;
    const [largest = tenant] = this.#bySize.get(this.#most) ?? [];
    const from = isLarge ? tenant : largest;
    const [oldest] = this.#tenants.get(from)?.keys() ?? [];
    if (oldest !== undefined) this.delete(from, oldest);
  }

  #resize(tenant: string, before: number, after: number): void {
    const left = this.#bySize.get(before);
    left?.delete(tenant);
    if (left?.size === 0) this.#bySize.delete(before);
    if (after > 0) {
      const joined = this.#bySize.get(after);
      if (joined) joined.add(tenant);
      else this.#bySize.set(after, new Set([tenant]));
    }
    this.#most = Math.max(this.#most, after);
    // A size changes by 1, so that the next smaller one is not far.
    while (this.#most > 0 && !this.#bySize.has(this.#most)) this.#most -= 1;
  }
}
