/** Who pays. The wallet of an account has the same id. */
export interface Account {
  readonly id: string;
  /** Unique among accounts. */
  readonly name: string;
  readonly email: string | undefined;
  readonly state: "active" | "suspended";
  readonly createdAtMs: number;
}
