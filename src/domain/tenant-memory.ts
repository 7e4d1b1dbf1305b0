/**
 * Values by names that tenants choose, within one bound for all of them. A full memory forgets the oldest value of the
 * tenant that has the most, so that no tenant pushes the values of a smaller one out.
 */
export class TenantMemory<Value> {
  readonly #valuesMax: number;
  readonly #tenants = new Map<string, Map<string, Value>>();
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
  }

  delete(tenant: string, name: string): void {
    const values = this.#tenants.get(tenant);
    if (!values?.delete(name)) return;
    this.#size -= 1;
    if (values.size === 0) this.#tenants.delete(tenant);
  }

  /** Forgets every value that is of no use any more. */
  sweep(isStale: (value: Value) => boolean): void {
    for (const [tenant, values] of this.#tenants) {
      for (const [name, value] of values) if (isStale(value)) this.delete(tenant, name);
    }
  }

  clear(): void {
    this.#tenants.clear();
    this.#size = 0;
  }

  /** A tenant with more than its equal part makes room itself, without a search. */
  #forgetOne(tenant: string): void {
    const own = this.#tenants.get(tenant)?.size ?? 0;
    const isLarge = own * this.#tenants.size > this.#valuesMax;
    const from = isLarge || this.#tenants.size === 1 ? tenant : this.#largest();
    const [oldest] = this.#tenants.get(from)?.keys() ?? [];
    if (oldest !== undefined) this.delete(from, oldest);
  }

  #largest(): string {
    let [largest, most] = ["", 0];
    for (const [tenant, { size }] of this.#tenants) if (size > most) [largest, most] = [tenant, size];
    return largest;
  }
}
