import { api, call } from "../../api.ts";
import { readForm } from "../../form-values.ts";
import { formatCents, readUsd } from "../../format.ts";
import { useIdempotencyKey } from "../../idempotency-key.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog, DialogActions } from "../../parts/dialog.tsx";
import { Failure, Field, FieldRow, Form } from "../../parts/field.tsx";
import { SecretDialog } from "../../parts/secret-dialog.tsx";
import { useAction } from "../../use-action.ts";

export const CODES_KEY = ["operator", "codes"];

const COUNT_MAX = 100;

interface NewCode {
  readonly code: string;
  readonly amount_usd: string;
}

/** Creates up to 100 codes of one amount, then shows them once. */
export function NewCodes({ onClose }: { readonly onClose: () => void }) {
  const headersFor = useIdempotencyKey();
  const create = useAction({
    act: (values: Readonly<Record<string, string>>) => {
      const body = readCodes(values);
      return call(() => api.operator.codes.post(body, { headers: headersFor(body) }));
    },
    renews: [CODES_KEY],
    isForm: true,
  });
  if (create.data) return <Created codes={create.data.codes} onClose={onClose} />;
  return (
    <Dialog title="Create redeem codes" isOpen isKept onClose={onClose}>
      <Form onSubmit={(event) => create.mutate(readForm(event))}>
        <FieldRow>
          <Field
            label="Amount in USD of each"
            name="amount"
            affix="$"
            inputMode="decimal"
            required
            autoFocus
          />
          <Field
            label="Number of codes"
            name="count"
            type="number"
            min={1}
            max={COUNT_MAX}
            defaultValue={1}
            hint="1 to 100."
            required
          />
        </FieldRow>
        <Field label="Note" name="note" hint="For operators only." maxLength={200} isOptional />
        <Field label="Last day" name="last" type="date" hint="Empty: never expires." isOptional />
        <Failure error={create.error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" isBusy={create.isPending}>
            Create
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}

function Created({ codes, onClose }: { readonly codes: readonly NewCode[]; readonly onClose: () => void }) {
  const each = formatCents(readUsd(codes[0]?.amount_usd ?? "0"));
  return (
    <SecretDialog
      title={codes.length === 1 ? `A code of ${each}` : `${codes.length} codes of ${each} each`}
      note="This is the only time that they are shown: only their digests are stored."
      label="codes"
      secret={codes.map(({ code }) => code).join("\n")}
      onClose={onClose}
    />
  );
}

/** A code works to the end of its last day in the viewer's zone. */
function readCodes({ amount = "", count = "1", note = "", last = "" }: Readonly<Record<string, string>>) {
  return {
    amount_usd: amount.trim(),
    count: Number(count),
    ...(note && { note }),
    ...(last && { expires_at: new Date(`${last}T23:59:59`).toISOString() }),
  };
}
