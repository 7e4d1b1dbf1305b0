import type { Company } from "../domain/company.ts";
import type { ConfigFile } from "./schema.ts";

/** Reads who operates this gateway; `undefined` where the file does not say. */
export function readCompany({ company }: Pick<ConfigFile, "company">): Company | undefined {
  return company && { name: company.name, address: company.address, taxId: company.tax_id };
}
