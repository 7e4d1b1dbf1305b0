import { useQuery } from "@tanstack/react-query";
import { ApiError } from "../../api.ts";
import { ButtonLink } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { refusalQuery } from "../refusal/queries.ts";

interface MissingReceiptProps {
  readonly account: string;
  readonly request: string;
  readonly error: unknown;
  readonly onRetry: () => void;
}

/** Stands for a receipt that was not read. A refused request took no hold: it has a reason instead. */
export function MissingReceipt({ account, request, error, onRetry }: MissingReceiptProps) {
  const isUnknown = error instanceof ApiError && error.status === 404;
  const { data, isPending } = useQuery({ ...refusalQuery(account, request), enabled: isUnknown });
  if (!isUnknown) return <ErrorPanel error={error} onRetry={onRetry} />;
  if (isPending) return <Skeleton shape="block" />;
  return (
    <Panel>
      {data ? (
        <Empty
          icon="refusal"
          title="This request was refused, and cost nothing"
          actions={
            <ButtonLink
              look="primary"
              to="/accounts/$account/refusals/$request"
              params={{ account, request }}
              replace
            >
              See why
            </ButtonLink>
          }
        >
          {data.text}
        </Empty>
      ) : (
        <Empty
          icon="search"
          title="No receipt of this account has this id"
          actions={
            <ButtonLink to="/accounts/$account/requests" params={{ account }}>
              All requests
            </ButtonLink>
          }
        >
          The id may be mistyped, or of another account. The receipt of an old request may no longer be kept:
          its cost stays in the wallet and in usage. A request that was refused more than 7 days ago is not
          kept either.
        </Empty>
      )}
    </Panel>
  );
}
