import { Empty } from "../../parts/empty.tsx";
import { PageHeader } from "../../parts/page-header.tsx";

export function OperatorAuditPage() {
  return (
    <>
      <PageHeader title="Audit" />
      <Empty title="Nothing here yet" />
    </>
  );
}
