import { Empty } from "../../parts/empty.tsx";
import { PageHeader } from "../../parts/page-header.tsx";

export function UsagePage() {
  return (
    <>
      <PageHeader title="Usage" />
      <Empty title="Nothing here yet" />
    </>
  );
}
