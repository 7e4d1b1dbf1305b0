/** Who operates this gateway, as statements name it. */
export interface Company {
  readonly name: string;
  /** One line or several. */
  readonly address: string | undefined;
  /** Such as a VAT number. */
  readonly taxId: string | undefined;
}
