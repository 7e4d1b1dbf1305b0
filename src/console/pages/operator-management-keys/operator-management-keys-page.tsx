import { Empty } from "../../parts/empty.tsx";
import { PageHeader } from "../../parts/page-header.tsx";

export function OperatorManagementKeysPage() {
  return (
    <>
      <PageHeader title="Management keys" />
      <Empty title="Nothing here yet" />
    </>
  );
}
