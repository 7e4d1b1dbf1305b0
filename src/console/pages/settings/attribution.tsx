import { useQuery } from "@tanstack/react-query";
import { api, call } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { Choice, Failure, Form, readForm, TextArea } from "../../parts/field.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import { Panel } from "../../parts/panel.tsx";
import styles from "../../parts/stack.module.css";
import { attributionQuery } from "../../queries/account.ts";
import type { DataOf } from "../../query.ts";
import { useMay } from "../../session.ts";
import { useAction } from "../../use-action.ts";

type Settings = DataOf<typeof attributionQuery>;

const END_USERS = [
  { value: "plain", text: "as they were sent" },
  { value: "hashed", text: "by a hash of what was sent" },
  { value: "off", text: "not at all" },
] as const;

/** How receipts name end users, and which tags requests may have. */
export function Attribution({ account }: { readonly account: string }) {
  const query = useQuery(attributionQuery(account));
  return (
    <Panel
      title="Whom requests are for"
      note="Receipts made before a change stay as they are. Gateways follow within a second."
    >
      <Loaded query={query}>
        {(settings) => (
          <AttributionForm key={JSON.stringify(settings)} account={account} settings={settings} />
        )}
      </Loaded>
    </Panel>
  );
}

function AttributionForm({ account, settings }: { readonly account: string; readonly settings: Settings }) {
  const mayWrite = useMay("account.write");
  const save = useAction({
    act: (edit: Settings) => call(() => api.accounts({ account }).attribution.patch(edit)),
    renews: [attributionQuery(account).queryKey],
    done: "Settings saved",
    isForm: true,
  });
  return (
    <div className={styles.narrow}>
      <Form
        error={save.error}
        onSubmit={(event) => {
          const { end_users = "", tag_keys = "" } = readForm(event);
          save.mutate({ end_users: readNames(end_users), tag_keys: readTagKeys(tag_keys) });
        }}
      >
        <Choice
          label="End users are named"
          name="end_users"
          hint="A hash tells users apart without their names. Not at all: no limit of each end user binds."
          defaultValue={settings.end_users}
          options={END_USERS}
          disabled={!mayWrite}
        />
        <TextArea
          label="Keys of tags"
          name="tag_keys"
          rows={3}
          hint="Such as feature, team. Others are refused in x-tollgate-tags. At most 20, of small letters, digits and _ . -"
          refusal="A key begins with a small letter and has at most 32 of: a to z, 0 to 9, _ . -"
          defaultValue={settings.tag_keys.join(", ")}
          disabled={!mayWrite}
          isOptional
        />
        <Failure error={save.error} />
        {mayWrite ? (
          <Button type="submit" className={styles.start} isBusy={save.isPending}>
            Apply
          </Button>
        ) : (
          <p className={styles.soft}>Owners may change these.</p>
        )}
      </Form>
    </div>
  );
}

function readNames(text: string): Settings["end_users"] {
  return END_USERS.find(({ value }) => value === text)?.value ?? "plain";
}

/** Keys are typed with commas, spaces or lines between them. */
function readTagKeys(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}
