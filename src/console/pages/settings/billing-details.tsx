import { useQuery } from "@tanstack/react-query";
import { api, call } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { Failure, Field, Form, readForm, TextArea } from "../../parts/field.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import { Panel } from "../../parts/panel.tsx";
import styles from "../../parts/stack.module.css";
import { billingDetailsQuery } from "../../queries/account.ts";
import type { DataOf } from "../../query.ts";
import { useAccount, useMay } from "../../session.ts";
import { useAction } from "../../use-action.ts";

type Details = DataOf<typeof billingDetailsQuery>;

/** Whom the statements of the account are for: its company, as a finance department wants to read it. */
export function BillingDetails({ account }: { readonly account: string }) {
  const query = useQuery(billingDetailsQuery(account));
  return (
    <Panel title="Whom statements are for" note="Shown on the statements of all months, also of past ones.">
      <Loaded query={query}>
        {(details) => <DetailsForm key={JSON.stringify(details)} account={account} details={details} />}
      </Loaded>
    </Panel>
  );
}

function DetailsForm({ account, details }: { readonly account: string; readonly details: Details }) {
  const { name } = useAccount();
  const mayWrite = useMay("account.write");
  const save = useAction({
    act: (edit: Details) => call(() => api.accounts({ account })["billing-details"].put(edit)),
    renews: [billingDetailsQuery(account).queryKey, ["account", account, "wallet", "statements"]],
    done: "Statements updated",
    isForm: true,
  });
  const field = { disabled: !mayWrite, isOptional: true };
  return (
    <div className={styles.narrow}>
      <Form error={save.error} onSubmit={(event) => save.mutate(readDetails(readForm(event)))}>
        <Field
          label="Company"
          name="name"
          placeholder={name}
          defaultValue={details.name ?? ""}
          maxLength={200}
          {...field}
        />
        <TextArea
          label="Address"
          name="address"
          rows={3}
          defaultValue={details.address ?? ""}
          maxLength={500}
          {...field}
        />
        <Field
          label="Tax id"
          name="tax_id"
          hint="Such as a VAT number."
          defaultValue={details.tax_id ?? ""}
          maxLength={200}
          {...field}
        />
        <Failure error={save.error} />
        {mayWrite ? (
          <Button type="submit" className={styles.start} isBusy={save.isPending}>
            Update statements
          </Button>
        ) : (
          <p className={styles.soft}>Owners may change these.</p>
        )}
      </Form>
    </div>
  );
}

/** A form sends lines with carriage returns, which no stored text has. */
function readDetails({ name = "", address = "", tax_id = "" }: Readonly<Record<string, string>>): Details {
  const text = (typed: string) => typed.replaceAll("\r\n", "\n").trim() || null;
  return { name: text(name), address: text(address), tax_id: text(tax_id) };
}
