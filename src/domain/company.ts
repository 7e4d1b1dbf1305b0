/** Who operates this gateway, as statements name it. */
export interface Company {
  readonly name: string;
  /** One line or several. */
  readonly address: string | undefined;
  /** Such as a VAT number. */
  readonly taxId: string | undefined;
}

/** Who an account is to its finance department, as statements name it. */
export interface BillingDetails {
  /** Default: the name of the account. */
  readonly name?: string | undefined;
  /** One line or several. */
  readonly address?: string | undefined;
  /** Such as a VAT number. */
  readonly taxId?: string | undefined;
}
